"""Charts of records: one line a method, with a band for the interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from listwright.lab.report.render import charts
from listwright.lab.report.theme import PALETTE


class Axis(NamedTuple):
    """One direction of a chart: a field of the records, its title, and how its numbers are written."""

    field: str
    title: str
    format: str = ""
    log: bool = False


class Look(NamedTuple):
    """How a method is drawn."""

    colour: str
    dash: tuple[int, ...] = (1, 0)


def looks(methods: Sequence[str], *, dashed: Sequence[str] = ()) -> dict[str, Look]:
    """A colour for each method in the order given; dashed lines for those that are no rivals but references.

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
    """A line a method against `x`, with the interval as a band. A click in the legend picks a method out.

    Parameters
    ----------
    x, y : Axis
        The fields drawn; the band goes from `low` to `high`.
    slider : Axis or None
        A third field, of which one value is shown at a time, chosen by a slider that starts at `at`.
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
    """Ticks at the values drawn, where these are few; the vertical axis begins at 0."""
    alt = charts()
    if channel is alt.Y:
        return channel(f"{axis.field}:Q", axis=alt.Axis(title=axis.title, format=axis.format))
    values = sorted({record[axis.field] for record in records})
    scale = alt.Scale(type="log") if axis.log else alt.Scale(zero=False)
    scale.nice, scale.padding = False, 8
    return channel(f"{axis.field}:Q", scale=scale, axis=alt.Axis(title=axis.title, values=values, format="d"))


def _colour(alt: Any, methods: Mapping[str, Look]) -> Any:
    scale = alt.Scale(domain=list(methods), range=[look.colour for look in methods.values()])
    return alt.Color("method:N", scale=scale, legend=alt.Legend(title=None, orient="top"))


def _dash(alt: Any, methods: Mapping[str, Look]) -> Any:
    scale = alt.Scale(domain=list(methods), range=[list(look.dash) for look in methods.values()])
    return alt.StrokeDash("method:N", scale=scale, legend=alt.Legend(title=None, orient="top"))


def _sliding(
    alt: Any, base: Any, records: Sequence[Mapping[str, Any]], slider: Axis, at: float | None
) -> tuple[Any, dict[str, Any]]:
    """The chart of one value at a time, and a title that says which. Values that are not 1, 2, 3, ... make a menu."""
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
    return [
        alt.Tooltip("method:N", title="method"),
        alt.Tooltip(f"{x.field}:Q", title=x.title),
        alt.Tooltip(f"{y.field}:Q", title=y.title, format=".3f"),
        alt.Tooltip("low:Q", title="95 % from", format=".3f"),
        alt.Tooltip("high:Q", title="95 % to", format=".3f"),
    ]
