"""The result of a comparison of methods."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy

from listwright._internal.arrays import Floats
from listwright._internal.pictures import curves, html_table
from listwright.errors import InputError
from listwright.evaluation.intervals import SHARES, Means, means
from listwright.evaluation.table import Table, align_columns

TIE = 1e-12  # values closer than this count as equal


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Values of lists by method and problem, with means, paired differences and charts. Made by `compare`.

    Repetitions of a problem (seeds) are averaged first, so standard errors are over problems, however often each was
    tested.

    Attributes
    ----------
    values : Table
        One row per list: method, fold, seed, train_size, length or budget, problem, value and failure.
    methods : tuple of str
        The names of the methods.
    limit : {"length", "budget"}
        What lists were limited by.
    bounded : bool
        Whether values are shares of 1.

    See Also
    --------
    compare : Makes a comparison.

    Examples
    --------
    >>> values = {"method": ["scp", "scp", "mmr", "mmr"], "train_size": [1.0] * 4, "length": [3] * 4}
    >>> values |= {"problem": [1, 2, 1, 2], "value": [1.0, 0.5, 0.5, 0.5], "failure": [0.0] * 4}
    >>> table = Table({name: np.array(column) for name, column in values.items()})
    >>> comparison = Comparison(table, ("scp", "mmr"), "length", bounded=True)
    >>> comparison
    Comparison: mean value and its standard error on 2 problems
    method       length 3
    scp     0.750 ± 0.250
    mmr     0.500 ± 0.000
    >>> comparison.differences("scp").records()[0]["wins"]
    1
    """

    values: Table
    methods: tuple[str, ...]
    limit: str
    bounded: bool

    @cached_property
    def _axes(self) -> dict[str, list[Any]]:
        names = ("train_size", self.limit, "problem")
        return {name: list(dict.fromkeys(self.values[name].tolist())) for name in names}

    @cached_property
    def _cube(self) -> Floats:
        return self._average("value")

    @cached_property
    def _failures(self) -> Floats:
        return self._average("failure")

    def _average(self, column: str) -> Floats:
        """(methods, train sizes, limits, problems): a column, averaged over seeds and folds."""
        axes = {"method": list(self.methods), **self._axes}
        codes = {name: {label: code for code, label in enumerate(labels)} for name, labels in axes.items()}
        places = tuple(np.array([codes[name][label] for label in self.values[name].tolist()]) for name in axes)
        shape = tuple(map(len, axes.values()))
        sums, counts = np.zeros(shape), np.zeros(shape)
        np.add.at(sums, places, self.values[column])
        np.add.at(counts, places, 1.0)
        if (counts == 0).any():
            raise InputError("Methods can only be compared where all were tested on the same problems.")
        return sums / counts

    @cached_property
    def _means(self) -> Means:
        """Means over problems: shape (methods, training sizes, limits)."""
        return means(self._cube, bounds=SHARES if self.bounded else None)

    def table(
        self, length: int | None = None, *, budget: float | None = None, train_size: float | None = None
    ) -> Table:
        """Return the mean value of each method, its standard error, and how many of its lists fail.

        `failure` is the share of lists that are worth nothing, as in `evaluate`.

        Parameters
        ----------
        length : int, optional
            Only lists of this length; all by default.
        budget : float, optional
            Only lists of this budget.
        train_size : float, optional
            Only this training size.

        Returns
        -------
        Table
            One row per method, training size and limit.

        Raises
        ------
        InputError
            If there is no such length, budget or training size in the comparison.
        """
        columns = self._grid() | {"value": self._means.mean.ravel(), "failure": self._failures.mean(axis=-1).ravel()}
        columns["standard_error"] = self._means.error.ravel()
        return self._select(Table(columns, self.values.backend), length, budget, train_size)

    def differences(
        self,
        reference: str,
        length: int | None = None,
        *,
        budget: float | None = None,
        train_size: float | None = None,
        pooled: bool = False,
    ) -> Table:
        """Return how far one method is ahead of each other method, paired by problem.

        Use this to decide whether a difference is real: problems that are hard for all methods do not widen the
        interval.

        Parameters
        ----------
        reference : str
            The method to compare the others with.
        length : int, optional
            Only lists of this length; all by default.
        budget : float, optional
            Only lists of this budget.
        train_size : float, optional
            Only this training size.
        pooled : bool, default False
            Average over lengths and training sizes first: one row per method.

        Returns
        -------
        Table
            `ahead`, the mean value of the reference minus the method's, with its standard error over problems and 95 %
            interval (`low` to `high`, Student's t); on how many problems the reference wins, loses and ties; the
            average rank of the method and of the reference among all methods (1 is best); and `failure_ratio`, the
            method's mean failure divided by the reference's, above 1 if the reference fails less.

        Raises
        ------
        InputError
            If `reference` is not one of the methods.
        """
        if reference not in self.methods:
            raise InputError(f"reference must be one of {', '.join(self.methods)}. Got {reference!r}.")
        cube = self._cube.mean(axis=(1, 2), keepdims=True) if pooled else self._cube
        own, others = self.methods.index(reference), [name for name in self.methods if name != reference]
        rest = np.delete(cube, own, axis=0)
        columns = {"method": np.array(others, dtype=object)} if pooled else self._grid(others)
        ahead = _paired_differences(cube[own] - rest, self.bounded)
        columns |= {name: column.ravel() for name, column in ahead.items()}
        place = scipy.stats.rankdata(-np.round(cube, 12), axis=0).mean(axis=-1)  # ties share their ranks
        columns["rank"] = np.delete(place, own, axis=0).ravel()
        columns["reference_rank"] = np.broadcast_to(place[own], rest.shape[:-1]).ravel()
        failures = self._failures.mean(axis=(1, 2, 3) if pooled else -1, keepdims=pooled)
        with np.errstate(divide="ignore", invalid="ignore"):
            columns["failure_ratio"] = (np.delete(failures, own, axis=0) / failures[own]).ravel()
        table = Table(columns, self.values.backend)
        return table if pooled else self._select(table, length, budget, train_size)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] | None = None) -> Any:
        """Return all values with one row per list.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The kind of frame. By default the first of these that is installed.

        Returns
        -------
        DataFrame or Table
            A pandas or polars DataFrame, or a pyarrow Table.
        """
        return self.values.to_frame(backend)

    def plot(self, y: str = "value") -> Any:
        """Return an altair chart of the means with 95 % intervals, against training size or length.

        Where there is one of each, it has one row per method.

        Parameters
        ----------
        y : {"value", "failure"}, default "value"
            What to draw.

        Returns
        -------
        altair.Chart
            The chart; `chart.save("comparison.html")` writes it.

        Raises
        ------
        MissingExtra
            If altair is not installed (extra `plots`).
        """
        if y not in ("value", "failure"):
            raise InputError(f'y must be "value" or "failure". Got {y!r}.')
        measured = self._means if y == "value" else means(self._failures, bounds=SHARES)
        drawn = {name: getattr(measured, name).ravel() for name in ("mean", "low", "high")}
        return curves(Table(self._grid() | drawn).records(), self.methods, self.limit, y)

    def _grid(self, methods: list[str] | None = None) -> dict[str, Any]:
        """Return the label columns of a table with one row per method, training size and limit."""
        axes = [methods or list(self.methods), self._axes["train_size"], self._axes[self.limit]]
        grid = np.meshgrid(*(np.arange(len(axis)) for axis in axes), indexing="ij")
        arrays = [np.array(axes[0], dtype=object), *map(np.array, axes[1:])]
        columns = [axis[codes.ravel()] for axis, codes in zip(arrays, grid, strict=True)]
        return dict(zip(("method", "train_size", self.limit), columns, strict=True))

    def _select(self, table: Table, length: int | None, budget: float | None, train_size: float | None) -> Table:
        wanted = {"length": length, "budget": budget, "train_size": train_size}
        for name, value in wanted.items():
            known = self._axes.get(name, [])
            if value is not None and value not in known:
                raise InputError(f"{name} was compared at {', '.join(map(str, known)) or 'no value'}. Got {value!r}.")
        return table.where(**{name: value for name, value in wanted.items() if value is not None})

    def __repr__(self) -> str:
        title, rows = self._text_table()
        return f"{title}\n{align_columns(rows, [True] + [False] * (len(rows[0]) - 1))}"

    def _repr_html_(self) -> str:
        title, rows = self._text_table()
        return html_table(title, rows[0], rows[1:])

    def _text_table(self) -> tuple[str, list[list[str]]]:
        mean, error = self._means[:2]
        sizes, limits = self._axes["train_size"], self._axes[self.limit]
        several = len(sizes) > 1
        rows = [["method", *(["train size"] if several else []), *(f"{self.limit} {limit:g}" for limit in limits)]]
        for i, method in enumerate(self.methods):
            for j, size in enumerate(sizes):
                cells = [f"{m:.3f} ± {e:.3f}" for m, e in zip(mean[i, j], error[i, j], strict=True)]
                rows.append([method, *([str(size)] if several else []), *cells])
        return f"Comparison: mean value and its standard error on {len(self._axes['problem']):,} problems", rows


def _paired_differences(ahead: Floats, bounded: bool) -> dict[str, Floats]:
    mean, error, low, high = means(ahead, bounds=(-1.0, 1.0) if bounded else None)
    wins, losses = (ahead > TIE).sum(axis=-1), (ahead < -TIE).sum(axis=-1)
    counts = {"wins": wins, "losses": losses, "ties": ahead.shape[-1] - wins - losses}
    return {"ahead": mean, "standard_error": error, "low": low, "high": high} | counts
