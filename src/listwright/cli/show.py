"""Printing for commands: results to standard output; progress, note and errors to standard error.

`progress` and `notes` are context managers around the work; `show_section`, `show_text`, `show_demo` and `show_json`
print results. `as_options` rewrites messages of the library for users of the command line. rich is imported only inside
functions, which keeps `--help` quick.
"""

from __future__ import annotations

import json
import re
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from listwright._internal.progress import ProgressCallback, progress_to
from listwright.errors import Notice

if TYPE_CHECKING:
    from pathlib import Path

    from listwright.experiments.demo import Demo
    from listwright.report import Section, SideBySide, Table

PARAMETERS = ("batch_size", "budget", "catalogue", "categorical", "checkpoint", "column", "context", "costs",
              "device", "engine", "features", "format", "group", "groups", "ignore", "item", "length", "links",
              "list_id", "max_memory", "metric", "n_passes", "neighbors", "new_levels", "outcome", "per_group",
              "position", "precision", "problem", "propensity", "references", "resume", "reward", "sample",
              "allow_short", "size", "targets", "task", "test", "train", "vectors")  # fmt: skip
EVERY = 10.0  # seconds between two lines of progress, where these go to a file
NAMED_OTHERWISE = {"problem": "problem-column", "item": "item-column", "size": "size-column", "group": "group-column",
                   "n_passes": "passes", "list_id": "list-column", "outcome": "outcome-column",
                   "position": "position-column"}  # fmt: skip
_PARAMETER = re.compile(rf'(?<![\w=])({"|".join(PARAMETERS)})=(?:(True)|"(\w+)"|([\d.]*\d))?')


def as_options(message: str) -> str:
    """Rewrite Python parameters in a message of the library as command line options."""
    # A new parameter that occurs in messages and has an option must be added there.

    def option(found: re.Match[str]) -> str:
        name, _, text, number = found.groups()
        column = name == "propensity" and not text  # which names a way, or else a column
        flag = "--propensity-column" if column else "--" + NAMED_OTHERWISE.get(name, name).replace("_", "-")
        return f"{flag} {text or number}" if text or number else flag

    return _PARAMETER.sub(option, message)


def many(count: int, noun: str) -> str:
    """Return a count with its noun in singular or plural."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def print_bytes(content: bytes) -> None:
    """Write bytes to standard output. Where that is not buffered (PYTHONUNBUFFERED), one call may write a part only."""
    left = memoryview(content)
    while left:
        left = left[sys.stdout.buffer.write(left) :]
    sys.stdout.buffer.flush()


@contextmanager
def notes() -> Iterator[None]:
    """Context manager that prints warnings about data as notes on standard error, each once."""
    # Notes are printed after the body, so that they do not disturb a progress bar.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", Notice)
        yield
    told: set[str] = set()
    for one in caught:
        if issubclass(one.category, Notice):
            if str(one.message) not in told:
                print(f"Note: {as_options(str(one.message))}", file=sys.stderr)
            told.add(str(one.message))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


@contextmanager
def progress(title: str) -> Iterator[ProgressCallback]:
    """Context manager that shows the progress of some work on standard error."""
    # On a terminal it is a bar that disappears at the end; elsewhere it is a plain line every `EVERY` seconds, so that
    # log files stay readable.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        with progress_to(_lines()) as report:
            yield report
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        bar = bars.add_task(title, total=None)
        show = lambda what, done, total: bars.update(bar, description=what, completed=done, total=total or None)  # noqa: E731
        with progress_to(show) as report:
            yield report


def _lines() -> ProgressCallback:
    """Return the callback for output that is not a terminal."""
    due = time.monotonic() + EVERY

    def show(what: str, done: int, total: int) -> None:
        nonlocal due
        if time.monotonic() >= due:
            print(f"{what}: {done:,} of {total:,}" if total else what, file=sys.stderr, flush=True)
            due = time.monotonic() + EVERY

    return show


def show_section(section: Section) -> None:
    """Print a section of a report: title, text and tables."""
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
    """Print a paragraph, wrapped to the width of the terminal."""
    from rich.console import Console

    Console(highlight=False).print(f"\n{text}", markup=False)


def show_demo(found: Demo, page: Path) -> None:
    """Print the result of the demo on one screen of 80 columns and 40 lines."""
    from rich.console import Console

    from listwright.experiments.demo_report import IN_SHORT, cost, value_table, widest

    console = Console(highlight=False, width=min(80, Console().width))
    first, records = found.problems[0], found.records
    console.print(first.problem, style="bold", markup=False)
    console.print(f"{first.note} Four passages, listed in three ways:\n", markup=False)
    console.print(_side_by_side(first))
    about = f"\nPer cent of what is needed, by length, on {found.n_test} other questions (± {widest(records):.1f}):"
    console.print(about, style="bold", markup=False)
    console.print(_rich_table(value_table(records), compact=True))
    for text in (found.certificate, cost(found), IN_SHORT):
        if text:
            console.print(text, markup=False)
    console.print(f"\nOpen {page} for the chart, the texts and ten more questions. Then try:", markup=False)
    console.print("listwright reproduce all | listwright summarize FOLDER | listwright --help", markup=False)


def _side_by_side(part: SideBySide) -> Any:
    """Lay out lists side by side, for the demo."""
    from rich.table import Table as RichTable
    from rich.text import Text

    styles = {"new": "green", "repeat": "dim", "nothing": "dim"}
    shown = RichTable(box=None, pad_edge=False, expand=True, header_style="bold")
    for one in part.lists:
        shown.add_column(one.method, no_wrap=True, overflow="ellipsis", ratio=1)
    for place, picks in enumerate(zip(*(one.picks for one in part.lists), strict=True)):
        cells = []
        for pick in picks:
            title = Text(f"{place + 1} ").append(pick.title, style="strike" if pick.kind == "repeat" else "")
            cells.append(title.append(f"\n  {pick.adds}", style=styles[pick.kind]))
        shown.add_row(*cells)
    shown.add_row(*(Text(one.worth, style="bold") for one in part.lists))
    return shown


def _rich_table(table: Table, *, compact: bool = False) -> Any:
    """Convert a table of a report to a table of rich."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    box = None if compact else SIMPLE_HEAD
    shown = RichTable(*table.columns, box=box, caption=table.caption or None, caption_justify="left", pad_edge=False)
    for column in shown.columns[1:]:
        column.justify = "right"
    for index, row in enumerate(table.rows):
        shown.add_row(*(str(entry) for entry in row), style="bold" if index in table.emphasis else None)
    return shown


def show_json(content: Any) -> None:
    """Print a value as indented JSON; NaN and infinity raise `ValueError`, as JSON cannot represent them."""
    print(json.dumps(content, allow_nan=False, ensure_ascii=False, indent=2))
