"""`python -m benchmarks.feedback`: learning from clicks, measured.

It writes results.json beside this file, and the results page. Most of the time goes to the check of off-policy
estimates (`--logs`).
"""

from __future__ import annotations

import argparse
import json
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks import results_page
from benchmarks.feedback.costs import times
from benchmarks.feedback.drift import compare_half_lives
from benchmarks.feedback.movies import REWARDS, replay
from benchmarks.feedback.news import failures, regret
from benchmarks.feedback.objectives import compare_objectives
from benchmarks.feedback.off_policy import estimates
from benchmarks.feedback.open_bandit import real_log
from benchmarks.feedback.plans import compare_plans
from benchmarks.feedback.rare import rare_events
from benchmarks.feedback.section import rare_section
from benchmarks.feedback.settings import LOGS
from benchmarks.feedback.size import large_log
from benchmarks.feedback.trees import compare_learners
from listwright.datasets import fetch

FILE = Path(__file__).with_name("results.json")
PAGE_TABLE = Path(__file__).parents[2] / "docs" / "snippets" / "rare_events.md"  # see docs/run_snippets.py
SEEDS = 3


def main() -> None:
    """Runs every part, or those named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.feedback")
    parser.add_argument("parts", nargs="*", help="some of the parts; all by default")
    parser.add_argument("--logs", type=int, default=LOGS, help="logs per setting of the check of estimates")
    parser.add_argument("--resume", action="store_true", help="keep the cells of rare events that are in results.json")
    parser.add_argument("--workers", type=int, default=2, help="processes for rare events and estimates")
    options = parser.parse_args()
    parts: dict[str, Any] = {
        "costs": times,
        "failures": lambda: [failures(seed) for seed in range(SEEDS)],
        "regret": lambda: regret(0),
        "movies": lambda: {reward: replay("movietweetings100k", reward) for reward in REWARDS},
        "drift": compare_half_lives,
        "trees": compare_learners,
        "objectives": compare_objectives,
        "size": large_log,
        "plans": compare_plans,
        "open bandit": lambda: real_log(fetch("open_bandit")),
        "rare events": lambda: rare_events(
            lambda figures: write("rare events", figures),
            read().get("rare events", []) if options.resume else [],
            workers=options.workers,
        ),
        "estimates": lambda: estimates(
            logs=options.logs, workers=options.workers, keep=lambda figures: write("estimates", figures)
        ),
    }
    for name in options.parts or parts:
        write(name, parts[name]())
    if "rare events" in read():
        PAGE_TABLE.write_text(rare_section(read()["rare events"]) + "\n", encoding="utf8")
    results_page.main()


def read() -> dict[str, Any]:
    """The figures so far."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def write(name: str, figures: Any) -> None:
    """Puts the figures of one part into the file, with their day, beside those of the others."""
    known = read()
    days = known.get("days", {}) | {name: date.today().isoformat()}
    FILE.write_text(json.dumps(known | {"days": days, name: figures}, indent=1) + "\n")
    print(name, "done", flush=True)


if __name__ == "__main__":
    main()
