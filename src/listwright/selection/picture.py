"""Charts of a selection, drawn with altair (the extra `plots`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.extras import require_extra

SHOWN = 4000  # rows that are not picked
MEASURED = 20_000  # rows that the components are computed from


def altair() -> Any:
    """Return the altair module; raises `MissingExtra` if it is not installed."""
    return require_extra("altair", "Pictures need altair.", extra="plots")


def draw_rows(table: Any, rows: Ints) -> Any:
    """Return a scatter plot of picked and other rows on the first two principal components."""
    alt, rng = altair(), np.random.default_rng(0)
    n = int(table.shape[0])
    sample = np.sort(rng.choice(n, min(MEASURED, n), replace=False))
    block = _dense(table, sample)
    centre = block.mean(axis=0)
    _, directions = np.linalg.eigh(np.cov(block - centre, rowvar=False).reshape(block.shape[1], -1))
    others = np.setdiff1d(sample, rows)
    others = np.sort(rng.choice(others, min(SHOWN, len(others)), replace=False))
    shown = np.concatenate([others, rows])
    points = (_dense(table, shown) - centre) @ directions[:, ::-1][:, :2]
    kinds = ["other"] * len(others) + ["picked"] * len(rows)
    values = [
        {"x": float(point[0]), "y": float(point[-1]), "row": int(row), "rows": kind}
        for row, point, kind in zip(shown, points, kinds, strict=True)
    ]
    colour = alt.Scale(domain=["other", "picked"], range=["#b9c0c9", "#d4465c"])
    size = alt.Scale(domain=["other", "picked"], range=[10, 34])
    return (
        alt.Chart(alt.Data(values=values))
        .mark_circle(opacity=0.75)
        .encode(
            x=alt.X("x:Q", title="first principal component"),
            y=alt.Y("y:Q", title="second principal component"),
            color=alt.Color("rows:N", scale=colour, legend=alt.Legend(title=None, orient="top", symbolType="circle")),
            size=alt.Size("rows:N", scale=size, legend=None),
            tooltip=["row:Q", "rows:N"],
        )
        .properties(width="container", height=340)
    )


def draw_values(values: Floats, knee: int) -> Any:
    """Return a line chart of the value after each pick, with the knee marked."""
    alt = altair()
    curve = [{"picks": i + 1, "value": float(value)} for i, value in enumerate(values)]
    marked = [{"picks": knee, "value": curve[knee - 1]["value"], "text": f"knee: {knee:,} rows"}]
    line = (
        alt.Chart(alt.Data(values=curve))
        .mark_line(strokeWidth=2.2)
        .encode(x=alt.X("picks:Q", title="rows picked"), y=alt.Y("value:Q", title="value", scale=alt.Scale(zero=False)))
    )
    mark = alt.Chart(alt.Data(values=marked)).encode(x="picks:Q", y="value:Q")
    point = mark.mark_circle(size=70, color="#d4465c")
    text = mark.mark_text(align="left", dx=8, dy=14).encode(text="text:N")
    return alt.layer(line, point, text).properties(width="container", height=340)


def _dense(table: Any, rows: Ints) -> Floats:
    """Return some rows in float64."""
    some = table[rows]
    return np.asarray(some.toarray() if hasattr(some, "toarray") else some, dtype=np.float64)
