"""`python -m benchmarks.quality run [--data DIR] [--only TEXT] [--workers N]`: what lists are worth, against rivals."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from benchmarks.quality import arguments, aslib, motion, page, questions, trajectory
from benchmarks.quality.jobs import results, run_all
from benchmarks.quality.summary import differences, means

RESULTS = Path(__file__).parent / "results.json"
SETS = (trajectory, motion, questions, arguments, aslib)


def main() -> None:
    """Runs what has no result yet, then writes results.json and the page."""
    options = _options()
    jobs = [job for room in SETS for job in room.jobs(options.data)]
    run_all([job for job in jobs if options.only in job.key], workers=options.workers)
    values = results(jobs)
    found = {"means": means(values), "differences": differences(values)}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    page.write(values)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("command", choices=["run"])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where the data sets are")
    parser.add_argument("--only", default="", help="run only jobs whose key has this text")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
