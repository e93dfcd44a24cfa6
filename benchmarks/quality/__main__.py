"""What lists are worth, against rivals, under a protocol: see `benchmarks.quality.protocol`.

python -m benchmarks.quality choose                     # on the data that settings are chosen on
python -m benchmarks.quality report --why "..."         # on the other data, once the method is frozen
python -m benchmarks.quality page                       # writes the page again from results.json

Jobs run in as many processes as there are cores (`--workers`). A run that was stopped, or that was given only some
jobs (`--only`), is gone on with by the same command: results.json gets the families that are complete.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path

import pandas as pd

from benchmarks import results_page
from benchmarks.quality import arguments, aslib, motion, questions, trajectory, trec
from benchmarks.quality.jobs import Job, results, run_all
from benchmarks.quality.methods import AUTO
from benchmarks.quality.protocol import fingerprint, note_look
from benchmarks.quality.summary import by_length, family_record, one_figure
from listwright.errors import InputError

FAMILIES = (aslib, trajectory, motion, questions, arguments, trec)
HERE = Path(__file__).parent


def main() -> None:
    """Runs what has no result yet and shows or writes what was found."""
    options = _options()
    if options.command == "page":
        return results_page.main()
    everything = _jobs(options.command, options.seeds)
    jobs = [job for job in everything if re.search(options.only, job.key)]
    if options.command == "report":
        number = note_look(options.why, sorted({job.family for job in jobs}))
        print(f"This is look number {number} at the data to report on.")
    failed = run_all(jobs, workers=options.workers)
    _show(results(jobs)) if options.command == "choose" else _write(everything)
    return sys.exit(f"Failed: {', '.join(failed)}") if failed else None


def _jobs(stage: str, seeds: int) -> list[Job]:
    """Jobs of all families whose data is there or can be downloaded."""
    jobs: list[Job] = []
    for family in FAMILIES:
        try:
            jobs += family.jobs(stage, seeds)
        except InputError as error:
            print(f"{family.FAMILY} is left out: {error}")
    return jobs


def _show(values: pd.DataFrame) -> None:
    """Prints the figures of the choice, and keeps them with the state of the code that they belong to."""
    kept = HERE / "choices.json"
    figures = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    for family, part in values.groupby("family", sort=False):
        print(f"\n{family}: mean, and how far {AUTO} is ahead\n{one_figure(part, AUTO).round(4).to_string()}")
        wide = by_length(part, AUTO).pivot_table(index="method", columns="at", values="mean", sort=False)
        print(wide.round(4).to_string())
        means = one_figure(part, AUTO)["mean"].round(5).to_dict()
        figures.setdefault(str(family), {}).setdefault(fingerprint(), {}).update(means)
    kept.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _write(jobs: list[Job]) -> None:
    """Writes the families of which all jobs are done to results.json, and the page."""
    file = HERE / "results.json"
    records = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    for family in dict.fromkeys(job.family for job in jobs):
        own = [job for job in jobs if job.family == family]
        done = sum(job.file.is_file() for job in own)
        print(f"{family}: {done} of {len(own)} jobs are done")
        if done == len(own):
            records[family] = family_record(family, results(own))
    file.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    results_page.main()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["choose", "report", "page"])
    parser.add_argument("--only", default="", help="regular expression: run only jobs whose name matches, as printed")
    parser.add_argument("--seeds", type=int, default=3, help="repetitions of what is drawn at random")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--why", default="", help="report: what was frozen, in a sentence; it is written down")
    options = parser.parse_args()
    if options.command == "report" and not options.why:
        parser.error("report looks at data that are for reporting only. Say why with --why: it is written down.")
    return options


if __name__ == "__main__":
    main()
