"""`listwright predict` and `listwright explain`: lists for the problems of a new table, and the reasons for one of
them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from listwright.cli import options as given
from listwright.cli.show import STANDARD, as_records, check_ending, many, progress, show_json, write_lists
from listwright.cli.sources import check_place, load_model, read_for
from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.problems import Problems


def predict(
    model: given.Model,
    data: given.Data,
    out: Annotated[
        str, typer.Option("-o", "--out", help="File to write: .csv, .tsv, .jsonl or .parquet; - for standard output.")
    ] = STANDARD,
    length: given.Length = None,
    budget: given.Budget = None,
    per_group: given.PerGroup = None,
    allow_short: given.ShortLists = False,
    explain: Annotated[bool, typer.Option("--explain", help="Add the reasons for each pick.")] = False,
    new_levels: given.NewLevels = "error",
    format: given.Format = None,
    max_memory: given.MaxMemory = None,
    engine: given.Engine = "local",
    address: given.Address = None,
    trust: given.Trust = "",
    as_json: given.AsJson = False,
) -> None:
    """Build a list for each problem of a table: one row per pick, in order. The model file remembers the columns."""
    check_place(out, model, *data)
    check_ending(out)
    learned = load_model(model, data, trust)
    learned.engine, memory = given.engine_of(engine, address), given.memory_of(max_memory, engine)
    if memory is not None and (explain or as_json or Path(out).suffix.lower() not in (".parquet", ".pq")):
        raise InputError("Lists that are built in parts go to a .parquet file, without reasons. Name one with --out.")
    with progress("reading"):
        problems = read_for(
            learned, data, budget=budget, per_group=per_group, format=format, new_levels=new_levels, max_memory=memory
        )
    lists = learned.predict(
        problems, length=length, budget=budget, allow_short=allow_short or None, per_group=per_group
    )
    if memory is not None:
        with progress("building lists"):
            lists.to_parquet(out)
        print(f"Wrote {many(len(lists), 'list')} to {out}.", file=sys.stderr)
        return
    reasons = None
    if explain:
        reasons = []
        with progress("explaining") as report:
            for i in range(len(lists)):
                reasons.append(lists.explain(i))
                report("explaining", i + 1, len(lists))
    if out != STANDARD or not as_json:
        write_lists(lists, out, reasons)
    if as_json:
        show_json(as_records(lists, reasons))
    elif out != STANDARD:
        print(f"Wrote {many(len(lists), 'list')} to {out}.", file=sys.stderr)


def explain(
    model: given.Model,
    data: given.Data,
    problem: Annotated[str, typer.Option(help="Id of the problem.")],
    length: given.Length = None,
    budget: given.Budget = None,
    allow_short: given.ShortLists = False,
    new_levels: given.NewLevels = "error",
    format: given.Format = None,
    trust: given.Trust = "",
    as_json: given.AsJson = False,
) -> None:
    """Explain one list: what each group of features adds to the score of a pick, how far behind the runner-up is, and
    which pick made a skipped item redundant."""
    from listwright.evaluation.explain import explain as explain_list

    learned = load_model(model, data, trust)
    problems = read_for(learned, data, budget=budget, format=format, new_levels=new_levels)
    i = number_of(problems, problem)
    reasons = explain_list(learned, problems, i, length=length, budget=budget, allow_short=allow_short or None)
    if as_json:
        show_json(reasons.to_dict())
    else:
        print(reasons)


def number_of(problems: Problems, name: str) -> int:
    """Index of the problem with a given id."""
    for i, identifier in enumerate(problems.problem_ids):
        if str(identifier) == name:
            return i
    examples = ", ".join(str(identifier) for identifier in problems.problem_ids[:3])
    raise InputError(f"There is no problem {name!r} in the table. It has {len(problems):,}, such as {examples}.")
