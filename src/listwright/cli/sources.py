"""Input of commands: tables, models and standard input (`-`), and the options that say which column is which."""

from __future__ import annotations

import inspect
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, wraps
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from zipfile import is_zipfile

import typer

from listwright.cli import options as given
from listwright.cli.options import sizes_for
from listwright.cli.show import STANDARD, notes, print_bytes, progress
from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.tables import Columns

PACKED = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}  # how packed files start


def read_problems(
    data: list[str], *, format: str | None = None, max_memory: str | None = None, **options: Any
) -> tuple[Any, Columns]:
    from listwright.tables import read_with_columns, scan

    if max_memory is not None:
        if STANDARD in data or format not in (None, "parquet"):
            raise InputError("max_memory= and engine= are for Parquet files. Leave them out, or write Parquet first.")
        scanned = scan(data, max_memory=max_memory, **options)
        return scanned, scanned.columns
    if STANDARD not in data:
        return read_with_columns(data, format=format, **options)
    if len(data) > 1:
        raise InputError("Standard input (-) cannot be read together with files.")
    with _file(STANDARD, "data") as path:
        return read_with_columns(path, format=format or _kind(Path(path)), **options)


def read_for(
    model: Any,
    data: list[str],
    *,
    budget: float | None = None,
    per_group: Any = None,
    ids: Mapping[str, str | None] | None = None,
    **options: Any,
) -> Any:
    """Read problems for a trained model, with the columns of its training table; `ids` names other columns of ids."""
    known, named = getattr(model, "columns_", None), {role: name for role, name in (ids or {}).items() if name}
    if known is not None:
        known = known if budget is not None or model.budget is not None else replace(known, size=None)
        limited = per_group is not None or getattr(model, "per_group", None) is not None
        if known.catalogue is not None and known.catalogue == known.item:
            named = named | {"catalogue": named.get("item", known.item)}
        if model.new_items:  # which the model compares by name
            known = replace(known, catalogue_names=())
        known = replace(known if limited else replace(known, group=None), **named)
        problems = read_problems(data, columns=known, **options)[0]
        sizes_for(budget, problems, "Fit the model again on a table that has one.")
        return problems
    signature = model.signature_
    if signature.n_context or signature.n_items or signature.n_vector or signature.feature_names is None:
        raise InputError("This model has no record of its table's columns. Fit it with `listwright fit`.")
    return read_problems(data, features=list(signature.feature_names), fixed=True, **named, **options)[0]


def load_model(model: str, data: list[str], trust: str) -> Any:
    from listwright.loading import load_trusting

    if model == STANDARD and STANDARD in data:
        raise typer.BadParameter("MODEL and DATA cannot both come from standard input.", param_hint="DATA")
    with _file(model, "model") as path:
        try:
            return load_trusting(path, trust)
        except InputError as error:
            swapped = any(is_zipfile(name) for name in data) and not is_zipfile(path)
            raise InputError(f"{error} Is it the data? The model comes first." if swapped else str(error)) from None


def about_model(model: str, trust: str) -> tuple[Any, dict[str, Any]]:
    from listwright.loading import load_trusting
    from listwright.storage import inspect

    with _file(model, "model") as path:
        return load_trusting(path, trust), inspect(path)


def save_model(model: Any, out: str) -> None:
    # For standard output the model is first saved to a temporary file, so that an error leaves no half-written model in
    # a pipe.
    from listwright.storage import save

    if out != STANDARD:
        save(model, out)
        return
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "model")
        print_bytes((Path(folder) / "model").read_bytes())


def check_place(out: str, *read: str | Path | None) -> None:
    path = Path(out)
    if out == STANDARD:
        return
    for name in read:
        if name is not None and path.exists() and any(path.samefile(file) for file in _existing(str(name))):
            raise InputError(f"{path} is an input file and cannot also be the output. Name another file to write.")
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name a file to write.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent} to write {path.name} to. Create it first.")


def _existing(name: str) -> list[str]:
    if not name or name == STANDARD:
        return []
    paths = [name] if Path(name).exists() else glob(name, recursive=True)
    inside = [str(file) for path in paths if Path(path).is_dir() for file in Path(path).rglob("*") if file.is_file()]
    return [*paths, *inside]


def check_folder(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file. Name a folder to write the report into.")


@contextmanager
def _file(name: str, what: str) -> Iterator[str]:
    if name != STANDARD:
        yield name
        return
    if sys.stdin is None:
        raise InputError("Standard input is closed, so there is nothing to read. Name a file.")
    with tempfile.TemporaryDirectory() as folder:
        data = sys.stdin.buffer.read()
        packed = next((ending for ending, start in PACKED.items() if data.startswith(start)), "")
        path = Path(folder) / f"{what}{packed}"
        path.write_bytes(data)
        try:
            yield str(path)
        except InputError as error:
            raise InputError(str(error).replace(str(path), "Standard input")) from None


def _kind(path: Path) -> str:
    """Format of a table, detected from its first bytes: Parquet, JSON lines, SVMlight, or else CSV."""
    from listwright.frames.streams import content

    start = content(path)[:4096]
    if start.startswith(b"PAR1"):
        return "parquet"
    line = start.lstrip().partition(b"\n")[0]
    return "jsonl" if line.startswith((b"{", b"[{")) else "svmlight" if b" qid:" in line else "csv"


if TYPE_CHECKING:
    from listwright.problems import Problems
    from listwright.tables import Columns, Scan

    Read = Callable[..., tuple[Problems | Scan, Columns, str]]
else:
    Read = Any  # typer looks at annotations while it runs, and the library is not loaded yet

Names = list[str] | None


def on_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator that adds the table options of `_read` to a command."""
    own, offered = (inspect.signature(function, eval_str=True).parameters for function in (command, _read))
    table = {name: parameter for name, parameter in offered.items() if name not in own}
    first = [table[name] for name in ("data", "reward") if name in table]
    others = [parameter for name, parameter in table.items() if name not in ("data", "reward")]
    both = [*first, *list(own.values())[1:], *others]

    @wraps(command)
    def with_tables(**values: Any) -> None:
        command(partial(_read, **{name: values.pop(name) for name in table}), **values)

    named = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in both]
    with_tables.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]  # where typer finds the options
    return with_tables


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
    missing: Annotated[
        str, typer.Option(help="Missing features: auto fills them with the median and marks them; error refuses them.")
    ] = "auto",
    alternatives: Annotated[
        str | None,
        typer.Option(
            "--alternatives-column",
            help="Column of what items are alternatives of, such as the solver of a time slice: a larger item of a "
            "list makes its smaller alternatives worthless.",
        ),
    ] = None,
    weight: Annotated[
        str | None, typer.Option("--weight-column", help="Column with how much a problem counts.")
    ] = None,
    format: given.Format = None,
    max_memory: given.MaxMemory = None,
) -> Any:
    options = dict(locals())  # the options above, by name; those below are passed on in another form
    options |= {name: several(options[name]) for name in ("features", "vectors", "links")}
    options |= {name: several(options[name]) or () for name in ("categorical", "ignore")}
    options |= {"context": several(context) or "auto", "catalogue": catalogue or "auto"}
    with notes(), progress("reading"):
        return *read_problems(**options), reward


def log_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table options that also apply to a log of shown lists, without those left at their defaults."""
    names = ("features", "context", "vectors", "categorical", "ignore")
    options: dict[str, Any] = {name: several(values[name]) for name in names if values[name]}
    others = {"catalogue": None, "item": "item", "size": "size"}
    return options | {name: values[name] for name, usual in others.items() if values[name] != usual}


def several(values: Names) -> Names:
    """Split values of an option that may be repeated and may hold commas; None if the option was not given."""
    if not values:
        return None
    return [part.strip() for value in values for part in value.split(",") if part.strip()]
