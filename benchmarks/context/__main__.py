"""`python -m benchmarks.context`: passages packed into a context, against what people use today, and the time it takes.

Quality is measured on HotpotQA in five folds, on which settings were chosen too, and on made-up questions that no model
has learned from. Writes results.json beside this file, and the results page.
"""

from __future__ import annotations

import argparse
import json
from datetime import date
from pathlib import Path

from benchmarks import results_page
from benchmarks.context import quality, scores, section, speed

FILE = Path(__file__).with_name("results.json")


def main() -> None:
    """Runs what is asked for, and writes the table from all that is known."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.context", description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="draws of the folds")
    parser.add_argument("--method", default="", help="only methods whose name holds this")
    parser.add_argument("--set", default="", help="behind scores: only data sets whose name holds this")
    parser.add_argument("--strength", default="", help="behind scores: only strengths whose name holds this")
    parser.add_argument(
        "--only", choices=["hotpotqa", "made-up", "scores", "speed", "page"], help="one part; the others stay"
    )
    parser.add_argument("--questions", type=int, default=200, help="of each data set behind scores")
    parser.add_argument("--folds", type=int, default=3, help="of these questions")
    options = parser.parse_args()
    pieces = scores.Pieces(options.set, options.method, options.strength)
    parts = {
        "hotpotqa": lambda: quality.hotpotqa(options.seeds, options.method),
        "made-up": quality.made_up,
        "scores": lambda: scores.measured(options.questions, options.folds, pieces),
        "speed": speed.measured,
    }
    new = {name: part() for name, part in parts.items() if options.only in (None, name)}
    results = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    if "scores" in new:
        new["scores"] = scores.merge_tables(results.get("scores", {}), new["scores"])
    results |= {name: results.get(name, {}) | part for name, part in new.items()} | {"day": date.today().isoformat()}
    FILE.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(section.written(results))
    results_page.main()


if __name__ == "__main__":
    main()
