"""What commands print: tables and findings to standard output, progress to standard error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from listwright.experiments.tasks import Tick
    from listwright.report import Section, Table


@contextmanager
def progress(title: str) -> Iterator[Tick]:
    """A bar that hears of what is done; it goes away at the end, and is silent where nobody watches."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task(title, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


def show_section(section: Section) -> None:
    """Its title, its text and its tables."""
    from rich.console import Console

    from listwright.report import Table

    console = Console(highlight=False)
    console.print(f"\n{section.title}", style="bold", markup=False)
    console.print(section.text, markup=False)
    for part in section.parts:
        if isinstance(part, Table):
            console.print()
            console.print(_rich_table(part))


def show_text(text: str) -> None:
    """A paragraph, as wide as the window."""
    from rich.console import Console

    Console(highlight=False).print(f"\n{text}", markup=False)


def _rich_table(table: Table) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    shown = RichTable(
        *table.columns, box=SIMPLE_HEAD, caption=table.caption or None, caption_justify="left", pad_edge=False
    )
    for column in shown.columns[1:]:
        column.justify = "right"
    for index, row in enumerate(table.rows):
        shown.add_row(*(str(entry) for entry in row), style="bold" if index in table.emphasis else None)
    return shown


def show_json(content: Any) -> None:
    """For machines."""
    print(json.dumps(content, allow_nan=False, ensure_ascii=False, indent=2))
