"""The result of a selection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Ints
from listwright._internal.extras import as_frame, require_extra
from listwright.errors import InputError
from listwright.selection.similarity import SimilarityMatrix, as_dense, cut

BLOCK = 4096  # targets at a time
SHOWN = 20  # picks in a notebook
NOTHING = 1e-9  # share of the largest gain


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
    refined : float
        What exchanges of picks (`refine=`) added to the value of the greedy picks.

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
    refined: float = 0.0
    _home: str | None = None  # the package of frames that the vectors came from
    _table: Any = field(default=None, repr=False)  # the vectors
    _similarity: Callable[[], SimilarityMatrix] | None = field(default=None, repr=False)
    _given: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)

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
            The kind of frame. By default that of the vectors, or else the first of these that is installed.

        Returns
        -------
        DataFrame or Table
            A pandas or polars DataFrame, or a pyarrow Table.
        """
        return as_frame(self.to_dict(), backend or self._home)

    def assign(self, backend: Literal["pandas", "polars", "pyarrow"] | None = None) -> Any:
        """Return which pick represents each row, or each of the targets, and how well.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The kind of frame. By default that of the vectors, or else the first of these that is installed.

        Returns
        -------
        DataFrame or Table
            With the columns `row`, `pick` (the row number of the most similar pick or given row) and `similarity`.

        Raises
        ------
        InputError
            If the selection was not made by `select` from vectors or similarities.

        Examples
        --------
        >>> import listwright as lw
        >>> selection = lw.select(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]), 2)
        >>> selection.assign("pyarrow")["pick"].to_pylist()
        [1, 1, 2]
        """
        best, similar = self._nearest()
        picks = np.concatenate([self.rows, self._given])[best]
        return as_frame({"row": np.arange(len(best)), "pick": picks, "similarity": similar}, backend or self._home)

    def explain(self, position: int) -> dict[str, Any]:
        """Return why a pick is in the selection.

        Parameters
        ----------
        position : int
            Which pick, from 0.

        Returns
        -------
        dict
            Its `row` (and `item`, if rows have names), `gain`, `share` of what all picks added (if all add something),
            how many rows it `represents` best, their `mean_similarity`, and up to five `examples`, best first.

        Examples
        --------
        >>> import listwright as lw
        >>> selection = lw.select(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]), 2)
        >>> selection.explain(0)["represents"], selection.explain(0)["examples"]
        (2, [1, 0])
        """
        if isinstance(position, bool) or not isinstance(position, int | np.integer) or not 0 <= position < len(self):
            raise InputError(f"There are {len(self)} picks, from 0 to {len(self) - 1}. Got {position!r}.")
        best, similar = self._nearest()
        mine = np.flatnonzero(best == position)
        order = mine[np.argsort(-similar[mine], kind="stable")]
        named = {} if self.ids is None else {"item": self.ids[position]}
        # Shares mean nothing where the first pick adds nothing, such as to a distance, or where a pick takes away.
        shared = len(self.gains) and self.gains[0] > 0 and self.gains.min() > -NOTHING * self.gains[0]
        share = {"share": float(self.gains[position] / self.gains.sum())} if shared else {}
        return {"row": int(self.rows[position]), **named, "gain": float(self.gains[position]), **share} | {
            "represents": len(mine),
            "mean_similarity": float(similar[mine].mean()) if len(mine) else 0.0,
            "examples": order[:5].tolist(),
        }

    def _nearest(self) -> tuple[Ints, Floats]:
        """Return by target the position of the most similar pick, and its similarity."""
        if self._similarity is None:
            raise InputError("This selection knows no similarities: it was not made by select from vectors.")
        similarity = self._similarity()
        best, similar = np.zeros(similarity.n_targets, dtype=np.int64), np.zeros(similarity.n_targets)
        gathered = similarity.candidates(np.concatenate([self.rows, self._given]))
        for block in cut(similarity.n_targets, BLOCK):
            tile = similarity.tile(gathered, similarity.targets(block))
            best[block], similar[block] = tile.argmax(axis=0), tile.max(axis=0)
        return best, similar

    def plot(self, what: Literal["both", "rows", "values"] = "both") -> Any:
        """Return a chart of the picks among the other rows, and of the value by the number of picks.

        Parameters
        ----------
        what : {"both", "rows", "values"}, default "both"
            Both side by side, or one of them.

        Returns
        -------
        altair.Chart
            Shown as a picture in notebooks; `chart.save("picks.html")` writes it to a file. Needs the extra `plots`.
        """
        if what not in ("both", "rows", "values"):
            raise InputError(f"what must be both, rows or values. Got {what!r}.")
        if what == "values":
            return draw_values(self.values, self.knee)
        if self._table is None:
            raise InputError("This selection has no vectors to draw: it was not made by select from vectors.")
        if what == "rows":
            return draw_rows(self._table, self.rows)
        both = [self.plot("rows").properties(width=420), self.plot("values").properties(width=420)]
        return altair().hconcat(*both)

    def _repr_html_(self) -> str:
        """Return the picks as a table, for notebooks."""
        columns = self.to_dict()
        head = "".join(f"<th>{name}</th>" for name in columns)
        shown = min(len(self), SHOWN)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(_short(values[i]))}</td>" for values in columns.values()) + "</tr>"
            for i in range(shown)
        )
        more = f"<p>and {len(self) - shown:,} more</p>" if len(self) > shown else ""
        return f"<p>{escape(repr(self))}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"

    def __repr__(self) -> str:
        count = f"{len(self):,} row{'' if len(self) == 1 else 's'}"
        return f"Selection: {count} worth {self.value:.6g}: {self.bound}"


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


SHOWN_ROWS = 4000  # rows that are not picked
MEASURED = 20_000  # rows that the components are computed from
WIDE, NARROW = 2000, 50  # from so many columns on, components are those of a random projection to so few


def altair() -> Any:
    return require_extra("altair", "Pictures need altair.", extra="plots")


def draw_rows(table: Any, rows: Ints) -> Any:
    alt, rng = altair(), np.random.default_rng(0)
    n = int(table.shape[0])
    sample = np.sort(rng.choice(n, min(MEASURED, n), replace=False))
    width = int(table.shape[1])
    few = rng.normal(size=(width, NARROW)) if width > WIDE else np.eye(width)  # keeps distances, nearly
    block = as_dense(table[sample] @ few, np.float64)
    centre = block.mean(axis=0)
    _, directions = np.linalg.eigh((block - centre).T @ (block - centre))
    others = np.setdiff1d(sample, rows)
    others = np.sort(rng.choice(others, min(SHOWN_ROWS, len(others)), replace=False))
    shown = np.concatenate([others, rows])
    points = (as_dense(table[shown] @ few, np.float64) - centre) @ directions[:, ::-1][:, :2]
    kinds = ["other"] * len(others) + ["picked"] * len(rows)
    values = [
        {"x": float(point[0]), "y": float(point[-1]), "row": int(row), "rows": kind}
        for row, point, kind in zip(shown, points, kinds, strict=True)
    ]
    colour = alt.Scale(domain=["other", "picked"], range=["#b9c0c9", "#d4465c"])
    size = alt.Scale(domain=["other", "picked"], range=[10, 34])
    return (
        alt.Chart(alt.Data(values=values))
        .mark_circle(opacity=0.75)
        .encode(
            x=alt.X("x:Q", title="first principal component"),
            y=alt.Y("y:Q", title="second principal component"),
            color=alt.Color("rows:N", scale=colour, legend=alt.Legend(title=None, orient="top", symbolType="circle")),
            size=alt.Size("rows:N", scale=size, legend=None),
            tooltip=["row:Q", "rows:N"],
        )
        .properties(width="container", height=340)
    )


def draw_values(values: Floats, knee: int) -> Any:
    alt = altair()
    curve = [{"picks": i + 1, "value": float(value)} for i, value in enumerate(values)]
    marked = [{"picks": knee, "value": curve[knee - 1]["value"], "text": f"knee: {knee:,} rows"}]
    line = (
        alt.Chart(alt.Data(values=curve))
        .mark_line(strokeWidth=2.2)
        .encode(x=alt.X("picks:Q", title="rows picked"), y=alt.Y("value:Q", title="value", scale=alt.Scale(zero=False)))
    )
    mark = alt.Chart(alt.Data(values=marked)).encode(x="picks:Q", y="value:Q")
    point = mark.mark_circle(size=70, color="#d4465c")
    text = mark.mark_text(align="left", dx=8, dy=14).encode(text="text:N")
    return alt.layer(line, point, text).properties(width="container", height=340)
