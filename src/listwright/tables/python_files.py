"""A function from a Python file that the user names."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from listwright.errors import InputError


def load_function(path: str | Path, name: str) -> Callable[..., Any]:
    """Runs the file and gives its function `name`; what goes wrong inside it later is an `InputError` too."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no file {path}. Write the reward as FILE.py:FUNCTION.")
    found = getattr(_run(path), name, None)
    if not callable(found):
        raise InputError(f"{path} has no function {name!r}. Define `def {name}(problem, items)` there.")
    return _told(found, f"{path}:{name}")


def _told(function: Callable[..., Any], place: str) -> Callable[..., Any]:
    @wraps(function)
    def called(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            raise InputError(f"{place} failed: {type(error).__name__}: {error}") from error

    return called


def _run(path: Path) -> Any:
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is not a Python file.")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    return module
