"""Input and output of commands: files, or standard input and output, written as `-`.

Reading functions return problems and models, and translate what only the command line knows (standard input, options
that a model makes unnecessary). The `check_` functions refuse a bad place to write to before any work is done, rather
than after minutes of learning.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import is_zipfile

from listwright.cli.options import groups_for, one_from_standard_input, sizes_for
from listwright.cli.show import print_bytes
from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.tables import Columns

STANDARD = "-"
PACKED = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}  # how packed files start


def read_problems(
    data: list[str], *, format: str | None = None, max_memory: str | None = None, **options: Any
) -> tuple[Any, Columns]:
    """Read problems from files or standard input."""
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
    model: Any, data: list[str], *, budget: float | None = None, per_group: int | None = None, **options: Any
) -> Any:
    """Read problems for a trained model, with the columns of its training table."""
    known = getattr(model, "columns_", None)
    if known is not None:
        known = known if budget is not None or model.budget is not None else replace(known, size=None)
        limited = per_group is not None or getattr(model, "per_group", None) is not None
        known = known if limited else replace(known, group=None)
        problems = read_problems(data, columns=known, **options)[0]
        sizes_for(budget, problems, "Fit the model again on a table that has one.")
        groups_for(per_group, problems, "Fit the model again with --group-column.")
        return problems
    signature = model.signature_
    if signature.n_context or signature.n_items or signature.n_vector or signature.feature_names is None:
        raise InputError("This model has no record of its table's columns. Fit it with `listwright fit`.")
    return read_problems(data, features=list(signature.feature_names), fixed=True, **options)[0]


def load_model(model: str, data: list[str], trust: str) -> Any:
    """Load a model from a file or standard input."""
    from listwright.storage.load_trusting import load_trusting

    one_from_standard_input(model, data)
    with _file(model, "model") as path:
        try:
            return load_trusting(path, trust)
        except InputError as error:
            swapped = any(is_zipfile(name) for name in data) and not is_zipfile(path)
            raise InputError(f"{error} Is it the data? The model comes first." if swapped else str(error)) from None


def about_model(model: str, trust: str) -> tuple[Any, dict[str, Any]]:
    """Load a model, and return it with the metadata of its file."""
    from listwright.storage import inspect
    from listwright.storage.load_trusting import load_trusting

    with _file(model, "model") as path:
        return load_trusting(path, trust), inspect(path)


def save_model(model: Any, out: str) -> None:
    """Write a model to a file or standard output, completely or not at all."""
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
    """Raise `InputError` if a file cannot be written, or is one of the files that the command reads."""
    path = Path(out)
    if out == STANDARD:
        return
    for name in read:
        if name is not None and path.exists() and any(path.samefile(one) for one in _existing(str(name))):
            raise InputError(f"{path} is an input file and cannot also be the output. Name another file to write.")
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name a file to write.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent} to write {path.name} to. Create it first.")


def _existing(name: str) -> list[str]:
    """Existing files that an argument stands for: the file, the matches of a pattern, the contents of a folder."""
    if not name or name == STANDARD:
        return []
    found = [name] if Path(name).exists() else glob(name, recursive=True)
    inside = [str(file) for one in found if Path(one).is_dir() for file in Path(one).rglob("*") if file.is_file()]
    return [*found, *inside]


def check_folder(out: Path) -> None:
    """Raise `InputError` if the folder for a report is an existing file."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file. Name a folder to write the report into.")


@contextmanager
def _file(name: str, what: str) -> Iterator[str]:
    """Context manager that yields a path to read from."""
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
    from listwright.tables.streams import content

    start = content(path)[:4096]
    if start.startswith(b"PAR1"):
        return "parquet"
    line = start.lstrip().partition(b"\n")[0]
    return "jsonl" if line.startswith((b"{", b"[{")) else "svmlight" if b" qid:" in line else "csv"
