"""A report as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from listwright.report.files import write_bytes, write_json, write_text
from listwright.report.page import html_page
from listwright.report.parts import Report
from listwright.report.render import as_png, as_svg, script, specification


def page_of(report: Report) -> str:
    """The report as one HTML text that needs nothing from outside.

    >>> page = page_of(Report("Lists", "SCP fails least."))
    >>> page.count("<h1>Lists</h1>"), "http" in page
    (1, False)
    """
    figures = report.figures
    charts = {figure.name: specification(figure.chart) for figure in figures}
    stills = {figure.name: as_svg(figure.chart) for figure in figures}
    return html_page(report, charts, stills, script() if figures else "")


def write_page(report: Report, path: Path) -> Path:
    """The page alone."""
    return write_text(path, page_of(report))


def write_report(report: Report, folder: Path, *, results: Any = None) -> list[Path]:
    """report.html, figures/<name>.png and .svg, and results.json where there are results; each written whole."""
    written = [write_page(report, folder / "report.html")]
    for figure in report.figures:
        written.append(write_text(folder / "figures" / f"{figure.name}.svg", as_svg(figure.chart)))
        written.append(write_bytes(folder / "figures" / f"{figure.name}.png", as_png(figure.chart)))
    if results is not None:
        written.append(write_json(folder / "results.json", results))
    return written
