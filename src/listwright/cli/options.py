"""Options that several commands share, and checks of their combinations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.problems import Problems
    from listwright.tables import Scan

REWARDS = (
    "any:COLUMN, graded:COLUMN, share:COLUMN, sum:COLUMN, coverage:COLUMNS, probabilistic:COLUMNS, sqrt:COLUMNS, "
    "log:COLUMNS, facility:COLUMNS, rouge:COLUMN, rouge2:COLUMN, qrels:FILE, or FILE.py:FUNCTION, which is run"
)


def one_of(*choices: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if value not in choices:
            raise typer.BadParameter(f"must be one of {', '.join(choices)}. Got {value!r}.")
        return value

    return check


def _above_zero(budget: float | None) -> float | None:
    if budget is not None and not budget > 0:
        raise typer.BadParameter(f"must be above 0. Got {budget:g}.")
    return budget


DATA = (
    "Table with one row per candidate: Parquet, CSV, JSON lines or SVMlight; a file, a folder, a pattern, or - for "
    "standard input. Several are read as one."
)
Data = Annotated[list[str], typer.Argument(metavar="DATA", help=DATA)]
OptionalData = Annotated[
    list[str] | None, typer.Argument(metavar="DATA", help=f"{DATA} May be missing with --log.", show_default=False)
]
Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="Model file from `listwright fit`, or - for standard input.")
]
Reward = Annotated[str, typer.Option(help=f"Reward, the value of a list: {REWARDS}.")]
OptionalReward = Annotated[
    str | None,
    typer.Option("--reward", help=f"Reward, the value of a list; for tables: {REWARDS}.", show_default=False),
]
ModelReward = Annotated[
    str | None,
    typer.Option("--reward", help="Reward, the value of a list; by default the one that the model was trained for."),
]
References = Annotated[str | None, typer.Option(help="For rouge: table with columns problem and reference.")]
Length = Annotated[int | None, typer.Option(min=1, help="Number of items in a list.")]
Budget = Annotated[
    float | None, typer.Option(callback=_above_zero, help="Total size of a list, in the unit of the size column.")
]
CostBudget = Annotated[float | None, typer.Option(callback=_above_zero, help="Largest total cost of the picked rows.")]


def quota(text: str) -> Any:
    """Return 2, 1:3, a=1:3,b=2 as `per_group` takes it."""
    by_group, quotas = "=" in text, {}
    for part in text.split(",") if by_group else [text]:
        name, _, bounds = part.rpartition("=")
        try:
            ends = [int(end) if end.strip() else None for end in bounds.split(":")]
        except ValueError:
            ends = []
        if len(ends) not in (1, 2) or (by_group and not name) or ends == [None]:
            raise typer.BadParameter(f"give MOST, LEAST:MOST, or GROUP=LEAST:MOST,... Got {text!r}.")
        quotas[name] = ends[0] if len(ends) == 1 else tuple(ends)
    return quotas if by_group else quotas[""]


PerGroup = Annotated[
    Any,
    typer.Option(parser=quota, metavar="QUOTA", help="Most items of a group, or LEAST:MOST; by group as a=1:3,b=2."),
]
ShortLists = Annotated[
    bool, typer.Option("--allow-short", help="Accept problems with fewer candidates than the length.")
]
NewLevels = Annotated[
    str, typer.Option(help="What to do with categories that were not in training: error, or zeros (no category).")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")]
Format = Annotated[
    str | None, typer.Option(help="Format of DATA if the file name does not show it: parquet, csv, jsonl or svmlight.")
]
MaxMemory = Annotated[
    str | None, typer.Option(help="Read Parquet files in parts, using at most this much memory, such as 1GB.")
]
Engine = Annotated[str, typer.Option(help="Where to run: local (threads) or ray (a cluster).")]
Address = Annotated[
    str | None,
    typer.Option(
        help="Address of the Ray cluster: auto, host:6379 or ray://host:10001; by default one is started here."
    ),
]
Trust = Annotated[
    str,
    typer.Option(
        metavar="CLASSES",
        help="Classes that the model file needs, as module:Class, comma-separated. Their modules must be on "
        "PYTHONPATH and are imported.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def numbers(text: str, option: str, kind: type[int] | type[float]) -> list[Any]:
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        wanted = "whole numbers" if kind is int else "numbers"
        raise typer.BadParameter(
            f"give {wanted} separated by commas, such as 1,3,5. Got {text!r}.", param_hint=option
        ) from None


def engine_of(engine: str, address: str | None) -> Any:
    if engine != "ray" and address is not None:
        raise typer.BadParameter("needs --engine ray.", param_hint="--address")
    from listwright.engines import Ray, as_engine

    return Ray(address) if engine == "ray" else as_engine(engine)


def memory_of(max_memory: str | None, engine: str, checkpoint: str | None = None) -> str | None:
    # Clusters and checkpoints work on shards only, so both imply a limit of 1 GB unless `--max-memory` is given.
    return "1GB" if max_memory is None and (engine != "local" or checkpoint is not None) else max_memory


def one_limit(length: int | None, budget: float | None) -> None:
    if length is None and budget is None:
        message = "give the length of lists with --length (items) or --budget (total size)."
        raise typer.BadParameter(message, param_hint="--length / --budget")
    if length is not None and budget is not None:
        raise typer.BadParameter("give only one of the two.", param_hint="--length / --budget")


def groups_for(per_group: Any, problems: Problems | Scan, advice: str) -> Any:
    if per_group is not None and problems.groups is None:
        raise InputError(f"--per-group needs the groups of items, and there is no column of groups. {advice}")
    return per_group if isinstance(problems.groups, str) else by_label(per_group, problems.groups)


def by_label(per_group: Any, labels: Any) -> Any:
    """Return quotas by the labels that a table has, which may be numbers; a group that it lacks is named."""
    if labels is None or not isinstance(per_group, dict):
        return per_group
    named = {str(label): label for label in set(labels.tolist())}
    if unknown := sorted(set(per_group) - set(named)):
        shown = ", ".join(sorted(named)[:5]) + (", ..." if len(named) > 5 else "")
        raise InputError(f"--per-group names {unknown[0]!r}, but no row is in that group. Groups: {shown}.")
    return {named[name]: quota for name, quota in per_group.items()}


def sizes_for(budget: float | None, problems: Problems | Scan, advice: str) -> None:
    if budget is None:
        return
    if problems.sizes is None:
        raise InputError(f"--budget needs the sizes of items, and there is no column of sizes. {advice}")
    if not isinstance(problems.sizes, str) and budget < problems.sizes.min():
        raise InputError(f"No item fits into --budget {budget:g}: the smallest size is {problems.sizes.min():g}.")
