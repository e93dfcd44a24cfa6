"""The section of docs/results.md that a run writes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.quality.summary import OURS, differences, failure_gaps, failure_ratios, means

PAGE = Path(__file__).parents[2] / "docs" / "results.md"
BEGIN, END = "<!-- quality: begin -->", "<!-- quality: end -->"


def write(values: pd.DataFrame) -> None:
    """Puts the tables between the section's marks, and leaves the rest of the page as it is."""
    text = PAGE.read_text(encoding="utf-8")
    section = "\n\n".join([BEGIN, *_tables(values), END])
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: section, text, flags=re.DOTALL), encoding="utf-8")


def _tables(values: pd.DataFrame) -> list[str]:
    family = values["family"]
    parts = []
    if (family == "aslib").any():
        parts += _solvers(values[family == "aslib"])
    if (family == "trajectory").any():
        parts += _trajectory(values[family == "trajectory"])
    if (family == "motion").any():
        parts += _motion(values[family == "motion"])
    for name, title in (("questions", "Questions"), ("arguments", "Key points")):
        if (family == name).any():
            parts += _coverage(values[family == name], title)
    return parts


def _solvers(values: pd.DataFrame) -> list[str]:
    table = failure_ratios(values)
    for train in ("1.0", "0.15"):
        table[train] = failure_ratios(values[values["train"] == train])["failure"]
    by_set = 1.0 - values.groupby(["method", "set", "train", "at"])["value"].mean()
    by_set = by_set.groupby(["method", "set"]).mean().unstack("set").loc[table.index]
    gaps = failure_gaps(values)
    head = ["method", "mean failure", "ratio to SCP best", "fails more by", "all training instances", "15 % of them"]
    rows = [
        [name, f"{row.failure:.4f}", f"{row.ratio:.2f}", _more(gaps, name), f"{row['1.0']:.4f}", f"{row['0.15']:.4f}"]
        for name, row in table.iterrows()
    ]
    each = [[name, *(f"{x:.3f}" for x in row)] for name, row in by_set.iterrows()]
    return [
        "### Solver portfolios (ASlib)",
        f"{values['set'].nunique()} scenarios, official ten folds; mean over k = 1, 2, 3, 5, 8 and both sizes. In "
        "brackets: 95 % interval over the test instances, each compared with itself.",
        _table(head, rows),
        "By scenario, the same mean:",
        _table(["method", *by_set.columns], each),
    ]


def _more(gaps: pd.DataFrame, method: object) -> str:
    row = gaps.loc[method]
    return "" if method == OURS else f"{row.more:.4f} ({row.low:+.4f} to {row.high:+.4f})"


def _trajectory(values: pd.DataFrame) -> list[str]:
    sizes = sorted(values["train"].unique(), key=int)
    failure = 1.0 - values.groupby(["method", "train", "at"])["value"].mean()
    order = failure.groupby("method").mean().sort_values().index
    cells = [
        [name, *(" / ".join(f"{failure[name, size, at]:.3f}" for at in ("3", "5", "8")) for size in sizes)]
        for name in order
    ]
    return [
        "### Robot arm (the paper's trajectory data)",
        "Failure on the 212 test environments at k = 3 / 5 / 8, mean of 10 seeded subsets of n training environments.",
        _table(["method", *(f"n = {size}" for size in sizes)], cells),
        _behind(values),
    ]


def _motion(values: pd.DataFrame) -> list[str]:
    failure = 1.0 - values.groupby(["method", "at"])["value"].mean().unstack("at")
    failure = failure.loc[failure.mean(axis=1).sort_values().index]
    rows = [[name, *(f"{x:.3f}" for x in row), f"{row.mean():.3f}"] for name, row in failure.iterrows()]
    return [
        "### Motion paths",
        f"Failure pooled over {values['set'].nunique()} planning problems (source split), by list length.",
        _table(["method", *(f"k = {at}" for at in failure.columns), "mean"], rows),
        _behind(values),
    ]


def _coverage(values: pd.DataFrame, title: str) -> list[str]:
    table = pd.DataFrame(means(values))
    ours = "SCP best" if (table["method"] == OURS).any() else "SCP"
    wide = table.pivot_table(index="method", columns="at", values="mean", sort=False)
    wide = wide.loc[wide.mean(axis=1).sort_values(ascending=False).index]
    gaps = pd.DataFrame(differences(values, ours)).set_index(["method", "at"])
    rows = [[name, *(f"{x:.3f}{_gap(gaps, name, at)}" for at, x in row.items())] for name, row in wide.iterrows()]
    return [
        f"### {title}",
        f"In brackets: how far {ours} is ahead on the same problems, with its 95 % interval.",
        _table(["method", *wide.columns], rows),
    ]


def _gap(gaps: pd.DataFrame, method: str, at: str) -> str:
    if (method, at) not in gaps.index:
        return ""
    row = gaps.loc[(method, at)]
    return f" ({row.ahead:+.3f}: {row.low:+.3f} to {row.high:+.3f})"


def _behind(values: pd.DataFrame) -> str:
    """Where a rival's mean is above ours, with the paired interval."""
    gaps = pd.DataFrame(differences(values))
    behind = gaps[gaps["ahead"] < 0]
    if not len(behind):
        return f"{OURS} is at or below every rival everywhere."
    rows = [
        [row["set"], row["train"], row["at"], row["method"], f"{row.ahead:+.4f}", f"{row.low:+.4f} to {row.high:+.4f}"]
        for _, row in behind.sort_values("ahead").iterrows()
    ]
    head = ["set", "train", "k", "rival", "ahead", "95 % interval"]
    return f"Where a rival is ahead of {OURS} ({len(behind)} of {len(gaps)} cells):\n\n{_table(head, rows)}"


def _table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
