"""Where commands read from and write to: files, or standard input and output."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.problems import Problems
    from listwright.tables import Columns

STANDARD = "-"


def read_problems(data: str, *, format: str | None = None, **options: Any) -> tuple[Problems, Columns]:
    """Problems from files or standard input, and how the table was read."""
    from listwright.tables import read_with_columns

    with _file(data, "data") as path:
        kind = format or (_kind(Path(path)) if data == STANDARD else None)
        return read_with_columns(path, format=kind, **options)


def read_for(
    model: Any, data: str, *, budget: float | None = None, format: str | None = None, **options: Any
) -> Problems:
    """Problems for a model, read as its training table was; sizes are only needed where there is a budget."""
    known = getattr(model, "columns_", None)
    if known is not None:
        known = known if budget is not None or model.budget is not None else replace(known, size=None)
        return read_problems(data, format=format, columns=known, **options)[0]
    signature = model.signature_
    if signature.n_context or signature.n_items or signature.n_vector or signature.feature_names is None:
        raise InputError("This model does not know the columns of its table. Fit it with `listwright fit`.")
    return read_problems(data, format=format, features=list(signature.feature_names), **options)[0]


def load_model(model: str) -> Any:
    """The model in a file or from standard input."""
    from listwright.storage import load

    with _file(model, "model") as path:
        return load(path)


def about_model(model: str) -> tuple[Any, dict[str, Any]]:
    """The model, and what its file says of itself."""
    from listwright.storage import inspect, load

    with _file(model, "model") as path:
        return load(path), inspect(path)


def save_model(model: Any, out: str) -> None:
    """The model to a file or standard output, whole or not at all."""
    from listwright.storage import save

    if out != STANDARD:
        save(model, out)
        return
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "model")
        sys.stdout.buffer.write((Path(folder) / "model").read_bytes())


def check_place(out: str) -> None:
    """Refuses a file that cannot be written, before any work is done for it."""
    path = Path(out)
    if out == STANDARD:
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name a file to write.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent} to write {path.name} into. Make it first.")


def check_folder(out: Path) -> None:
    """Refuses a place for a folder where something else is."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file. Name a folder to write the report into.")


@contextmanager
def _file(name: str, what: str) -> Iterator[str]:
    """A path to read from; standard input is kept in a file meanwhile, which errors do not name."""
    if name != STANDARD:
        yield name
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / what
        path.write_bytes(sys.stdin.buffer.read())
        try:
            yield str(path)
        except InputError as error:
            raise InputError(str(error).replace(str(path), "Standard input")) from None


def _kind(path: Path) -> str:
    """The kind of a table by how it starts."""
    with path.open("rb") as file:
        start = file.read(4096)
    if start.startswith(b"PAR1"):
        return "parquet"
    line = start.lstrip().partition(b"\n")[0]
    return "jsonl" if line.startswith(b"{") else "svmlight" if b" qid:" in line else "csv"
