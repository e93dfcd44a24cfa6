"""Colours and fonts of charts and pages, in light and dark."""

from __future__ import annotations

from typing import Any

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

# Readable on white and on near-black, and told apart by colour-blind readers.
PALETTE = ("#2f7fd1", "#e07b1a", "#1f9e77", "#a765c9", "#d4465c", "#8b929c", "#b08a3c")


def chart_config(*, dark: bool = False) -> dict[str, Any]:
    """Return the Vega-Lite config for a light or dark page: colours of text, grid and lines, sizes, and the palette."""
    text, faint, line = ("#e3e6ea", "#a3abb5", "#343b45") if dark else ("#1c2127", "#5c6570", "#e1e5ea")
    axis = {
        "labelColor": faint,
        "titleColor": text,
        "gridColor": line,
        "domainColor": faint,
        "tickColor": faint,
        "labelFontSize": 12,
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
