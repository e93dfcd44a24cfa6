"""What notebooks show: small tables as HTML, and altair charts of plain records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from listwright._internal.extras import require_extra

Records = Sequence[Mapping[str, Any]]
CELL = "padding: 2px 10px; text-align: left; font-variant-numeric: tabular-nums"
BLUE = "#2f7fd1"
TICKS = 6  # of an axis of values: more of them run into each other
LABEL = 300  # pixels of a name, past which it is cut


def altair() -> Any:
    return require_extra("altair", "The picture needs altair.", extra="plots")


def html_table(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]], *, note: str = "") -> str:
    cells = [_row("th", head), *(_row("td", row) for row in rows)]
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<div><p><b>{escape(title)}</b></p><table>{''.join(cells)}</table>{below}</div>"


def html_text(text: str) -> str:
    return f'<div style="white-space: pre-wrap">{escape(text)}</div>'


def _row(tag: str, cells: Sequence[Any]) -> str:
    texts = (f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells)
    return "<tr>" + "".join(f'<{tag} style="{CELL}">{escape(text)}</{tag}>' for text in texts) + "</tr>"


def intervals(records: Records, title: str, *, zero: bool = False) -> Any:
    """Draw a row per record: a point at `mean`, and a line with ends from `low` to `high`; `zero` marks 0."""
    alt = altair()
    order = [record["method"] for record in records]
    chart = alt.Chart(alt.Data(values=[_plain(record) for record in records]))
    base = chart.encode(y=alt.Y("method:N", sort=order, title=None, axis=alt.Axis(labelLimit=LABEL)))
    x = alt.X("low:Q", title=title, scale=alt.Scale(zero=zero), axis=alt.Axis(tickCount=TICKS))
    lines = base.mark_rule(strokeWidth=2, color=BLUE).encode(x=x, x2="high:Q")
    ends = [base.mark_tick(thickness=2, size=10, color=BLUE).encode(x=f"{end}:Q") for end in ("low", "high")]
    tooltip = ["method:N", "mean:Q", "low:Q", "high:Q"]
    points = base.mark_point(filled=True, size=80, opacity=1, color=BLUE).encode(x="mean:Q", tooltip=tooltip)
    level = [chart.mark_rule(color="#5c6570", strokeDash=[4, 3]).encode(x=alt.datum(0))] if zero else []
    return alt.layer(lines, *ends, points, *level)


def bars(records: Records, name: str, value: str, title: str) -> Any:
    """Draw a bar per record, in the order given, with a line of one `spread` to either side where records have it."""
    alt = altair()
    order = [str(record[name]) for record in records]
    values = [_plain(record) | {name: str(record[name])} for record in records]
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y(f"{name}:N", sort=order, title=None, axis=alt.Axis(labelLimit=LABEL))
    )
    keys = values[0].items() if values else ()
    bar = base.mark_bar().encode(
        x=alt.X(f"{value}:Q", title=title, axis=alt.Axis(tickCount=TICKS)),
        color=alt.condition(f"datum.{value} < 0", alt.value("#e07b1a"), alt.value(BLUE)),
        tooltip=[f"{key}:{'Q' if isinstance(val, float | int) else 'N'}" for key, val in keys],
    )
    if not values or "spread" not in values[0]:
        return bar
    spans = base.transform_calculate(low=f"datum.{value} - datum.spread", high=f"datum.{value} + datum.spread")
    return alt.layer(bar, spans.mark_rule(strokeWidth=1.5).encode(x="low:Q", x2="high:Q"))


def lines(records: Records, x: str, title: str) -> Any:
    alt = altair()
    known = [_plain(record) for record in records if not np.isnan(record["value"])]
    places = [record[x] for record in known]
    steps = max(places, default=1) - min(places, default=1)
    return (
        alt.Chart(alt.Data(values=known))
        .mark_line(point=True)
        .encode(
            x=alt.X(f"{x}:Q", title=x, axis=alt.Axis(tickCount=max(1, min(steps, 2 * TICKS)), format="d")),
            y=alt.Y("value:Q", title=title, scale=alt.Scale(zero=False)),
            color=alt.Color("kind:N", title=None),
            tooltip=[f"{x}:Q", "kind:N", "value:Q"],
        )
    )


def curves(records: Records, methods: Sequence[str], limit: str, y: str) -> Any:
    """Draw `mean` by method along the limit or training size, with bands from `low` to `high`."""
    alt = altair()
    sizes, limits = (sorted({record[name] for record in records}) for name in ("train_size", limit))
    if len(sizes) == len(limits) == 1:
        ordered = sorted(records, key=lambda record: methods.index(record["method"]))
        return intervals(ordered, f"mean {y}, {limit} {limits[0]:g}")
    x = "train_size" if len(sizes) > 1 and len(limits) == 1 else limit
    ticks = [float(tick) for tick in (sizes if x == "train_size" else limits)]
    base = alt.Chart(alt.Data(values=[_plain(record) for record in records])).encode(
        x=alt.X(
            f"{x}:Q",
            title=x.replace("_", " "),
            axis=alt.Axis(values=ticks),
            scale=alt.Scale(zero=False, nice=False, padding=20),
        ),
        color=alt.Color("method:N", sort=list(methods), legend=alt.Legend(labelLimit=LABEL, symbolOpacity=1)),
    )
    spans = base.mark_area(opacity=0.15).encode(
        y=alt.Y("low:Q", title=f"mean {y}", stack=None, scale=alt.Scale(zero=False)), y2="high:Q"
    )
    means = base.mark_line(point=True).encode(y="mean:Q", tooltip=["method:N", f"{x}:Q", "mean:Q", "low:Q", "high:Q"])
    chart = alt.layer(spans, means)
    if x == limit and len(sizes) > 1:
        return chart.facet(column=alt.Column("train_size:O", title="train size"))
    return chart


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    values = {key: value.item() if isinstance(value, np.generic) else value for key, value in record.items()}
    for key, value in values.items():
        if isinstance(value, float):
            values[key] = None if np.isnan(value) else round(value, 12) + 0.0  # without what rounding in sums leaves
    return values
