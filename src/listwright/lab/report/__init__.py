"""Reports: one page that opens anywhere, pictures, and the numbers behind them."""

from __future__ import annotations

from listwright.lab.report.files import write_json, write_text
from listwright.lab.report.parts import Figure, Gallery, Note, Pick, PickedList, Report, Section, SideBySide, Table
from listwright.lab.report.write import page_of, write_page, write_report

__all__ = [
    "Figure",
    "Gallery",
    "Note",
    "Pick",
    "PickedList",
    "Report",
    "Section",
    "SideBySide",
    "Table",
    "page_of",
    "write_json",
    "write_page",
    "write_report",
    "write_text",
]
