"""Optional packages. One that is installed but broken, such as LightGBM without libgomp, counts as absent."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from listwright._internal.warn import warn
from listwright.errors import BrokenExtraWarning, MissingExtra

_broken: dict[str, str] = {}  # why a package cannot be imported; importing it again would take as long, and fail


def find_extra(package: str, *, instead: str) -> Any:
    """Return an optional package, or None where it cannot be imported.

    The first time that an installed package fails, a warning says why, and what is used `instead`.
    """
    known = package in _broken
    module = _import(package)
    if module is None and not known and package in _broken:
        reason = f"{package} is installed, but cannot be imported here ({_broken[package]})."
        warn(f"{reason} {instead} is used instead.", BrokenExtraWarning)
    return module


def require_extra(package: str, problem: str, *, extra: str) -> Any:
    """Return an optional package, or raise `MissingExtra` with the problem and the command that installs it."""
    module = _import(package)
    if module is None and package in _broken:
        problem = f"{problem} {package} is installed, but cannot be imported here ({_broken[package]})."
    if module is None:
        raise MissingExtra(problem, extra=extra)
    return module


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
    """Return columns as a frame."""
    import narwhals as nw

    return nw.from_dict(columns, backend=backend or installed_backend()).to_native()


def installed_backend() -> Any:
    """Return the first of "pandas", "polars" and "pyarrow" that is installed."""
    optional = (name for name in ("pandas", "polars") if find_extra(name, instead="Another kind of frame"))
    return next(optional, "pyarrow")
