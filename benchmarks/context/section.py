"""The results as tables in Markdown."""

from __future__ import annotations

from typing import Any

LENGTHS = "2 / 3 / 5"


def written(found: dict[str, Any]) -> str:
    """What the pages include."""
    parts = [
        _table(
            found.get("hotpotqa", {}),
            "HotpotQA, 200 questions of ten passages, two of which support the answer; five folds. Settings were "
            "chosen by the same cross-validation.",
        ),
        _table(
            found.get("made-up", {}),
            "300 made-up questions of two to four steps, 25 passages each (`simulate.questions`), from which no model "
            "has learned and on which nothing was chosen.",
        ),
    ]
    if "speed" in found:
        times = "; ".join(f"{case} tokens: {ms:g} ms" for case, ms in found["speed"].items())
        parts.append(f"Processor time of `pack`, warm, on one thread (passages x tokens): {times}.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(found: dict[str, dict[str, Any]], about: str) -> str:
    if not found:
        return ""
    rows = [
        f"| {_name(name, one)} | {' / '.join(f'{share:.3f}' for share in one['shares'])} |"
        for name, one in found.items()
    ]
    return "\n".join([about, "", f"| all support in the first | {LENGTHS} |", "| --- | --- |", *rows])


def _name(name: str, one: dict[str, Any]) -> str:
    draws = one.get("seeds", 1)
    return name if draws == 1 else f"{name} (mean of {draws} draws of the folds)"
