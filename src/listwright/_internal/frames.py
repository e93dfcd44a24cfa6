"""Columns as frames of whichever library is installed."""

from __future__ import annotations

from typing import Any

from listwright._internal.extras import find_extra


def as_frame(columns: dict[str, Any], backend: Any = None) -> Any:
    """Returns columns as a frame.

    Parameters
    ----------
    columns : dict of str to ndarray
        By name, all of the same length.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The kind of frame. By default the first of these that is installed.

    Returns
    -------
    DataFrame or Table
        A pandas or polars DataFrame, or a pyarrow Table.
    """
    import narwhals as nw

    return nw.from_dict(columns, backend=backend or installed_backend()).to_native()


def installed_backend() -> Any:
    """Returns the first of "pandas", "polars" and "pyarrow" that is installed."""
    optional = (name for name in ("pandas", "polars") if find_extra(name, instead="Another kind of frame"))
    return next(optional, "pyarrow")
