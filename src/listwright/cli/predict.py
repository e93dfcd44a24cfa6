"""`listwright predict`: lists for new problems."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from listwright.cli import options as given
from listwright.cli.show import progress, show_json
from listwright.cli.sources import STANDARD, check_place, load_model, read_for
from listwright.cli.written_lists import as_records, check_ending, write_lists


def predict(
    model: given.Model,
    data: given.Data,
    out: Annotated[
        str, typer.Option("-o", "--out", help="File to write: .csv, .tsv, .jsonl or .parquet; - for standard output.")
    ] = STANDARD,
    length: given.Length = None,
    budget: given.Budget = None,
    short_lists: given.ShortLists = False,
    explain: Annotated[bool, typer.Option("--explain", help="Add the reasons of each pick.")] = False,
    format: given.Format = None,
    as_json: given.AsJson = False,
) -> None:
    """Build a list for each problem of a table: one row a pick, in order. The model knows its columns."""
    check_place(out)
    check_ending(out)
    given.one_from_standard_input(model, data)
    learned = load_model(model)
    with progress("reading"):
        problems = read_for(learned, data, budget=budget, format=format)
    given.sizes_for(budget, problems)
    lists = learned.predict(problems, length=length, budget=budget, short_lists=short_lists or None)
    reasons = None
    if explain:
        reasons = []
        with progress("explaining") as tick:
            for i in range(len(lists)):
                reasons.append(lists.explain(i))
                tick(i + 1, len(lists))
    if out != STANDARD or not as_json:
        write_lists(lists, out, reasons)
    if as_json:
        show_json(as_records(lists, reasons))
    elif out != STANDARD:
        print(f"Wrote {len(lists):,} lists to {out}.", file=sys.stderr)
