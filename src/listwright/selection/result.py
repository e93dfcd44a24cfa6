"""The rows that were selected, in order, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Ints
from listwright.lists import installed_backend


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """What `select` gives: rows in the order in which they were picked.

    Iterating, `len` and `numpy.asarray` go over the rows, so that `vectors[selection.rows]` is the selected table.

    Parameters
    ----------
    rows : numpy.ndarray of int
        Row numbers of the picks, best first. Rows passed as `given` are not among them.
    gains : numpy.ndarray of float
        What each pick added to the value when it was picked; they never rise.
    value : float
        What the picks, together with the rows passed as `given`, are worth.
    bound : str
        What is proved of the value, in words.
    ratio : float or None
        The same as a number: the picks add at least `ratio` times what the best selection would add. None where
        nothing is proved.
    ids : numpy.ndarray or None
        Names of the picked rows, where the input had names.
    device : str
        Where the work was done: "cpu" or the name of the GPU.

    Examples
    --------
    >>> import numpy as np
    >>> import listwright as lw
    >>> selection = lw.select(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]), 2)
    >>> selection
    Selection: 2 rows worth 2.99388: at least 0.998 of the best 2 rows for these data; for any data 1 - 1/e = 0.632
    >>> selection.rows
    array([1, 2])
    """

    rows: Ints
    gains: Floats
    value: float
    bound: str
    ratio: float | None
    ids: NDArray[Any] | None = None
    device: str = "cpu"

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[int]:
        return iter(self.rows.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.rows, dtype=dtype, copy=copy)

    @property
    def values(self) -> Floats:
        """What the first 1, 2, 3, ... picks are worth, together with the rows that were given."""
        return self.value - self.gains.sum() + np.cumsum(self.gains)

    @property
    def knee(self) -> int:
        """The number of picks after which more bring little: where the curve of values is highest above its chord.

        Examples
        --------
        >>> Selection(np.arange(4), np.array([8.0, 4.0, 0.5, 0.5]), 13.0, "", None).knee
        2
        """
        if len(self.gains) < 3 or self.gains.sum() <= 0:
            return len(self.gains)
        share = np.cumsum(self.gains) / self.gains.sum()
        return int(np.argmax(share - np.arange(1, len(share) + 1) / len(share))) + 1

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Columns with one entry per pick: position (from 1), row, item where rows have names, gain, value so far."""
        columns: dict[str, NDArray[Any]] = {"position": np.arange(1, len(self) + 1), "row": self.rows}
        if self.ids is not None:
            columns["item"] = self.ids
        return columns | {"gain": self.gains, "value": self.values}

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] | None = None) -> Any:
        """The columns of `to_dict` as a frame of pandas, polars or pyarrow: `backend`, or the first installed."""
        import narwhals as nw

        return nw.from_dict(self.to_dict(), backend=backend or installed_backend()).to_native()

    def __repr__(self) -> str:
        count = f"{len(self):,} row{'' if len(self) == 1 else 's'}"
        return f"Selection: {count} worth {self.value:.6g}: {self.bound}"
