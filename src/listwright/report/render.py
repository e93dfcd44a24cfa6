"""Charts as pictures and as scripts, through vl-convert: no browser, no network."""

from __future__ import annotations

from typing import Any

from listwright.errors import InputError, MissingExtra
from listwright.report.theme import chart_config

WIDTH = 640  # pixels, of a chart that fills its container


def converter() -> Any:
    """The vl_convert module."""
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra("Reports need vl-convert.", extra="plots") from None
    return vl_convert


def charts() -> Any:
    """The altair module."""
    try:
        import altair
    except ImportError:
        raise MissingExtra("Charts need altair.", extra="plots") from None
    return altair


def specification(chart: Any) -> dict[str, Any]:
    """A chart as Vega-Lite says it; colours and fonts are left to the page."""
    if hasattr(chart, "to_dict"):
        chart = chart.to_dict()
    if not isinstance(chart, dict):
        raise InputError(f"A chart is an altair chart or a Vega-Lite dictionary. Got {type(chart).__name__}.")
    return {name: value for name, value in chart.items() if name not in ("config", "$schema")}


def as_svg(chart: Any) -> str:
    """The chart as SVG text, by day."""
    return str(converter().vegalite_to_svg(_still(chart)))


def as_png(chart: Any, *, scale: float = 2.0) -> bytes:
    """The chart as a PNG picture, by day."""
    return bytes(converter().vegalite_to_png(_still(chart), scale=scale))


def script() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script that needs nothing else."""
    return str(converter().javascript_bundle()).replace("</script", "<\\/script")


def _still(chart: Any) -> dict[str, Any]:
    """The specification with a width of its own and the colours of the day."""
    still = specification(chart) | {"config": chart_config()}
    return still | {"width": WIDTH} if still.get("width") == "container" else still
