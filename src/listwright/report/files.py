"""Reports as files: the page, the pictures and the numbers. Files are written completely or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from listwright._internal.files import write_whole
from listwright.errors import InputError
from listwright.report.page import html_page
from listwright.report.parts import Report
from listwright.report.render import as_png, as_svg, script, specification


def write_bytes(path: Path, content: bytes) -> Path:
    """Write a file and return its path."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or error}. Choose another path.") from None
    write_whole(path, content)
    return path


def write_text(path: Path, text: str) -> Path:
    """Write text as UTF-8, with the guarantees of `write_bytes`, and return the path."""
    return write_bytes(path, text.encode())


def write_json(path: Path, content: Any) -> Path:
    r"""Write JSON and return the path; a list gets one line per entry, so that versions can be compared line by
    line."""
    if isinstance(content, list):
        lines = ",\n".join(json.dumps(entry, allow_nan=False, ensure_ascii=False) for entry in content)
        return write_text(path, f"[\n{lines}\n]\n")
    return write_text(path, json.dumps(content, allow_nan=False, ensure_ascii=False, indent=2) + "\n")


def page_of(report: Report) -> str:
    """Return the report as one HTML text that needs nothing from outside."""
    return _page(report, *_drawn(report))


def write_page(report: Report, path: Path) -> Path:
    """Write the page alone, as one HTML file, and return its path."""
    return write_text(path, page_of(report))


def write_report(report: Report, folder: Path, *, results: Any = None) -> list[Path]:
    """Write a report into a folder: report.html, figures/<name>.png and .svg, and results.json."""
    charts, stills = _drawn(report)
    written = [write_text(folder / "report.html", _page(report, charts, stills))]
    for name, svg in stills.items():
        written.append(write_text(folder / "figures" / f"{name}.svg", svg))
        written.append(write_bytes(folder / "figures" / f"{name}.png", as_png(svg)))
    if results is not None:
        written.append(write_json(folder / "results.json", results))
    return written


def _drawn(report: Report) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Return specifications and SVG texts, by figure name."""
    charts = {figure.name: specification(figure.chart) for figure in report.figures}
    return charts, {name: as_svg(chart) for name, chart in charts.items()}


def _page(report: Report, charts: dict[str, dict[str, Any]], stills: dict[str, str]) -> str:
    return html_page(report, charts, stills, script() if charts else "")
