"""A small table of columns that prints itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from listwright._internal.extras import as_frame
from listwright._internal.pictures import html_table

SHOWN = 20  # rows that the repr prints


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Columns by name, all of the same length, that print as a table.

    It is what `Comparison` returns, so that results can be read without pandas. Call `to_frame` for anything more than
    looking at it.

    Attributes
    ----------
    columns : dict of str to ndarray
        The columns.
    backend : {"pandas", "polars", "pyarrow"} or None
        The kind of frame that it was computed from, which `to_frame` makes by default.

    See Also
    --------
    Comparison : Returns tables of means and differences.

    Examples
    --------
    >>> table = Table({"method": np.array(["SCP", "TopK"]), "value": np.array([0.953, 0.9])})
    >>> table
    method   value
    SCP     0.9530
    TopK    0.9000
    >>> table["value"].max(), table.records()[1]
    (np.float64(0.953), {'method': 'TopK', 'value': 0.9})
    """

    columns: dict[str, NDArray[Any]]
    backend: str | None = None

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return the column of that name."""
        return self.columns[name]

    def __len__(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def where(self, **values: Any) -> Table:
        """Return the rows that have the given values.

        Parameters
        ----------
        **values
            The value of each column; None accepts any.

        Returns
        -------
        Table
            The rows that match, in order.

        Examples
        --------
        >>> Table({"method": np.array(["SCP", "TopK"]), "value": np.array([0.953, 0.9])}).where(method="SCP")
        method   value
        SCP     0.9530
        """
        kept = np.ones(len(self), dtype=bool)
        for name, value in values.items():
            kept &= np.True_ if value is None else self.columns[name] == value
        return Table({name: column[kept] for name, column in self.columns.items()}, self.backend)

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per row, with plain Python values."""
        rows = zip(*(column.tolist() for column in self.columns.values()), strict=True)
        return [dict(zip(self.columns, row, strict=True)) for row in rows]

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] | None = None) -> Any:
        """Return the table as a frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The kind of frame. By default that of the frame behind it, or else the first that is installed.

        Returns
        -------
        DataFrame or Table
            A pandas or polars DataFrame, or a pyarrow Table.
        """
        return as_frame(self.columns, backend or self.backend)

    def __repr__(self) -> str:
        shown = {
            name: [f"{value:.4f}" if isinstance(value, float) else str(value) for value in column[:SHOWN].tolist()]
            for name, column in self.columns.items()
        }
        left = [column.dtype.kind not in "fiu" for column in self.columns.values()]
        text = align_columns([list(shown), *map(list, zip(*shown.values(), strict=True))], left)
        return text if len(self) <= SHOWN else f"{text}\n... {len(self) - SHOWN:,} more rows"

    def _repr_html_(self) -> str:
        rows = [list(record.values()) for record in self.records()[:SHOWN]]
        return html_table(f"{len(self):,} rows" if len(self) > SHOWN else "", list(self.columns), rows)


def align_columns(rows: list[list[str]], left: list[bool]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(left))]
    lines = (
        [cell.ljust(width) if side else cell.rjust(width) for cell, width, side in zip(row, widths, left, strict=True)]
        for row in rows
    )
    return "\n".join("  ".join(line).rstrip() for line in lines)
