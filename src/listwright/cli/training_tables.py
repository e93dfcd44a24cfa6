"""Commands that read a table with a reward: `fit`, `compare` and `check`.

The options that tell which column is which are declared once, as the signature of `_read`; the decorator `on_tables`
adds them to a command.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from listwright.cli import options as given
from listwright.cli.show import notes, progress
from listwright.cli.sources import read_problems

if TYPE_CHECKING:
    from listwright.problems import Problems
    from listwright.tables import Columns, Scan

    Read = Callable[..., tuple[Problems | Scan, Columns, str]]
else:
    Read = Any  # typer looks at annotations while it runs, and the library is not loaded yet

Names = list[str] | None


def on_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator that adds the table options of `_read` to a command."""
    own = inspect.signature(command, eval_str=True).parameters
    table = {name: one for name, one in inspect.signature(_read, eval_str=True).parameters.items() if name not in own}
    first = [table[name] for name in ("data", "reward") if name in table]
    others = [one for name, one in table.items() if name not in ("data", "reward")]
    both = [*first, *list(own.values())[1:], *others]

    @wraps(command)
    def joined(**values: Any) -> None:
        command(partial(_read, **{name: values.pop(name) for name in table}), **values)

    named = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in both]
    joined.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]  # where typer finds the options
    return joined


def _read(
    data: given.Data,
    reward: given.Reward,
    references: given.References = None,
    problem: Annotated[str, typer.Option("--problem-column", help="Column with the problem's id.")] = "problem",
    item: Annotated[str, typer.Option("--item-column", help="Column with the item's id; may be missing.")] = "item",
    size: Annotated[str, typer.Option("--size-column", help="Column with the item's size; may be missing.")] = "size",
    group: Annotated[
        str | None, typer.Option("--group-column", help="Column with the item's group, for --per-group.")
    ] = None,
    features: Annotated[
        Names,
        typer.Option(
            help="Feature columns, comma-separated or as a pattern such as 'f_*'; by "
            "default all numeric columns except the reward's."
        ),
    ] = None,
    context: Annotated[Names, typer.Option(help="Columns that describe the whole problem.")] = None,
    vectors: Annotated[
        Names,
        typer.Option(
            help="Columns on which similarity is measured: one column of lists, or several columns of numbers."
        ),
    ] = None,
    links: Annotated[
        Names, typer.Option(help="Columns that list ids of other items that an item refers to, such as citations.")
    ] = None,
    catalogue: Annotated[str | None, typer.Option(help="Column that identifies an item of a recurring set.")] = None,
    categorical: Annotated[Names, typer.Option(help="Columns of text to encode as 0/1 features.")] = None,
    ignore: Annotated[Names, typer.Option(help="Columns that are not features.")] = None,
    format: given.Format = None,
    max_memory: given.MaxMemory = None,
) -> Any:
    """Read the table of a command."""
    with notes(), progress("reading"):
        found = read_problems(
            data,
            reward=reward,
            references=references,
            problem=problem,
            item=item,
            size=size,
            group=group,
            features=several(features),
            context=several(context),
            vectors=several(vectors),
            links=several(links),
            catalogue=catalogue,
            categorical=several(categorical) or (),
            ignore=several(ignore) or (),
            format=format,
            max_memory=max_memory,
        )
    return *found, reward


def log_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table options that also apply to a log of shown lists, without those left at their defaults."""
    names = ("features", "context", "vectors", "categorical", "ignore")
    found: dict[str, Any] = {name: several(values[name]) for name in names if values[name]}
    others = {"catalogue": None, "item": "item", "size": "size"}
    return found | {name: values[name] for name, usual in others.items() if values[name] != usual}


def several(values: Names) -> Names:
    """Split values of an option that may be repeated and may hold commas; None if the option was not given."""
    if not values:
        return None
    return [part.strip() for value in values for part in value.split(",") if part.strip()]
