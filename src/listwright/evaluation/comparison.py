"""What a comparison found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.evaluation.intervals import SHARES, Means, means
from listwright.evaluation.picture import curves
from listwright.evaluation.table import Table, aligned

TIE = 1e-12  # values closer than this are the same


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Values of lists by method and problem, and what follows from them. Made by `compare`.

    Repetitions of a problem (seeds) are averaged first, so that standard errors are over problems, however often each
    was tested.
    """

    values: Table  # one row a list: method, fold, seed, train_size, length or budget, problem, value
    methods: tuple[str, ...]
    limit: str  # "length" or "budget"
    bounded: bool  # whether values are shares of 1, so that 1 - value is a failure

    @cached_property
    def _axes(self) -> dict[str, list[Any]]:
        """The different train sizes, limits and problems."""
        names = ("train_size", self.limit, "problem")
        return {name: list(dict.fromkeys(self.values[name].tolist())) for name in names}

    @cached_property
    def _cube(self) -> Floats:
        """(methods, train sizes, limits, problems): values, averaged over seeds and folds."""
        axes = {"method": list(self.methods), **self._axes}
        places = []
        for name, labels in axes.items():
            codes = {label: code for code, label in enumerate(labels)}
            places.append(np.array([codes[label] for label in self.values[name].tolist()]))
        shape = tuple(map(len, axes.values()))
        sums, counts = np.zeros(shape), np.zeros(shape)
        np.add.at(sums, tuple(places), self.values["value"])
        np.add.at(counts, tuple(places), 1.0)
        if (counts == 0).any():
            raise InputError("Methods can only be compared where all were tested on the same problems.")
        return sums / counts

    @cached_property
    def _means(self) -> Means:
        """(methods, train sizes, limits): over problems."""
        return means(self._cube, bounds=SHARES if self.bounded else None)

    def table(
        self, length: int | None = None, *, budget: float | None = None, train_size: float | None = None
    ) -> Table:
        """Mean value of each method, its failure (1 - value) and standard error; of all lengths, or one."""
        found = self._means
        columns = self._grid() | {"value": found.mean.ravel()}
        if self.bounded:
            columns["failure"] = 1.0 - found.mean.ravel()
        columns["standard_error"] = found.error.ravel()
        return self._chosen(Table(columns), length, budget, train_size)

    def differences(
        self,
        reference: str,
        length: int | None = None,
        *,
        budget: float | None = None,
        train_size: float | None = None,
        pooled: bool = False,
    ) -> Table:
        """How far the reference is ahead of each other method, problem by problem.

        Columns: `ahead`, the mean value of the reference less the method's, with its standard error over problems and
        95 % interval (`low` to `high`, Student's t); on how many problems the reference wins, loses and ties; the
        average rank of the method and of the reference among all methods (1 is best); and `failure_ratio`, the method's
        mean failure divided by the reference's, above 1 where the reference fails less.

        Parameters
        ----------
        pooled : bool
            Average over lengths and training sizes first: one row a method.
        """
        if reference not in self.methods:
            raise InputError(f"reference must be one of {', '.join(self.methods)}. Got {reference!r}.")
        cube = self._cube.mean(axis=(1, 2), keepdims=True) if pooled else self._cube
        own, others = self.methods.index(reference), [name for name in self.methods if name != reference]
        rest = np.delete(cube, own, axis=0)
        columns = {"method": np.array(others, dtype=object)} if pooled else self._grid(others)
        columns |= {name: column.ravel() for name, column in _paired(cube[own] - rest, self.bounded).items()}
        place = _ranks(cube)
        columns["rank"] = np.delete(place, own, axis=0).ravel()
        columns["reference_rank"] = np.broadcast_to(place[own], rest.shape[:-1]).ravel()
        if self.bounded:
            failures = 1.0 - cube.mean(axis=-1)
            with np.errstate(divide="ignore", invalid="ignore"):
                columns["failure_ratio"] = (np.delete(failures, own, axis=0) / failures[own]).ravel()
        return Table(columns) if pooled else self._chosen(Table(columns), length, budget, train_size)

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] | None = None) -> Any:
        """All values, one row a list, as a frame of pandas, polars or pyarrow."""
        return self.values.to_frame(backend)

    def picture(self, y: str = "value") -> Any:
        """An altair chart of the means with 95 % intervals, against train size or length. `y` may be "failure"."""
        if y not in ("value", "failure") or (y == "failure" and not self.bounded):
            raise InputError(f'y must be "value", or "failure" where values are shares of 1. Got {y!r}.')
        ends = {"low": self._means.low.ravel(), "high": self._means.high.ravel()}
        return curves(Table(self.table().columns | ends), self.methods, self.limit, y)

    def _grid(self, methods: list[str] | None = None) -> dict[str, Any]:
        """The labels of a table with one row for each method, train size and limit."""
        axes = [methods or list(self.methods), self._axes["train_size"], self._axes[self.limit]]
        grid = np.meshgrid(*(np.arange(len(axis)) for axis in axes), indexing="ij")
        names = ("method", "train_size", self.limit)
        kinds = (object, None, None)
        return {
            name: np.array(axis, dtype=kind)[codes.ravel()]
            for name, axis, kind, codes in zip(names, axes, kinds, grid, strict=True)
        }

    def _chosen(self, table: Table, length: int | None, budget: float | None, train_size: float | None) -> Table:
        wanted = {"length": length, "budget": budget, "train_size": train_size}
        for name, value in wanted.items():
            known = self._axes.get(name, [])
            if value is not None and value not in known:
                raise InputError(f"{name} was compared at {', '.join(map(str, known)) or 'no value'}. Got {value!r}.")
        return table.where(**{name: value for name, value in wanted.items() if value is not None})

    def __repr__(self) -> str:
        mean, error = self._means[:2]
        sizes, limits = self._axes["train_size"], self._axes[self.limit]
        several = len(sizes) > 1
        rows = [["method", *(["train size"] if several else []), *(f"{self.limit} {limit}" for limit in limits)]]
        for i, method in enumerate(self.methods):
            for j, size in enumerate(sizes):
                cells = [f"{m:.3f} ± {e:.3f}" for m, e in zip(mean[i, j], error[i, j], strict=True)]
                rows.append([method, *([str(size)] if several else []), *cells])
        title = f"Comparison: mean value and its standard error on {len(self._axes['problem']):,} problems"
        return f"{title}\n{aligned(rows, [True] + [False] * (len(rows[0]) - 1))}"


def _paired(ahead: Floats, bounded: bool) -> dict[str, Floats]:
    """Mean of differences over problems, with error, interval, and counts of who is ahead."""
    mean, error, low, high = means(ahead, bounds=(-1.0, 1.0) if bounded else None)
    wins, losses = (ahead > TIE).sum(axis=-1), (ahead < -TIE).sum(axis=-1)
    counts = {"wins": wins, "losses": losses, "ties": ahead.shape[-1] - wins - losses}
    return {"ahead": mean, "standard_error": error, "low": low, "high": high} | counts


def _ranks(values: Floats) -> Floats:
    """Average rank over problems among the methods, the first axis; 1 is best, ties share."""
    return rankdata(-np.round(values, 12), axis=0).mean(axis=-1)
