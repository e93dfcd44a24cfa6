"""Which catalogue item a candidate is, alone and crossed with numbers of the state."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Floats32, Ints
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features.base import Crossed, Features
from listwright.features.scale import Distinct, Moments, Scale, dense
from listwright.problems import Problems

CROSSES = ("context", "list", "candidates")


class IdentitySeen(NamedTuple):
    problems: Problems  # the problems
    states: Floats32  # (problems, z): 1, then what is crossed
    in_list: int  # first column of the in-list flags, -1 where there are none


@saved_as("features.Identity")
class Identity(Features):
    """Which item of the catalogue a candidate is, with separate weights for each item and everything that it is crossed
    with.

    Use it where the same items recur in all problems (a library of trajectories, a shelf of products): it puts every
    fixed list into the policy class. Items that were not in training have no columns. The crossed columns are blocks
    that are never written out, so large catalogues stay cheap for linear learners.

    Parameters
    ----------
    cross : tuple of str
        Any of "context" (the problem's context), "list" (which items the list holds already) and "candidates" (the
        features of all the problem's candidates, where every problem has the whole catalogue).
    standardize : bool
        Scale what is crossed by the training problems, to a total variance of 1 for all columns together.

    Attributes
    ----------
    n_items_ : int
        Size of the catalogue.
    kept_ : dict of ndarray
        By cross: the columns that vary and do not repeat an earlier one.
    scales_ : dict of Scale
        By cross: their scale.

    Raises
    ------
    InputError
        If the problems have no catalogue, or lack what is to be crossed.

    Examples
    --------
    >>> problems = Problems.from_arrays(np.zeros((1, 3, 1)), catalogue=[0, 1, 2])
    >>> feature = Identity().fit(problems)
    >>> feature.cross_columns(feature.start(problems)).items
    array([0, 1, 2])

    In a model, with one weight per item and context column:

    >>> import listwright as lw
    >>> context = np.random.default_rng(0).random((80, 1))
    >>> works = np.concatenate([context < 0.5, context >= 0.5], axis=1)
    >>> problems = Problems.from_arrays(
    ...     np.zeros((80, 2, 0)), context=context, catalogue=[0, 1], reward=lw.rewards.AnySuccess(works)
    ... )
    >>> lw.SCP(1, features=Identity(cross=("context",)), random_state=0).fit(problems[:60]).score(problems[60:])
    0.95
    """

    group = "identity"

    def __init__(self, cross: tuple[str, ...] = (), *, standardize: bool = True) -> None:
        self.cross = cross
        self.standardize = standardize

    def uses_training_data(self) -> bool:
        """True only where crossed columns are scaled; the catalogue itself is known beforehand."""
        return self.standardize and bool(self.cross)

    def summary(self, problems: Problems) -> dict[str, Any]:
        unknown = [name for name in self.cross if name not in CROSSES]
        if unknown:
            raise InputError(f"cross must be some of {', '.join(CROSSES)}. Got {unknown[0]!r}.")
        tables = self._tables(problems)
        return {
            "n_items": int(_catalogue(problems).max()) + 1,
            "distinct": {name: Distinct.of(table) for name, table in tables.items()},
            "moments": {name: Moments.of(table) for name, table in tables.items()},
        }

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        self.n_items_ = summary["n_items"]
        self.kept_ = {name: distinct.telling() for name, distinct in summary["distinct"].items()}
        scales = {
            name: Scale.from_moments(moments, standardize=self.standardize)
            for name, moments in summary["moments"].items()
        }
        self.scales_ = {name: self._scale(scale, self.kept_[name]) for name, scale in scales.items()}
        return self

    def _scale(self, scale: Scale, kept: Ints) -> Scale:
        """Divide by the root of the number of columns, so that many of them do not drown which item it is."""
        share = np.float32(np.sqrt(max(len(kept), 1)) if self.standardize else 1.0)
        return Scale(scale.mean[kept], scale.spread[kept] * share)

    def start(self, problems: Problems) -> IdentitySeen:
        tables = self._tables(problems)
        parts = [np.ones((len(problems), 1), np.float32)]
        parts += [scale.apply(tables[name][:, self.kept_[name]]) for name, scale in self.scales_.items()]
        in_list = -1
        if "list" in self.cross:
            in_list = sum(part.shape[1] for part in parts)
            parts.append(np.zeros((len(problems), self.n_items_), np.float32))
        return IdentitySeen(problems, np.concatenate(parts, axis=1), in_list)

    def columns(self, seen: IdentitySeen) -> Floats32:
        return np.zeros((len(seen.problems.owners), 0), dtype=np.float32)

    def cross_columns(self, seen: IdentitySeen) -> Crossed:
        return Crossed(_catalogue(seen.problems), self.n_items_, seen.states)

    def add(self, seen: IdentitySeen, picks: Ints) -> IdentitySeen:
        if seen.in_list < 0:
            return seen
        states = seen.states.copy()
        items = np.where(picks >= 0, _catalogue(seen.problems)[picks], self.n_items_)
        some = np.flatnonzero(items < self.n_items_)
        states[some, seen.in_list + items[some]] = 1.0
        return seen._replace(states=states)

    def _tables(self, problems: Problems) -> dict[str, Floats32]:
        """By cross: the table (problems, columns) that items are crossed with; in-list flags are added by `start`."""
        tables = {}
        if "context" in self.cross:
            if problems.context is None:
                raise InputError("Identity is to be crossed with the context, but these problems have none.")
            tables["context"] = problems.context
        if "candidates" in self.cross:
            tables["candidates"] = whole_problem(problems, getattr(self, "n_items_", None))
        return tables


def whole_problem(problems: Problems, n_items: int | None = None) -> Floats32:
    """(problems, items * d): the features of all candidates of each problem in one row, in catalogue order."""
    catalogue = _catalogue(problems)
    n_items = problems.n_items if n_items is None else n_items
    if not has_whole_catalogue(problems, n_items):
        raise InputError('cross="candidates" needs problems that all hold the whole catalogue.')
    table = np.empty((len(problems), n_items, problems.n_features), dtype=np.float32)
    table[problems.owners, catalogue] = dense(problems.features)
    return table.reshape(len(problems), -1)


def has_whole_catalogue(problems: Problems, n_items: int) -> bool:
    """Return whether every problem offers every item; an item occurs at most once per problem."""
    return bool((problems.counts == n_items).all()) and problems.n_items <= n_items


def _catalogue(problems: Problems) -> Ints:
    if problems.catalogue is None:
        raise InputError("Identity features need a catalogue, but these problems have none.")
    return problems.catalogue
