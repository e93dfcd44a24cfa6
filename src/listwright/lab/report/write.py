"""Reports as files: the page, the pictures and the numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from listwright.lab.report.files import write_bytes, write_json, write_text
from listwright.lab.report.page import html_page
from listwright.lab.report.parts import Report
from listwright.lab.report.render import as_png, as_svg, script, specification


def page_of(report: Report) -> str:
    """Returns the report as one HTML text that needs nothing from outside.

    Examples
    --------
    >>> page = page_of(Report("Lists", "SCP fails least."))
    >>> page.count("<h1>Lists</h1>"), "://" in page
    (1, False)
    """
    return _page(report, *_drawn(report))


def write_page(report: Report, path: Path) -> Path:
    """Writes the page alone, as one HTML file, and returns its path."""
    return write_text(path, page_of(report))


def write_report(report: Report, folder: Path, *, results: Any = None) -> list[Path]:
    """Writes a report into a folder: report.html, figures/<name>.png and .svg, and results.json.

    Parameters
    ----------
    report : Report
        What to write.
    folder : Path
        The folder; it is made if it is missing.
    results : object, optional
        Numbers for results.json, which is left out without them.

    Returns
    -------
    list of Path
        The files written. Each is written completely or not at all.
    """
    charts, stills = _drawn(report)
    written = [write_text(folder / "report.html", _page(report, charts, stills))]
    for name, svg in stills.items():
        written.append(write_text(folder / "figures" / f"{name}.svg", svg))
        written.append(write_bytes(folder / "figures" / f"{name}.png", as_png(svg)))
    if results is not None:
        written.append(write_json(folder / "results.json", results))
    return written


def _drawn(report: Report) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Returns specifications and SVG texts, by figure name."""
    charts = {figure.name: specification(figure.chart) for figure in report.figures}
    return charts, {name: as_svg(chart) for name, chart in charts.items()}


def _page(report: Report, charts: dict[str, dict[str, Any]], stills: dict[str, str]) -> str:
    return html_page(report, charts, stills, script() if charts else "")
