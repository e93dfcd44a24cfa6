"""Output of commands: results to standard output or files; progress, notes and errors to standard error."""

from __future__ import annotations

import json
import re
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from listwright._internal.progress import ProgressCallback, progress_to
from listwright.errors import InputError, Notice

if TYPE_CHECKING:
    from listwright.evaluation.explain import Reasons
    from listwright.experiments.demo import Demo
    from listwright.lists import Lists
    from listwright.report import ReportTable, Section, SideBySide

PARAMETERS = ("batch_size", "budget", "catalogue", "categorical", "checkpoint", "column", "context", "costs",
              "device", "engine", "features", "format", "group", "groups", "ignore", "item", "length", "links",
              "list_id", "max_memory", "metric", "n_passes", "neighbors", "new_levels", "outcome", "per_group",
              "position", "precision", "problem", "propensity", "references", "resume", "reward", "sample",
              "allow_short", "size", "targets", "task", "test", "train", "vectors")  # fmt: skip
STANDARD = "-"
EVERY = 10.0  # seconds between two lines of progress, where these go to a file
NAMED_OTHERWISE = {"problem": "problem-column", "item": "item-column", "size": "size-column", "group": "group-column",
                   "n_passes": "passes", "list_id": "list-column", "outcome": "outcome-column",
                   "position": "position-column"}  # fmt: skip
_PARAMETER = re.compile(rf'(?<![\w=])({"|".join(PARAMETERS)})=(?:(True)|"(\w+)"|([\d.]*\d))?')


def as_options(message: str) -> str:
    """Rewrite Python parameters in a message of the library as command line options: those in `PARAMETERS`."""

    def option(match: re.Match[str]) -> str:
        name, _, text, number = match.groups()
        column = name == "propensity" and not text  # which names a way, or else a column
        flag = "--propensity-column" if column else "--" + NAMED_OTHERWISE.get(name, name).replace("_", "-")
        return f"{flag} {text or number}" if text or number else flag

    return _PARAMETER.sub(option, message)


def many(count: int, noun: str) -> str:
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
    printed: set[str] = set()
    for warning in caught:
        if issubclass(warning.category, Notice):
            if str(warning.message) not in printed:
                print(f"Note: {as_options(str(warning.message))}", file=sys.stderr)
            printed.add(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


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
    due = time.monotonic() + EVERY

    def show(what: str, done: int, total: int) -> None:
        nonlocal due
        if time.monotonic() >= due:
            print(f"{what}: {done:,} of {total:,}" if total else what, file=sys.stderr, flush=True)
            due = time.monotonic() + EVERY

    return show


def show_section(section: Section) -> None:
    from rich.console import Console

    from listwright.report import ReportTable

    console = Console(highlight=False)
    console.print(f"\n{section.title}", style="bold", markup=False)
    console.print(section.text, markup=False)
    for part in section.parts:
        if isinstance(part, ReportTable):
            console.print()
            console.print(_rich_table(part))


def show_text(text: str) -> None:
    from rich.console import Console

    Console(highlight=False).print(f"\n{text}", markup=False)


def show_demo(results: Demo, page: Path, console: Any = None) -> None:
    """Print the result of the demo on one screen of 80 columns and 40 lines."""
    from rich.console import Console

    from listwright.experiments.demo import IN_SHORT, cost, value_table, widest

    console = console or Console(highlight=False, width=min(80, Console().width))
    first, records = results.problems[0], results.records
    console.print(first.problem, style="bold", markup=False)
    console.print(f"{first.note} Four passages, listed in three ways:\n", markup=False)
    console.print(_side_by_side(first))
    about = f"\nPer cent of what is needed, by length, on {results.n_test} other questions (± {widest(records):.1f}):"
    console.print(about, style="bold", markup=False)
    console.print(_rich_table(value_table(records), compact=True))
    for text in (results.certificate, cost(results), IN_SHORT):
        if text:
            console.print(text, markup=False)
    console.print(f"\nOpen {page} for the chart, the texts and ten more questions. Then try:", markup=False)
    console.print("listwright reproduce all | listwright summarize FOLDER | listwright --help", markup=False)


def _side_by_side(part: SideBySide) -> Any:
    from rich.table import Table as RichTable
    from rich.text import Text

    styles = {"new": "green", "repeat": "dim", "nothing": "dim"}
    shown = RichTable(box=None, pad_edge=False, expand=True, header_style="bold")
    for picked in part.lists:
        shown.add_column(picked.method, no_wrap=True, overflow="ellipsis", ratio=1)
    for place, picks in enumerate(zip(*(picked.picks for picked in part.lists), strict=True)):
        cells = []
        for pick in picks:
            title = Text(f"{place + 1} ").append(pick.title, style="strike" if pick.kind == "repeat" else "")
            cells.append(title.append(f"\n  {pick.adds}", style=styles[pick.kind]))
        shown.add_row(*cells)
    shown.add_row(*(Text(picked.worth, style="bold") for picked in part.lists))
    return shown


def _rich_table(table: ReportTable, *, compact: bool = False) -> Any:
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


ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq")
FORMULA = re.compile(r"\s*(=|[-+@].*[(!|])")  # what a spreadsheet would run; @name and -7 are names and numbers


def check_ending(out: str) -> None:
    if out != STANDARD and Path(out).suffix.lower() not in ENDINGS:
        raise InputError(f"Lists go to a file that ends in {', '.join(ENDINGS)}. Got {out}.")


def write_lists(lists: Lists, out: str, reasons: list[Reasons] | None = None) -> None:
    columns = {name: column.tolist() for name, column in lists.to_dict().items()}
    if reasons is not None:
        picks = [pick for reason in reasons for pick in reason.picks]
        names = ("runner_up", "margin", "contributions", "note")
        columns |= {name: [getattr(pick, name) for pick in picks] for name in names}
    write_columns(columns, out)


def write_columns(columns: dict[str, list[Any]], out: str) -> None:
    from listwright.report.page import write_bytes

    ending = ".csv" if out == STANDARD else Path(out).suffix.lower()
    content = _json_lines(columns) if ending in (".jsonl", ".ndjson") else table_bytes(columns, ending)
    if out == STANDARD:
        print_bytes(content)
    else:
        write_bytes(Path(out), content)


def as_records(lists: Lists, reasons: list[Reasons] | None = None) -> list[dict[str, Any]]:
    records = [
        {"problem": name.item() if hasattr(name, "item") else name, "items": items.tolist(), "scores": scores.tolist()}
        for name, items, scores in zip(lists.problems.problem_ids, lists.item_ids, lists.scores or [], strict=True)
    ]
    if reasons is None:
        return records
    return [record | {"reasons": reason.to_dict()} for record, reason in zip(records, reasons, strict=True)]


def _json_lines(columns: dict[str, list[Any]]) -> bytes:
    """Columns as JSON lines, one object per row; NaN raises, as JSON cannot represent it."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode()


def table_bytes(columns: dict[str, Any], ending: str) -> bytes:
    if "contributions" in columns:
        texts = [json.dumps(entry, ensure_ascii=False) for entry in columns["contributions"]]
        columns = columns | {"contributions": texts}
    if ending in (".parquet", ".pq"):
        import pyarrow as pa
        from pyarrow import parquet

        sink = pa.BufferOutputStream()
        parquet.write_table(pa.table(columns), sink)
        return bytes(sink.getvalue())
    columns = {name: _escape_formulas(name, values) for name, values in columns.items()}
    rows = (columns, *zip(*columns.values(), strict=True))
    delimiter = "\t" if ending == ".tsv" else ","
    return "".join(delimiter.join(map(_cell, row)) + "\n" for row in rows).encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return str(value).lower() if isinstance(value, bool) else str(value)


def _escape_formulas(name: str, values: Any) -> Any:
    """Protect text that a spreadsheet would execute as a formula by an apostrophe, with a note on standard error."""
    if not isinstance(values, list) or not any(isinstance(value, str) and FORMULA.match(value) for value in values):
        return values
    print(
        f"Note: some values of {name!r} begin like a formula. They are written with a ' in front, so that no "
        "spreadsheet runs them. Write .jsonl or .parquet to keep them as they are.",
        file=sys.stderr,
    )
    return [f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value for value in values]
