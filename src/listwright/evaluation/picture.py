"""Draws the means of a comparison as a chart."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright.errors import MissingExtra
from listwright.evaluation.intervals import none_if_nan
from listwright.evaluation.table import Table


def curves(table: Table, methods: tuple[str, ...], limit: str, y: str) -> Any:
    """Returns an altair chart with one line per method and 95 % intervals.

    The x axis is the training size if there are several and only one length; else it is the length, with one chart per
    training size.
    """
    alt = altair()
    sizes, limits = np.unique(table["train_size"]), np.unique(table[limit])
    x = "train_size" if len(sizes) > 1 and len(limits) == 1 else limit
    records = [_point(record, y) for record in table.records()]
    base = alt.Chart(alt.Data(values=records)).encode(
        x=alt.X(f"{x}:Q", title=x.replace("_", " "), axis=alt.Axis(values=np.unique(table[x]).tolist())),
        color=alt.Color("method:N", sort=list(methods)),
    )
    bars = base.mark_errorbar().encode(y=alt.Y("low:Q", title=f"mean {y}", scale=alt.Scale(zero=False)), y2="high:Q")
    lines = base.mark_line(point=True).encode(y="mean:Q", tooltip=["method:N", f"{x}:Q", "mean:Q", "low:Q", "high:Q"])
    chart = alt.layer(bars, lines)
    if x == limit and len(sizes) > 1:
        return chart.facet(column=alt.Column("train_size:O", title="train size"))
    return chart


def _point(record: dict[str, Any], y: str) -> dict[str, Any]:
    """Returns a row of the table with the interval of what is drawn, which for failures is that of the value
    turned round.
    """
    low, high = none_if_nan(record["low"]), none_if_nan(record["high"])
    if y == "failure":
        low, high = (None if end is None else 1.0 - end for end in (high, low))
    return record | {"mean": record[y], "low": low, "high": high, "standard_error": None}


def altair() -> Any:
    """Returns the altair package, or raises `MissingExtra` with the command that installs it."""
    try:
        import altair as alt
    except ImportError:
        raise MissingExtra("The picture needs altair.", extra="plots") from None
    return alt
