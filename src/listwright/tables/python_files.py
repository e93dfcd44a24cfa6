"""Load a reward function from a Python file that the user names, as in `mine.py:worth`.

The file is executed. Callers that take the reward string from a model file, and not from the user, must make sure that
the user wants this code to run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

from listwright.errors import InputError


def load_function(path: str | Path, name: str) -> Callable[..., Any]:
    """Execute a Python file and return one of its functions."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no file {path}. Write the reward as FILE.py:FUNCTION.")
    found = getattr(_run(path), name, None)
    if not callable(found):
        raise InputError(f"{path} has no function {name!r}. Define `def {name}(problem, items)` there.")
    return _told(found, f"{path}:{name}")


def _told(function: Callable[..., Any], place: str) -> Callable[..., Any]:
    """Wrap a function so that its exceptions become an `InputError` that names `place`."""

    @wraps(function)
    def called(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            raise InputError(f"{place} failed: {type(error).__name__}: {error}") from error

    return called


def _run(path: Path) -> Any:
    """Execute a file as a module, which is not added to `sys.modules` and leaves no bytecode beside the file."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    try:
        exec(compile(path.read_bytes(), path, "exec"), vars(module))
    except Exception as error:
        raise InputError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    return module
