"""Charts of records: one line per method, with a band for the interval, drawn with altair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from listwright._internal.extras import require_extra
from listwright.errors import InputError

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

# Readable on white and on near-black, and distinct to colour-blind readers.
PALETTE = ("#2f7fd1", "#e07b1a", "#1f9e77", "#a765c9", "#d4465c", "#8b929c", "#b08a3c")


def chart_config(*, dark: bool = False) -> dict[str, Any]:
    text, faint, line = ("#e3e6ea", "#a3abb5", "#343b45") if dark else ("#1c2127", "#5c6570", "#e1e5ea")
    axis = {
        "labelColor": faint,
        "titleColor": text,
        "gridColor": line,
        "domainColor": faint,
        "tickColor": faint,
        "labelFontSize": 12,
        "labelFlush": False,  # a number stands at its tick
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titlePadding": 10,
    }
    legend = {
        "labelColor": text,
        "titleColor": text,
        "labelFontSize": 12,
        "labelLimit": 300,
        "columns": 7,
        "symbolOpacity": 1.0,
        "symbolStrokeWidth": 2.5,
        "symbolType": "stroke",
    }
    return {
        "background": "transparent" if dark else "#ffffff",
        "font": FONT,
        "view": {"stroke": None},
        "axis": axis,
        "legend": legend,
        "title": {"color": text, "fontSize": 13, "fontWeight": 600, "anchor": "start"},
        "header": {"labelColor": text, "titleColor": text},
        "range": {"category": list(PALETTE)},
        "style": {"annotation": {"fill": text}},
    }


WIDTH = 640  # pixels, of a chart that fills its container


def converter() -> Any:
    return require_extra("vl_convert", "Reports need vl-convert.", extra="plots")


def charts() -> Any:
    return require_extra("altair", "Charts need altair.", extra="plots")


def check_charts() -> None:
    # Commands call it before they compute anything, so that hours of work do not end in a missing package.
    charts()
    converter()


def specification(chart: Any) -> dict[str, Any]:
    """Return a chart as a Vega-Lite dictionary, without its config: colours and fonts are left to the page."""
    if hasattr(chart, "to_dict"):
        chart = chart.to_dict(validate=False)
    if not isinstance(chart, dict):
        raise InputError(f"A chart is an altair chart or a Vega-Lite dictionary. Got {type(chart).__name__}.")
    return {name: value for name, value in chart.items() if name not in ("config", "$schema")}


def as_svg(specified: dict[str, Any]) -> str:
    width = {"width": WIDTH} if specified.get("width") == "container" else {}
    return str(converter().vegalite_to_svg(specified | width | {"config": chart_config()}))


def as_png(svg: str, *, scale: float = 2.0) -> bytes:
    return bytes(converter().svg_to_png(svg, scale=scale))


@cache
def script() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script without dependencies; made once per process."""
    return str(converter().javascript_bundle()).replace("</script", "<\\/script")


class Axis(NamedTuple):
    field: str  # the field of the records that is drawn
    title: str  # the title of the axis
    format: str = ""  # how its numbers are written, in the notation of d3-format
    log: bool = False  # whether the scale is logarithmic


class LineStyle(NamedTuple):
    colour: str  # the colour of line and band
    dash: tuple[int, ...] = (1, 0)  # lengths of dashes and gaps in pixels; (1, 0) is a solid line


def line_styles(methods: Sequence[str], *, dashed: Sequence[str] = ()) -> dict[str, LineStyle]:
    """Return a colour for each method, in the order given, and dashed lines for references that are not rivals."""
    return {
        name: LineStyle(PALETTE[index % len(PALETTE)], (5, 4) if name in dashed else (1, 0))
        for index, name in enumerate(methods)
    }


def curves(
    records: Sequence[Mapping[str, Any]],
    *,
    x: Axis,
    y: Axis,
    methods: Mapping[str, LineStyle],
    slider: Axis | None = None,
    at: float | None = None,
    height: int = 340,
) -> Any:
    """Draw one line per method against `x`, with the interval as a band. A click in the legend picks a method out."""
    alt = charts()
    picked = alt.selection_point(fields=["method"], bind="legend", name="picked")
    legend, names = alt.Legend(title=None, orient="top"), list(methods)
    colours = alt.Scale(domain=names, range=[style.colour for style in methods.values()])
    dashes = alt.Scale(domain=names, range=[list(style.dash) for style in methods.values()])
    base = alt.Chart(alt.Data(values=[dict(record) for record in records])).encode(
        x=_horizontal(alt, x, records), color=alt.Color("method:N", scale=colours, legend=legend)
    )
    base, title = (base, {}) if slider is None else _sliding(alt, base, records, slider, at)
    shown = alt.when(picked)
    band = base.mark_area().encode(
        y=alt.Y("low:Q"), y2="high:Q", opacity=shown.then(alt.value(0.16)).otherwise(alt.value(0.02))
    )
    line = base.mark_line(strokeWidth=2.2, point={"size": 34, "filled": True}).encode(
        y=alt.Y(f"{y.field}:Q", axis=alt.Axis(title=y.title, format=y.format)),
        strokeDash=alt.StrokeDash("method:N", scale=dashes, legend=legend),
        opacity=shown.then(alt.value(1.0)).otherwise(alt.value(0.12)),
        tooltip=_tooltip(alt, x, y),
    )
    return alt.layer(band, line.add_params(picked)).properties(width="container", height=height, **title)


def _horizontal(alt: Any, axis: Axis, records: Sequence[Mapping[str, Any]]) -> Any:
    """Return the channel of the horizontal position, with ticks at the values drawn."""
    values = sorted({record[axis.field] for record in records})
    scale = alt.Scale(type="log") if axis.log else alt.Scale(zero=False)
    scale.nice, scale.padding = False, 8
    return alt.X(f"{axis.field}:Q", scale=scale, axis=alt.Axis(title=axis.title, values=values, format="d"))


def _sliding(
    alt: Any, base: Any, records: Sequence[Mapping[str, Any]], slider: Axis, at: float | None
) -> tuple[Any, dict[str, Any]]:
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
