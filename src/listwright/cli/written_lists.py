"""Write lists to CSV, TSV, JSON lines or Parquet, one row per pick.

The format follows from the ending of the file; standard output gets CSV. Files are written completely or not at all.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from listwright.cli.show import print_bytes
from listwright.cli.sources import STANDARD
from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.lists import Lists
    from listwright.reasons.result import Reasons

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq")
FORMULA = re.compile(r"\s*(=|[-+@].*[(!|])")  # what a spreadsheet would run; @name and -7 are names and numbers


def check_ending(out: str) -> None:
    """Raise `InputError` for an ending that no writer handles, before any work is done."""
    if out != STANDARD and Path(out).suffix.lower() not in ENDINGS:
        raise InputError(f"Lists go to a file that ends in {', '.join(ENDINGS)}. Got {out}.")


def write_lists(lists: Lists, out: str, reasons: list[Reasons] | None = None) -> None:
    """Write lists with one row per pick: problem, position, item, score and so on."""
    columns = {name: column.tolist() for name, column in lists.to_dict().items()}
    if reasons is not None:
        columns |= _told([pick for one in reasons for pick in one.picks])
    write_columns(columns, out)


def write_columns(columns: dict[str, list[Any]], out: str) -> None:
    """Write columns of equal length to a file or standard output."""
    from listwright.report.files import write_bytes

    ending = ".csv" if out == STANDARD else Path(out).suffix.lower()
    content = _json_lines(columns) if ending in (".jsonl", ".ndjson") else table_bytes(columns, ending)
    if out == STANDARD:
        print_bytes(content)
    else:
        write_bytes(Path(out), content)


def as_records(lists: Lists, reasons: list[Reasons] | None = None) -> list[dict[str, Any]]:
    """Lists as JSON-ready dicts, for `predict --json`."""
    records = [
        {"problem": _plain(name), "items": items.tolist(), "scores": scores.tolist()}
        for name, items, scores in zip(lists.problems.problem_ids, lists.item_ids, lists.scores or [], strict=True)
    ]
    if reasons is None:
        return records
    told = [{"reasons": one.to_dict()} for one in reasons]
    return [record | more for record, more in zip(records, told, strict=True)]


def _told(picks: list[Any]) -> dict[str, list[Any]]:
    """Return the reasons of all picks as columns."""
    return {
        "runner_up": [pick.runner_up for pick in picks],
        "margin": [pick.margin for pick in picks],
        "contributions": [pick.contributions for pick in picks],
        "note": [pick.note for pick in picks],
    }


def _json_lines(columns: dict[str, list[Any]]) -> bytes:
    """Columns as JSON lines, one object per row; NaN raises, as JSON cannot represent it."""
    rows = zip(*columns.values(), strict=True)
    return "".join(
        json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False, allow_nan=False) + "\n" for row in rows
    ).encode()


def table_bytes(columns: dict[str, Any], ending: str) -> bytes:
    """Columns as the bytes of a Parquet, CSV or TSV file."""
    if "contributions" in columns:
        texts = [json.dumps(entry, ensure_ascii=False) for entry in columns["contributions"]]
        columns = columns | {"contributions": texts}
    if ending in (".parquet", ".pq"):
        return _parquet(columns)
    columns = {name: _harmless(name, values) for name, values in columns.items()}
    rows = (columns, *zip(*columns.values(), strict=True))
    delimiter = "\t" if ending == ".tsv" else ","
    return "".join(delimiter.join(map(_cell, row)) + "\n" for row in rows).encode()


def _parquet(columns: dict[str, Any]) -> bytes:
    """Columns as the bytes of a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table(columns), sink)
    return bytes(sink.getvalue())


def _cell(value: Any) -> str:
    """Return a value as a cell of CSV: text in quotes, numbers bare, nothing for a missing value."""
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return str(value).lower() if isinstance(value, bool) else str(value)


def _harmless(name: str, values: Any) -> Any:
    """Protect text that a spreadsheet would execute as a formula, with a leading apostrophe and a note on standard
    error.
    """
    if not isinstance(values, list) or not any(isinstance(one, str) and FORMULA.match(one) for one in values):
        return values
    print(
        f"Note: some values of {name!r} begin like a formula. They are written with a ' in front, so that no "
        "spreadsheet runs them. Write .jsonl or .parquet to keep them as they are.",
        file=sys.stderr,
    )
    return [f"'{one}" if isinstance(one, str) and FORMULA.match(one) else one for one in values]


def _plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python object."""
    return value.item() if hasattr(value, "item") else value
