"""Charts of records: one line per method, with a band for the interval, drawn with altair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from listwright.lab.report.render import charts
from listwright.lab.report.theme import PALETTE


class Axis(NamedTuple):
    """One direction of a chart.

    Attributes
    ----------
    field : str
        The field of the records that is drawn.
    title : str
        The title of the axis.
    format : str
        How its numbers are written, in the notation of d3-format.
    log : bool
        Whether the scale is logarithmic.
    """

    field: str
    title: str
    format: str = ""
    log: bool = False


class Look(NamedTuple):
    """How a method is drawn.

    Attributes
    ----------
    colour : str
        The colour of line and band.
    dash : tuple of int
        Lengths of dashes and gaps in pixels; (1, 0) is a solid line.
    """

    colour: str
    dash: tuple[int, ...] = (1, 0)


def looks(methods: Sequence[str], *, dashed: Sequence[str] = ()) -> dict[str, Look]:
    """Returns a colour for each method, in the order given, and dashed lines for references that are not rivals.

    Colours repeat after the seven of the palette.

    Examples
    --------
    >>> looks(["SCP", "Oracle"], dashed=["Oracle"])["Oracle"].dash
    (5, 4)
    """
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
    """Draws one line per method against `x`, with the interval as a band. A click in the legend picks a method out.

    Parameters
    ----------
    records : sequence of mapping
        One per point, with the fields "method", "low", "high" and those of the axes.
    x, y : Axis
        The fields drawn; the band goes from `low` to `high`.
    methods : mapping of str to Look
        The methods in the order of the legend.
    slider : Axis or None
        A third field, of which one value is shown at a time, chosen by a slider that starts at `at`.
    at : float or None
        The first value of the slider; the largest by default.
    height : int
        Height in pixels. The width is that of the page.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
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
    """Returns a position channel, with ticks at the values drawn on the horizontal axis; the vertical axis begins
    at 0.
    """
    alt = charts()
    if channel is alt.Y:
        return channel(f"{axis.field}:Q", axis=alt.Axis(title=axis.title, format=axis.format))
    values = sorted({record[axis.field] for record in records})
    scale = alt.Scale(type="log") if axis.log else alt.Scale(zero=False)
    scale.nice, scale.padding = False, 8
    return channel(f"{axis.field}:Q", scale=scale, axis=alt.Axis(title=axis.title, values=values, format="d"))


def _colour(alt: Any, methods: Mapping[str, Look]) -> Any:
    """Returns the colour channel with the colours of the methods."""
    scale = alt.Scale(domain=list(methods), range=[look.colour for look in methods.values()])
    return alt.Color("method:N", scale=scale, legend=alt.Legend(title=None, orient="top"))


def _dash(alt: Any, methods: Mapping[str, Look]) -> Any:
    """Returns the dash channel with the line styles of the methods."""
    scale = alt.Scale(domain=list(methods), range=[list(look.dash) for look in methods.values()])
    return alt.StrokeDash("method:N", scale=scale, legend=alt.Legend(title=None, orient="top"))


def _sliding(
    alt: Any, base: Any, records: Sequence[Mapping[str, Any]], slider: Axis, at: float | None
) -> tuple[Any, dict[str, Any]]:
    """Returns the chart with a control for one field, and a title that says which value is shown.

    Consecutive whole numbers get a slider, other values a menu; a single value needs no control.

    Parameters
    ----------
    alt : module
        altair.
    base : altair.Chart
        The chart to filter.
    records : sequence of mapping
        All records.
    slider : Axis
        The field.
    at : float or None
        The first value to show.
    """
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
    """Returns the tooltip of a point: method, position, value and interval."""
    return [
        alt.Tooltip("method:N", title="method"),
        alt.Tooltip(f"{x.field}:Q", title=x.title),
        alt.Tooltip(f"{y.field}:Q", title=y.title, format=".3f"),
        alt.Tooltip("low:Q", title="95 % from", format=".3f"),
        alt.Tooltip("high:Q", title="95 % to", format=".3f"),
    ]
