"""The result of a selection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Ints
from listwright._internal.extras import as_frame


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """What `select` returns: the selected rows in the order in which they were picked.

    It behaves like the array of its rows: iteration, `len` and `numpy.asarray` work, and `vectors[selection.rows]` is
    the selected table. `knee` suggests how many rows suffice.

    Attributes
    ----------
    rows : ndarray of int
        Row numbers of the picks, best first. Rows passed as `given` are not among them.
    gains : ndarray of float
        What each pick added to the value when it was picked; they never rise.
    value : float
        The value of the picks together with the rows passed as `given`.
    bound : str
        What is proved about the value, in words.
    ratio : float or None
        The same as a number: the picks add at least `ratio` times what the best selection would add. None if nothing is
        proved.
    ids : ndarray or None
        Names of the picked rows, if the input had names.
    device : str
        Where the work was done: "cpu" or the name of the GPU.

    See Also
    --------
    select : Makes a selection.

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
        """Number of picks."""
        return len(self.rows)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the row numbers."""
        return iter(self.rows.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the row numbers, for `numpy.asarray`."""
        return np.array(self.rows, dtype=dtype, copy=copy)

    @property
    def values(self) -> Floats:
        """The value of the first 1, 2, 3, ... picks, together with the rows that were given."""
        return self.value - self.gains.sum() + np.cumsum(self.gains)

    @property
    def knee(self) -> int:
        """The number of picks after which more add little: where the curve of values is highest above its chord.

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
        """Return columns with one entry per pick.

        Returns
        -------
        dict of str to ndarray
            `position` (from 1), `row`, `item` if rows have names, `gain`, and `value` (of the picks so far).
        """
        columns: dict[str, NDArray[Any]] = {"position": np.arange(1, len(self) + 1), "row": self.rows}
        if self.ids is not None:
            columns["item"] = self.ids
        return columns | {"gain": self.gains, "value": self.values}

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] | None = None) -> Any:
        """Return the columns of `to_dict` as a frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The kind of frame. By default the first of these that is installed.

        Returns
        -------
        DataFrame or Table
            A pandas or polars DataFrame, or a pyarrow Table.
        """
        return as_frame(self.to_dict(), backend)

    def __repr__(self) -> str:
        count = f"{len(self):,} row{'' if len(self) == 1 else 's'}"
        return f"Selection: {count} worth {self.value:.6g}: {self.bound}"
