"""Charts of records: one line per method, with a band for the interval, drawn with altair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from listwright.report.render import charts
from listwright.report.theme import PALETTE


class Axis(NamedTuple):
    """One direction of a chart."""

    field: str  # the field of the records that is drawn
    title: str  # the title of the axis
    format: str = ""  # how its numbers are written, in the notation of d3-format
    log: bool = False  # whether the scale is logarithmic


class Look(NamedTuple):
    """How a method is drawn."""

    colour: str  # the colour of line and band
    dash: tuple[int, ...] = (1, 0)  # lengths of dashes and gaps in pixels; (1, 0) is a solid line


def looks(methods: Sequence[str], *, dashed: Sequence[str] = ()) -> dict[str, Look]:
    """Return a colour for each method, in the order given, and dashed lines for references that are not rivals."""
    colours = [PALETTE[index % len(PALETTE)] for index in range(len(methods))]
    return {
        name: Look(colour, (5, 4) if name in dashed else (1, 0)) for name, colour in zip(methods, colours, strict=True)
    }


def curves(
    records: Sequence[Mapping[str, Any]],
    *,
    x: Axis,
    y: Axis,
    methods: Mapping[str, Look],
    slider: Axis | None = None,
    at: float | None = None,
    height: int = 340,
) -> Any:
    """Draw one line per method against `x`, with the interval as a band. A click in the legend picks a method out."""
    alt = charts()
    picked = alt.selection_point(fields=["method"], bind="legend", name="picked")
    base = alt.Chart(alt.Data(values=[dict(record) for record in records])).encode(
        x=_position(alt.X, x, records), color=_colour(alt, methods)
    )
    base, title = (base, {}) if slider is None else _sliding(alt, base, records, slider, at)
    shown = alt.when(picked)
    band = base.mark_area().encode(
        y=alt.Y("low:Q"), y2="high:Q", opacity=shown.then(alt.value(0.16)).otherwise(alt.value(0.02))
    )
    line = base.mark_line(strokeWidth=2.2, point={"size": 34, "filled": True}).encode(
        y=_position(alt.Y, y, records),
        strokeDash=_dash(alt, methods),
        opacity=shown.then(alt.value(1.0)).otherwise(alt.value(0.12)),
        tooltip=_tooltip(alt, x, y),
    )
    return alt.layer(band, line.add_params(picked)).properties(width="container", height=height, **title)


def _position(channel: Any, axis: Axis, records: Sequence[Mapping[str, Any]]) -> Any:
    """Return a position channel, with ticks at the values drawn on the horizontal axis; the vertical axis
    begins at 0.
    """
    alt = charts()
    if channel is alt.Y:
        return channel(f"{axis.field}:Q", axis=alt.Axis(title=axis.title, format=axis.format))
    values = sorted({record[axis.field] for record in records})
    scale = alt.Scale(type="log") if axis.log else alt.Scale(zero=False)
    scale.nice, scale.padding = False, 8
    return channel(f"{axis.field}:Q", scale=scale, axis=alt.Axis(title=axis.title, values=values, format="d"))


def _colour(alt: Any, methods: Mapping[str, Look]) -> Any:
    """Return the colour channel with the colours of the methods."""
    scale = alt.Scale(domain=list(methods), range=[look.colour for look in methods.values()])
    return alt.Color("method:N", scale=scale, legend=alt.Legend(title=None, orient="top"))


def _dash(alt: Any, methods: Mapping[str, Look]) -> Any:
    """Return the dash channel with the line styles of the methods."""
    scale = alt.Scale(domain=list(methods), range=[list(look.dash) for look in methods.values()])
    return alt.StrokeDash("method:N", scale=scale, legend=alt.Legend(title=None, orient="top"))


def _sliding(
    alt: Any, base: Any, records: Sequence[Mapping[str, Any]], slider: Axis, at: float | None
) -> tuple[Any, dict[str, Any]]:
    """Return the chart with a control for one field, and a title that says which value is shown."""
    values = sorted({record[slider.field] for record in records})
    if len(values) == 1:
        return base, {"title": f"{slider.title} {values[0]}"}
    if values == list(range(int(values[0]), int(values[-1]) + 1)):
        bind = alt.binding_range(min=values[0], max=values[-1], step=1, name=f"{slider.title} ")
    else:
        bind = alt.binding_select(options=values, name=f"{slider.title} ")
    chosen = alt.param(name="chosen", value=at if at in values else values[-1], bind=bind)
    title = alt.TitleParams(text=alt.ExprRef(f"'{slider.title} ' + chosen"))
    return base.add_params(chosen).transform_filter(f"datum.{slider.field} == chosen"), {"title": title}


def _tooltip(alt: Any, x: Axis, y: Axis) -> list[Any]:
    """Return the tooltip of a point: method, position, value and interval."""
    return [
        alt.Tooltip("method:N", title="method"),
        alt.Tooltip(f"{x.field}:Q", title=x.title),
        alt.Tooltip(f"{y.field}:Q", title=y.title, format=".3f"),
        alt.Tooltip("low:Q", title="95 % from", format=".3f"),
        alt.Tooltip("high:Q", title="95 % to", format=".3f"),
    ]
