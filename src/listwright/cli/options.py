"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.problems import Problems

REWARDS = (
    "any:COLUMN, graded:COLUMN, coverage:COLUMNS, probabilistic:COLUMNS, sqrt:COLUMNS, log:COLUMNS, facility:COLUMNS, "
    "rouge:COLUMN, rouge2:COLUMN, qrels:FILE, or FILE.py:FUNCTION, which is run"
)
TABLE = (
    "Table with one row a candidate: Parquet, CSV, JSON lines or SVMlight; a file, a folder, a pattern, or - for "
    "standard input."
)

Data = Annotated[str, typer.Argument(metavar="DATA", help=TABLE)]
Tables = Annotated[list[str], typer.Argument(metavar="DATA...", help=f"{TABLE} Several are read as one.")]
Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="File that `listwright fit` wrote, or - for standard input.")
]
Reward = Annotated[str, typer.Option(help=f"What a list is worth: {REWARDS}.")]
ModelReward = Annotated[
    str | None, typer.Option("--reward", help="What a list is worth; by default what the model was trained for.")
]
References = Annotated[str | None, typer.Option(help="For rouge: table with columns problem and reference.")]
Length = Annotated[int | None, typer.Option(min=1, help="Items of a list.")]
Budget = Annotated[float | None, typer.Option(help="Total size of a list, in the unit of the size column.")]
ShortLists = Annotated[
    bool, typer.Option("--short-lists", help="Accept problems with fewer candidates than the length.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
Format = Annotated[
    str | None, typer.Option(help="Kind of DATA where its name does not tell: parquet, csv, jsonl, svmlight.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]

ProblemColumn = Annotated[str, typer.Option(help="Column with the problem's id.")]
Item = Annotated[str, typer.Option(help="Column with the item's id; may be missing.")]
Size = Annotated[str, typer.Option(help="Column with the item's size; may be missing.")]
Features = Annotated[
    list[str] | None, typer.Option(help="Feature columns, by commas or patterns such as 'f_*'; by default all numbers.")
]
Context = Annotated[list[str] | None, typer.Option(help="Columns that say something of the whole problem.")]
Vectors = Annotated[
    list[str] | None, typer.Option(help="Columns that similarity is measured on: one of lists, or several.")
]
Catalogue = Annotated[str | None, typer.Option(help="Column that names an item of a recurring set.")]
Categorical = Annotated[list[str] | None, typer.Option(help="Columns of text that become 0/1 features.")]
Ignore = Annotated[list[str] | None, typer.Option(help="Columns that are no features.")]


def several(values: Sequence[str] | None) -> list[str] | None:
    """Values of an option that may come by commas and more than once; None where it was left out.

    >>> several(["a,b", "c_*"])
    ['a', 'b', 'c_*']
    """
    if not values:
        return None
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def columns(
    problem: str,
    item: str,
    size: str,
    features: list[str] | None,
    context: list[str] | None,
    vectors: list[str] | None,
    catalogue: str | None,
    categorical: list[str] | None,
    ignore: list[str] | None,
) -> dict[str, Any]:
    """The column options as `tables.read` takes them."""
    return {
        "problem": problem,
        "item": item,
        "size": size,
        "features": several(features),
        "context": several(context),
        "vectors": several(vectors),
        "catalogue": catalogue,
        "categorical": several(categorical) or (),
        "ignore": several(ignore) or (),
    }


def numbers(text: str, option: str, kind: type[int] | type[float]) -> list[Any]:
    """Numbers by commas.

    >>> numbers("1,3,5", "--lengths", int)
    [1, 3, 5]
    """
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        wanted = "whole numbers" if kind is int else "numbers"
        raise typer.BadParameter(f"give {wanted} by commas, such as 1,3,5. Got {text!r}.", param_hint=option) from None


def one_limit(length: int | None, budget: float | None) -> None:
    """Exactly one of both must be given."""
    if (length is None) == (budget is None):
        raise typer.BadParameter("give either --length or --budget.", param_hint="--length")


def one_from_standard_input(model: str, data: str) -> None:
    """Standard input can be read once."""
    if model == data == "-":
        raise typer.BadParameter("MODEL and DATA cannot both come from standard input.", param_hint="DATA")


def sizes_for(budget: float | None, problems: Problems) -> None:
    """A budget needs sizes."""
    if budget is not None and problems.sizes is None:
        raise InputError("--budget needs a column of sizes, and this table has none. Name it with --size in fit.")
