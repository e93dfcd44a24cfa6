"""`listwright plan`, and options and helpers of commands that take a log of shown lists instead of a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from listwright.cli import options as given
from listwright.cli.show import notes, progress, show_json
from listwright.cli.sources import load_model
from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.feedback import Log

LogFiles = Annotated[
    list[str] | None,
    typer.Option("--log", help="Log of shown lists with their outcomes, instead of DATA: Parquet, CSV or JSON lines."),
]
Cascade = Annotated[bool, typer.Option("--cascade", help="With --log: users stop looking at the first click.")]
Propensity = Annotated[
    str,
    typer.Option(
        callback=given.one_of("logged", "frequency", "model", "examination"),
        help="With --log: chances of the shown items as logged, or estimated by their frequency, a model, or by how "
        "often users look at each position (examination).",
    ),
]
ListColumn = Annotated[str | None, typer.Option(help="With --log: column with the id of the list.")]
PositionColumn = Annotated[str | None, typer.Option(help="With --log: column with the position in the list.")]
OutcomeColumn = Annotated[str | None, typer.Option(help="With --log: column with the outcome, from 0 to 1.")]
ItemColumn = Annotated[str | None, typer.Option(help="With --log: column with the id of the item.")]
DropBad = Annotated[
    bool, typer.Option("--drop-bad", help="With --log: leave out lists with faults, and say how many there are.")
]
PropensityColumn = Annotated[
    str | None, typer.Option(help="With --log: column with the probability (propensity) of each shown item.")
]


def columns_of(
    list_column: str | None, position: str | None, outcome: str | None, propensity: str | None, item: str | None = None
) -> dict[str, str | None]:
    """Return the columns of a log that the user has named, as keyword arguments of `Log.from_parquet`."""
    named = {"list_id": list_column, "position": position, "outcome": outcome, "propensity": propensity, "item": item}
    return {name: column for name, column in named.items() if column is not None}


def read_log(
    files: list[str], *, cascade: bool, columns: Mapping[str, Any], options: Mapping[str, Any], drop_bad: bool = False
) -> Log:
    from listwright.feedback import Log

    with notes(), progress("reading"):
        try:
            log = Log.from_parquet(list(files), cascade=cascade or None, drop_bad=drop_bad, **columns, **options)
        except InputError as error:
            raise InputError(f"{error}{_other_faults(files, {**options, **columns})}") from None
    if log.dropped:
        print(f"Left out {log.dropped:,} lists with faults.", file=sys.stderr)
    return log


def _other_faults(files: list[str], columns: Mapping[str, Any]) -> str:
    try:
        faults = [fault for fault in _faults(files, columns) if fault.by_list]
    except InputError:
        return ""
    kinds = ", ".join(f"{fault.kind} ({fault.count:,})" for fault in faults)
    advice = "See them with `listwright check --log`, or leave these lists out with --drop-bad."
    return f" Lists with faults: {kinds}. {advice}" if faults else ""


def _faults(files: list[str], columns: Mapping[str, Any]) -> list[Any]:
    from listwright.feedback.log_frames import OPTIONS, alike_files, read_faults

    named = {role: columns.get(name) for role, name in OPTIONS.items()}
    ignored = columns.get("ignore") or ()
    return [fault for some in alike_files(files, named) for fault in read_faults(*some, ignored)]


def check_log(files: list[str], columns: Mapping[str, Any], *, as_json: bool) -> None:
    with progress("checking"):
        faults = _faults(files, columns)
    if as_json:
        show_json([fault.to_dict() for fault in faults])
    else:
        print("\n".join(map(str, faults)) or "No faults.")
    if any(fault.by_list or fault.kind == "types" for fault in faults):
        raise typer.Exit(1)


def log_for(
    model: Any, files: list[str], *, cascade: bool, columns: Mapping[str, Any], new_levels: str, drop_bad: bool = False
) -> Log:
    """Read a log for a trained model, with the features of candidates encoded as in training."""
    from listwright.feedback.log_frames import MARKS, columns_in, prefixed_columns

    options: dict[str, Any] = {}
    known, names = getattr(model, "columns_", None), model.signature_.feature_names
    if known is not None:
        options = {"columns": known, "new_levels": new_levels}
    elif names is not None and not any(prefixed_columns(columns_in(files[:1]), kind) for kind in MARKS):
        options = {"features": list(names)}
    return read_log(files, cascade=cascade, columns=columns, options=options, drop_bad=drop_bad)


@contextmanager
def add_hint(data: list[str]) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise InputError(f"{error} {hint(data)}".strip()) from None


def hint(data: list[str]) -> str:
    """Return a sentence that suggests `--log` if a table has the columns of a log; otherwise an empty string."""
    from listwright.feedback.log_frames import columns_in, roles

    try:
        columns = roles(columns_in(data), {}, "")
    except (InputError, OSError):
        return ""
    signs = [columns[role] for role in ("position", "shown", "propensity") if role in columns]
    if not signs or "outcome" not in columns:
        return ""
    return (
        f"This looks like a log of lists that were shown (column {signs[0]!r}), where items that were not shown have "
        "no outcome. To learn from a log: listwright fit --log FILE."
    )


def one_source(data: list[str] | None, log: list[str] | None) -> None:
    if not data and not log:
        raise typer.BadParameter("give a table, or a log with --log.", param_hint="DATA")
    if data and log:
        raise typer.BadParameter("replaces DATA; give only one of them.", param_hint="--log")


def needs_reward(reward: str | None) -> str:
    if reward is None:
        raise typer.BadParameter(f"define the value of a list: {given.REWARDS}.", param_hint="--reward")
    return reward


def check_learner(learner: str) -> str:
    if learner not in ("ridge", "boosting"):
        raise InputError(f"--learner must be ridge or boosting. Got {learner!r}.")
    return learner


def plan(
    model: given.Model,
    log: Annotated[list[str], typer.Option("--log", help="Log of today's lists: Parquet, CSV or JSON lines.")],
    loss_budget: Annotated[
        float, typer.Option(help="What may be lost per list if the candidate is worth nothing.")
    ] = 0.02,
    difference: Annotated[
        float | None, typer.Option(help="Difference per list to look for; by default what the log suggests.")
    ] = None,
    by: Annotated[
        str, typer.Option(help="Show the candidate by whole lists or slot by slot: lists or slots.")
    ] = "lists",
    cascade: Cascade = False,
    list_column: ListColumn = None,
    position_column: PositionColumn = None,
    outcome_column: OutcomeColumn = None,
    propensity_column: PropensityColumn = None,
    item_column: ItemColumn = None,
    drop_bad: DropBad = False,
    trust: given.Trust = "",
    as_json: given.AsJson = False,
) -> None:
    """Plan how many lists it takes to judge a candidate model against today's policy, and which share of the lists it
    may build. `listwright serve --candidate` runs the trial."""
    from listwright.feedback import plan as plan_lists

    columns = columns_of(list_column, position_column, outcome_column, propensity_column, item_column)
    learned = load_model(model, log, trust)
    read = log_for(learned, log, cascade=cascade, columns=columns, new_levels="error", drop_bad=drop_bad)
    with notes(), progress("planning"):
        planned = plan_lists(read, learned.predict, loss_budget=loss_budget, difference=difference, by=by)
    if as_json:
        show_json(asdict(planned))
    else:
        print(planned)
