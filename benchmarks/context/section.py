"""The results as tables in Markdown."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from benchmarks.context.scores import BINS

LENGTHS = "2 / 3 / 5"
STARTS = {
    "HotpotQA": "As the shipped model learned from HotpotQA, the packer starts here from one that learned in the same "
    "way from 200 questions of 2WikiMultihopQA.",
    "2WikiMultihopQA": "The packer starts from the shipped model, which learned from HotpotQA; its calibration "
    "and where `stop` stops (0.07) were chosen on 300 questions of 2WikiMultihopQA, some of these among them; the "
    "default `score_weight` of 2.5 was compared on HotpotQA, made-up questions and 2WikiMultihopQA side by side; one "
    "way to raise the weights that `pack_many` estimates was dropped for what it did on 2WikiMultihopQA; all else was "
    "chosen on HotpotQA and made-up questions.",
}


def written(results: dict[str, Any]) -> str:
    """What the pages include."""
    parts = [
        _table(
            results.get("hotpotqa", {}),
            "HotpotQA, 200 questions of ten passages, two of which support the answer; five folds. Settings were "
            "chosen by the same cross-validation.",
        ),
        _table(
            results.get("made-up", {}),
            "300 made-up questions of two to four steps, 25 passages each (`simulate.questions`), from which no model "
            "has learned and on which nothing was chosen but the default weight of scores. They come without scores; "
            "the last row takes those of BM25.",
        ),
    ]
    behind = results.get("scores", {})
    parts += [_strengths(name, table, behind) for name, table in behind.get("tables", {}).items()]
    parts.append(_stops(behind.get("stops", {})))
    parts.append(_calibration(behind.get("calibration", {})))
    if "speed" in results:
        times = "; ".join(f"{case} tokens: {ms:g} ms" for case, ms in results["speed"].items())
        parts.append(f"Processor time of `pack`, warm, on one thread (passages x tokens): {times}.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _strengths(name: str, table: dict[str, dict[str, Any]], behind: dict[str, Any]) -> str:
    """One data set behind scores of several strengths: a row per method, a column per strength."""
    strengths = max((list(row) for row in table.values()), key=len)
    rows = [
        f"| {method} | "
        + " | ".join(_shares(row[strength]) if strength in row else "" for strength in strengths)
        + " |"
        for method, row in table.items()
    ]
    about = (
        f"{name}, {behind['questions']} questions of 20 passages (their own, and the most similar ones of others), "
        f"{behind['folds']} folds. Scores are 1 (weak), 2 (medium) or 4 (strong) times the label plus noise of "
        f"variance 1; the table has the share of questions with all support in the first {LENGTHS}. {STARTS[name]} "
        "The standard error of a share of 0.85 is 0.025, and of one of 0.99 0.007."
    )
    return "\n".join([about, "", f"| | {' | '.join(strengths)} |", "| --- |" + " --- |" * len(strengths), *rows])


def _stops(rows: dict[str, dict[str, list[float]]]) -> str:
    """What `stop="auto"` saves against five passages for every question: a row per data set, packer and strength."""
    if not rows:
        return ""
    about = (
        "Recall of the supporting passages, and tokens per question, with five passages for every question and with up "
        'to five and `stop="auto"`, on the same questions.'
    )
    lines = [
        f"| {name} | {five[0]:.3f}, {five[1]:.0f} tokens | {stop[0]:.3f}, {stop[1]:.0f} tokens | "
        f"{100 * (1 - stop[1] / five[1]):.0f} % |"
        for name, (five, stop) in ((name, row.values()) for name, row in sorted(rows.items()))
    ]
    return "\n".join([about, "", '| | five passages | `stop="auto"` | saved |', "| --- | --- | --- | --- |", *lines])


def _calibration(rows: dict[str, list[list[float]]]) -> str:
    """How many of the picks of a probability are needed: a row per data set, packer and strength."""
    if not rows:
        return ""
    about = (
        "Probabilities of the five passages that are picked: by range their mean, the share of the passages that is "
        "needed, and their number."
    )
    ranges = [f"{low:g} to {high:g}" for low, high in pairwise(BINS)]
    lines = [
        f"| {name} | " + " | ".join(f"{mean:.2f}: {share:.2f} ({n})" if n else "" for mean, share, n in bins) + " |"
        for name, bins in sorted(rows.items())
    ]
    return "\n".join([about, "", f"| | {' | '.join(ranges)} |", "| --- |" + " --- |" * len(ranges), *lines])


def _shares(shares: list[float]) -> str:
    return " / ".join(f"{share:.2f}" for share in shares)


def _table(methods: dict[str, dict[str, Any]], about: str) -> str:
    if not methods:
        return ""
    rows = [
        f"| {_name(name, record)} | {' / '.join(f'{share:.3f}' for share in record['shares'])} |"
        for name, record in methods.items()
    ]
    return "\n".join([about, "", f"| all support in the first | {LENGTHS} |", "| --- | --- |", *rows])


def _name(name: str, record: dict[str, Any]) -> str:
    draws = record.get("seeds", 1)
    return name if draws == 1 else f"{name} (mean of {draws} draws of the folds)"
