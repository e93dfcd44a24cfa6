"""Charts as specifications, pictures and scripts, through altair and vl-convert: no browser, no network.

Both libraries come with the extra "plots" and are imported when they are first needed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from listwright._internal.extras import require_extra
from listwright.errors import InputError
from listwright.report.theme import chart_config

WIDTH = 640  # pixels, of a chart that fills its container


def converter() -> Any:
    """Return the vl_convert module; raises `MissingExtra` if it is not installed."""
    return require_extra("vl_convert", "Reports need vl-convert.", extra="plots")


def charts() -> Any:
    """Return the altair module; raises `MissingExtra` if it is not installed."""
    return require_extra("altair", "Charts need altair.", extra="plots")


def check_charts() -> None:
    """Raise `MissingExtra` unless both libraries are installed."""
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
    """Return a specification as SVG text in light colours; a chart that fills its container gets a width of 640
    pixels.
    """
    width = {"width": WIDTH} if specified.get("width") == "container" else {}
    return str(converter().vegalite_to_svg(specified | width | {"config": chart_config()}))


def as_png(svg: str, *, scale: float = 2.0) -> bytes:
    """Return SVG text as a PNG picture, with `scale` pixels per unit."""
    return bytes(converter().svg_to_png(svg, scale=scale))


@cache
def script() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script without dependencies; made once per process."""
    return str(converter().javascript_bundle()).replace("</script", "<\\/script")
