"""Reports: one HTML page that opens anywhere, pictures, and the numbers behind them."""

from __future__ import annotations

from listwright.report.charts import check_charts
from listwright.report.page import (
    Figure,
    Note,
    PickedItem,
    PickedList,
    ReportPage,
    ReportTable,
    Section,
    SideBySide,
    page_of,
    write_json,
    write_page,
    write_report,
    write_text,
)

__all__ = [
    "Figure",
    "Note",
    "PickedItem",
    "PickedList",
    "ReportPage",
    "ReportTable",
    "Section",
    "SideBySide",
    "check_charts",
    "page_of",
    "write_json",
    "write_page",
    "write_report",
    "write_text",
]
