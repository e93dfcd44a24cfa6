"""Columns as frames of whichever library is installed."""

from __future__ import annotations

from typing import Any

from listwright._internal.extras import find_extra


def as_frame(columns: dict[str, Any], backend: Any = None) -> Any:
    """Return columns as a frame."""
    import narwhals as nw

    return nw.from_dict(columns, backend=backend or installed_backend()).to_native()


def installed_backend() -> Any:
    """Return the first of "pandas", "polars" and "pyarrow" that is installed."""
    optional = (name for name in ("pandas", "polars") if find_extra(name, instead="Another kind of frame"))
    return next(optional, "pyarrow")
