"""The section of docs/results.md that a report writes, and its charts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.quality.chart import draw
from benchmarks.quality.methods import AUTO, BEST
from benchmarks.quality.protocol import looks
from benchmarks.quality.summary import behind, by_length, cells, one_figure

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "results.md"
BEGIN, END = "<!-- quality: begin -->", "<!-- quality: end -->"
KINDS = {
    "solvers": "share of instances that some solver of the list solves",
    "robot arm": "share of environments in which some seed of the list succeeds",
    "motion paths": "share of problems with a path free of collision in the list",
    "questions": "share of questions with all supporting paragraphs in the list",
    "key points": "share of key points that the list covers",
    "search results": "alpha-nDCG over all judged documents",
}
FAILURES = ("solvers", "robot arm", "motion paths")  # where what is left to 1 is how often lists fail
OBVIOUS = ("best column", "MMR", "ridge top-k", "extra-trees top-k", "boosting top-k", "static")


def write(values: pd.DataFrame) -> None:
    """Puts the tables between the section's marks, and leaves the rest of the page as it is."""
    parts = [BEGIN, _looked()]
    for family in [name for name in KINDS if (values["family"] == name).any()]:
        parts += _family(family, values[values["family"] == family])
    section = "\n\n".join([*parts, END])
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: section, text, flags=re.DOTALL), encoding="utf-8")


def _looked() -> str:
    found = looks()
    lines = [f"{i}. {look['day']}, code {look['code']}: {look['why']} ({', '.join(look['families'])})"
             for i, look in enumerate(found, start=1)]  # fmt: skip
    return f"Number of evaluations on these data under this protocol: {len(found)}.\n\n" + "\n".join(lines)


def _family(family: str, values: pd.DataFrame) -> list[str]:
    picture = draw(family, by_length(values, BEST), KINDS[family], DOCS / "images")
    n = values.groupby("set")["problem"].nunique()
    return [
        f"### {family[0].upper()}{family[1:]}",
        f"{KINDS[family][0].upper()}{KINDS[family][1:]}. {_count(len(n), 'set')}, {n.sum()} problems, "
        f"{_count(values['seed'].nunique(), 'seed')}. In brackets: how far the method at the head of the column is "
        "ahead on the same problems, with its 95 % interval.",
        _figures(values, failures=family in FAILURES),
        *([_sizes(values)] if family in FAILURES and values["train"].nunique() > 1 else []),
        f"By length, pooled over sets:\n\n{_lengths(values)}",
        f"![{family} by length](images/{picture.name})",
        _lost(values),
    ]


def _figures(values: pd.DataFrame, *, failures: bool) -> str:
    best, auto = one_figure(values, BEST), one_figure(values, AUTO)
    rows = [[name, f"{row['mean']:.4f}", _gap(row), _gap(auto.loc[name])] for name, row in best.iterrows()]
    head = ["method", "mean", f"{BEST} ahead by", f"{AUTO} ahead by"]
    if failures:
        left = 1.0 - best["mean"]
        rows = [[*row, f"{left[row[0]] / left[BEST]:.2f}"] for row in rows]
        head = [*head, f"failures, {BEST} = 1"]
    return table(head, rows)


def _sizes(values: pd.DataFrame) -> str:
    """How often lists fail after training on few and on many problems, as multiples of the failures of ours."""
    left = {size: 1.0 - one_figure(part, BEST)["mean"] for size, part in values.groupby("train", sort=False)}
    names = one_figure(values, BEST).index
    rows = [[name, *(f"{found[name] / found[BEST]:.2f}" for found in left.values())] for name in names]
    return f"Failures by training size, {BEST} = 1:\n\n{table(['method', *left], rows)}"


def _lengths(values: pd.DataFrame) -> str:
    found = by_length(values, BEST)
    wide = found.pivot_table(index="method", columns="at", values="mean", sort=False)
    wide = wide.loc[wide.mean(axis=1).sort_values(ascending=False).index]
    return table(["method", *wide.columns], [[name, *(f"{x:.3f}" for x in row)] for name, row in wide.iterrows()])


def _lost(values: pd.DataFrame) -> str:
    """Where the promises are not kept."""
    rivals = [name for name in values["method"].unique() if name not in ("oracle", BEST)]
    pooled = behind(by_length(values, BEST), rivals)
    surely = behind(by_length(values, AUTO), [name for name in OBVIOUS if name in rivals], surely=True)
    everywhere = behind(cells(values, AUTO), [name for name in OBVIOUS if name in rivals], surely=True)
    parts = [
        _told(f"Lengths at which the mean of a rival is above that of {BEST}", pooled, ["at", "method"]),
        _told(
            f"Lengths at which {AUTO} is behind an obvious rival by more than the interval", surely, ["at", "method"]
        ),
        _told(f"The same by set and training size, {AUTO}", everywhere, ["set", "train", "at", "method"]),
    ]
    return "\n".join(f"- {part}" for part in parts)


def _told(what: str, lost: pd.DataFrame, keys: list[str]) -> str:
    if not len(lost):
        return f"{what}: none."
    found = [f"{', '.join(str(row[key]) for key in keys)} {_gap(row)}" for _, row in lost.iterrows()]
    return f"{what}: {'; '.join(found)}."


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _gap(row: pd.Series) -> str:
    return "" if row.ahead == row.low == 0 else f"({row.ahead:+.4f}: {row.low:+.4f} to {row.high:+.4f})"


def table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
