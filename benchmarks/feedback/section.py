"""The figures of results.json as a section of the results page."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np

NAMES = {
    "slate_ips": "slate IPS",
    "self_normalised": "self-normalised slate IPS",
    "per_position_ips": "per-position IPS",
    "cascade_dr": "cascade doubly robust",
}
NOTE = (
    "What was looked at before: the scale of inverse gap weighting (10) was chosen among 3, 10, 30 and 100 on two "
    "other populations of readers. The regret was run twice on its population; the first time, against SCP with full "
    "information of 5,000 visits only, the slope was 0.18. Movies were tried with lists of 1, 3 and 5 (OnlineSCP was "
    "ahead of both static lists each time); 3 is shown."
)
TRIED = (
    "The setting is the last of six that were tried with 60 to 200 logs each, in the same population, and plain "
    "percentiles gave way to corrected ones (BCa) after that. Coverage depends on the setting: with pools of 10 "
    "articles, logs of 1,000 lists and an effective sample size of 11 to 18, plain percentiles of per-position IPS "
    "held the truth in 83 to 87 % of 60 logs, and those of cascade doubly robust in 93 to 95 %. `evaluate` warns below "
    "an effective size of 50."
)


def section(results: dict[str, Any]) -> str:
    """Markdown, from the second-level heading on."""
    parts = [
        "## Learning from clicks",
        "```sh\npython -m benchmarks.feedback --data ../shared/data\n```",
        NOTE,
        _failures(results["failures"]),
        _regret(results["regret"]),
        *([_movies(results["movies"])] if results.get("movies") else []),
        _estimates(results["estimates"]),
        _costs(results["costs"]),
    ]
    paragraphs = "\n\n".join(parts).split("\n\n")
    return "\n\n".join(one if one[0] in "`|#" else fill(one, 120) for one in paragraphs) + "\n"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _failures(runs: list[dict[str, dict[str, float]]]) -> str:
    def mean(name: str, kind: str) -> str:
        return f"{100 * np.mean([run[name][kind] for run in runs]):.1f}" if kind in runs[0][name] else ""

    rows = [[name, mean(name, "tested"), mean(name, "played")] for name in runs[0]]
    return (
        "Simulated news readers, lists of five, after 2,000 visits of which only the first click is seen: how often "
        "there is no click, in per cent. *Tested*: on new visits, without exploration. *Played*: on the last quarter "
        f"of the visits, with it. Means over {len(runs)} populations. SCP has full information of the same visits.\n\n"
        + _table(["", "tested", "played"], rows)
    )


def _regret(found: dict[str, Any]) -> str:
    rows = [
        [f"{visits:,}", f"{total:.0f}", f"{each:.4f}"]
        for visits, total, each in zip(found["visits"], found["regret"], found["regret per visit"], strict=True)
    ]
    return (
        "Regret of OnlineSCP (inverse gap weighting) as played, against SCP with full information of all 20,000 "
        f"visits. On log-log axes it grows with slope {found['slope from a tenth on']:.2f} from visit 2,000 on "
        f"({', '.join(f'{slope:.2f}' for slope in found['slope of the last three doublings'])} over the last three "
        "doublings).\n\n" + _table(["visits", "regret so far", "a visit"], rows)
    )


def _movies(found: dict[str, dict[str, float]]) -> str:
    names = list(found["liked"])
    rows = [[name, f"{found['liked'][name]:.3f}", f"{found['genres'][name]:.3f}"] for name in names]
    return (
        "MovieTweetings, lists of three of the movies that a user rated later, users in time order; liked means 8 "
        "stars or more. Mean value over the later half of the users: whether any movie is liked, and the share of the "
        "genres of liked movies that the list covers. OnlineSCP learns from what it shows; SCP and the static list of "
        "earlier users from everything about the earlier half; the list in hindsight knows the users that it "
        "is tested on.\n\n" + _table(["", "any liked", "genres covered"], rows)
    )


def _estimates(found: dict[str, Any]) -> str:
    rows = [
        [label, f"{found[name]['mean error']:.4f}", f"{found[name]['bias']:+.4f}", f"{found[name]['coverage']:.1%}"]
        for name, label in NAMES.items()
    ]
    return (
        f"Off-policy estimates on {found['logs']} simulated logs of {found['lists a log']:,} lists of three (mean "
        f"effective sample size {found['effective size']:.0f}), for a policy that is worth {found['true value']:.3f} "
        "in truth: mean error, bias, and how often the 95 % interval holds the truth.\n\n"
        + _table(["", "mean error", "bias", "coverage"], rows)
        + f"\n\n{TRIED}"
    )


def _costs(found: dict[str, float]) -> str:
    return (
        f"One list of five from 100 candidates of 32 features takes {found['recommend, ms']:.2f} ms to recommend and "
        f"{found['feedback, ms']:.2f} ms to learn from (medians on a 2-core machine)."
    )
