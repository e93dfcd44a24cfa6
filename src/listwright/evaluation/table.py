"""A small table of columns that prints itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

SHOWN = 20  # rows printed


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Columns by name, all equally long.

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

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def where(self, **values: Any) -> Table:
        """The rows with these values; None stands for any."""
        kept = np.ones(len(self), dtype=bool)
        for name, value in values.items():
            kept &= np.True_ if value is None else self.columns[name] == value
        return Table({name: column[kept] for name, column in self.columns.items()})

    def records(self) -> list[dict[str, Any]]:
        """One dictionary a row, of plain Python values."""
        rows = zip(*(column.tolist() for column in self.columns.values()), strict=True)
        return [dict(zip(self.columns, row, strict=True)) for row in rows]

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] | None = None) -> Any:
        """The table as a frame of pandas, polars or pyarrow: the first that is installed, or `backend`."""
        import narwhals as nw

        return nw.from_dict(self.columns, backend=backend or _installed()).to_native()

    def __repr__(self) -> str:
        shown = {name: [_text(value) for value in column[:SHOWN].tolist()] for name, column in self.columns.items()}
        left = [column.dtype.kind not in "fiu" for column in self.columns.values()]
        text = aligned([list(shown), *map(list, zip(*shown.values(), strict=True))], left)
        return text if len(self) <= SHOWN else f"{text}\n... {len(self) - SHOWN:,} more rows"


def aligned(rows: list[list[str]], left: list[bool]) -> str:
    """Rows of cells as lines of text, columns as wide as they need to be.

    Examples
    --------
    >>> print(aligned([["a", "1"], ["bb", "20"]], [True, False]))
    a    1
    bb  20
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(left))]
    lines = (
        [cell.ljust(width) if side else cell.rjust(width) for cell, width, side in zip(row, widths, left, strict=True)]
        for row in rows
    )
    return "\n".join("  ".join(line).rstrip() for line in lines)


def _text(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _installed() -> Any:
    from importlib.util import find_spec

    return next(name for name in ("pandas", "polars", "pyarrow") if find_spec(name))
