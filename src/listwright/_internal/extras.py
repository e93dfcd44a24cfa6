"""Optional packages and warnings. A package that is installed but broken counts as absent."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from pathlib import Path
from traceback import walk_tb
from types import FrameType
from typing import Any

from listwright.errors import BrokenExtraWarning, MissingExtra

_broken: dict[str, str] = {}  # why a package cannot be imported; importing it again would take as long, and fail


def find_extra(package: str, *, instead: str) -> Any:
    """Return an optional package, or None; the first time that an installed one fails, a warning says why."""
    known = package in _broken
    module = _import(package)
    if module is None and not known and package in _broken:
        reason = f"{package} is installed, but cannot be imported here ({_broken[package]})."
        warn(f"{reason} {instead} is used instead.", BrokenExtraWarning)
    return module


def require_extra(package: str, problem: str, *, extra: str) -> Any:
    module = _import(package)
    if module is None and package in _broken:
        problem = f"{problem} {package} is installed, but cannot be imported here ({_broken[package]})."
    if module is None:
        raise MissingExtra(problem, extra=extra)
    return module


def as_missing(error: ImportError | OSError, what: str, *, extra: str) -> MissingExtra:
    """Return what to raise where a module of ours could not be imported; an error of our own is raised again."""
    names = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    outside = (name for name in names if name.partition(".")[0] not in ("importlib", "listwright"))
    absent = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    package = (absent or next(outside, "listwright")).partition(".")[0]
    if package == "listwright":
        raise error
    why = f" It is installed, but cannot be imported here ({type(error).__name__}: {error})."
    return MissingExtra(f"{what} needs {package}." + ("" if absent else why), extra=extra)


def _import(package: str) -> Any:
    """Return a package or None, and remember why one that is there cannot be imported."""
    if package in _broken:
        return None
    try:
        return import_module(package)
    except Exception as error:  # noqa: BLE001  a broken package may raise anything: OSError, AttributeError, ...
        absent = isinstance(error, ModuleNotFoundError) and f"{package}.".startswith(f"{error.name}.")
        if not absent:
            reason = " ".join(str(error).split())
            _broken[package] = f"{type(error).__name__}: {reason}"[:200]
        return None


def as_frame(columns: dict[str, Any], backend: Any = None) -> Any:
    import narwhals as nw

    return nw.from_dict(columns, backend=backend or installed_backend()).to_native()


def installed_backend() -> Any:
    optional = (name for name in ("pandas", "polars") if find_extra(name, instead="Another kind of frame"))
    return next(optional, "pyarrow")


PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning at the line outside of this package that the call came from."""
    warnings.warn(message, category, stacklevel=_outside())


def _outside() -> int:
    """Return the `stacklevel`, as seen from `warn`, of the innermost frame that is not of this package."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
