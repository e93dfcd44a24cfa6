"""Draws the means of a comparison as a chart."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.extras import require_extra
from listwright.evaluation.intervals import none_if_nan
from listwright.evaluation.table import Table


def curves(table: Table, methods: tuple[str, ...], limit: str, y: str) -> Any:
    """Return an altair chart with one line per method and 95 % intervals."""
    alt = altair()
    sizes, limits = np.unique(table["train_size"]), np.unique(table[limit])
    records = [record | {end: none_if_nan(record[end]) for end in ("low", "high")} for record in table.records()]
    base = alt.Chart(alt.Data(values=records))
    if len(sizes) == len(limits) == 1:
        return _points(base, methods, f"mean {y}, {limit} {limits[0]:g}")
    x = "train_size" if len(sizes) > 1 and len(limits) == 1 else limit
    base = base.encode(
        x=alt.X(f"{x}:Q", title=x.replace("_", " "), axis=alt.Axis(values=np.unique(table[x]).tolist())),
        color=alt.Color("method:N", sort=list(methods)),
    )
    bars = base.mark_errorbar().encode(y=alt.Y("low:Q", title=f"mean {y}", scale=alt.Scale(zero=False)), y2="high:Q")
    lines = base.mark_line(point=True).encode(y="mean:Q", tooltip=["method:N", f"{x}:Q", "mean:Q", "low:Q", "high:Q"])
    chart = alt.layer(bars, lines)
    if x == limit and len(sizes) > 1:
        return chart.facet(column=alt.Column("train_size:O", title="train size"))
    return chart


def _points(base: Any, methods: tuple[str, ...], title: str) -> Any:
    """Return a row per method: its mean, and its interval as a line."""
    alt = altair()
    base = base.encode(
        y=alt.Y("method:N", sort=list(methods), title=None),
        color=alt.Color("method:N", sort=list(methods), legend=None),
    )
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title, scale=alt.Scale(zero=False)), x2="high:Q")
    tooltip = ["method:N", "mean:Q", "low:Q", "high:Q"]
    return alt.layer(bars, base.mark_point(filled=True, size=80).encode(x="mean:Q", tooltip=tooltip))


def altair() -> Any:
    """Return the altair package, or raises `MissingExtra` with the command that installs it."""
    return require_extra("altair", "The picture needs altair.", extra="plots")
