"""`listwright demo`: a demonstration on simulated data, in half a minute.

Fits several methods on questions with passages, prints their lists side by side and writes an HTML page. With
`--tables`, it instead writes the example tables (`TABLES`) on which the other commands can be tried: past problems with
clicks, held-out ones, and new ones without clicks.

Typical use::

    listwright demo --out report.html
    listwright demo --tables examples
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import typer

from listwright.cli.show import progress, show_demo, show_json
from listwright.cli.written_lists import table_bytes

TABLES: dict[str, dict[str, Any]] = {
    "past.csv": {"n_readers": 200, "random_state": 1},
    "held_out.csv": {"n_readers": 100, "first": 200, "random_state": 2},
    "new.csv": {"n_readers": 20, "first": 300, "clicks": False, "random_state": 3},
}  # what readers saw, and clicked


def demo(
    out: Annotated[Path, typer.Option(help="File to write the report to.")] = Path("report.html"),
    tables: Annotated[
        Path | None, typer.Option(help="Write past.csv, held_out.csv and new.csv to this folder instead of a report.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False,
) -> None:
    """Train a policy that lists passages for made-up questions, compare it with other methods, and write a report with
    charts and lists. With --tables, write example tables for the other commands instead."""
    if tables is not None:
        written = write_tables(tables)
        show_json(written) if as_json else print("Wrote " + ", ".join(written))
        return
    with progress("learning"), ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        apart = pool.submit(_learn_apart)  # it imports and learns while this process does so with the other methods
        from listwright.experiments import demo as experiment
        from listwright.experiments.demo_report import report
        from listwright.report import write_page

        found = experiment.run(apart=apart.result)
    page = write_page(report(found), out)
    if as_json:
        show_json(found.records)
        return
    show_demo(found, page)


def _learn_apart() -> Any:
    """Fit half of the demo's methods. Runs in a second process, while the first one fits the others."""
    from listwright.experiments.demo import learn_apart

    return learn_apart()


def write_tables(folder: Path) -> list[str]:
    """Write the example tables of the README as CSV files."""
    # Readers differ between the tables, so that held-out and new problems really are new.
    from listwright.report.files import write_bytes
    from listwright.simulate.readers import table

    written = {folder / name: table_bytes(table(**settings), ".csv") for name, settings in TABLES.items()}
    for path, content in written.items():
        write_bytes(path, content)
    return [str(path) for path in written]
