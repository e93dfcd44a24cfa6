"""Explicit diversification (xQuAD, PM-2): what the list leaves uncovered of each aspect of the problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features.base import Features
from listwright.problems import Problems

HALF = 0.5  # an aspect counts as answered from here on


class AspectState(NamedTuple):
    table: Floats  # (rows, a)
    weights: Floats  # (problems, a): equal over the aspects that some candidate answers, 0 elsewhere
    missed: tuple[Floats, ...]  # by power: (problems, a), product over the list of 1 - s^p
    most: Floats  # (problems, a): best answer in the list
    seats: Floats  # (problems, a): PM-2's seats taken


class AspectsSeen(NamedTuple):
    problems: Problems
    kinds: tuple[AspectState, ...]


@saved_as("features.Aspects")
class Aspects(Features):
    """What a candidate adds to the aspects that the list leaves uncovered, with weights that the policy learns.

    An aspect is a suggestion or sub-query of the problem; `problems.aspects` says how well each candidate answers it,
    s in [0, 1]. For each kind of aspects the columns are

    - for each power p, the xQuAD form (Santos et al. 2010): the mean over aspects of s^p times the product over the
      list of (1 - s^p). High powers count only good answers.
    - the share of aspects that the candidate answers by one half or more and the list does not yet;
    - the mean over aspects of how far the candidate's answer is above the best one in the list;
    - the PM-2 form (Dang and Croft 2012): the candidate's answer to the aspect that has the strongest claim to the next
      position, times that claim, and the same summed over the other aspects.

    Parameters
    ----------
    powers : sequence of float
        Powers of the xQuAD form.

    Attributes
    ----------
    kinds_ : list of str
        Names of the kinds of aspects, sorted.

    Raises
    ------
    InputError
        By `fit`, if the problems have no aspects or a power is not above 0.

    See Also
    --------
    Links : the same idea where similarities between candidates are known instead of aspects.

    Examples
    --------
    >>> import listwright as lw
    >>> answers = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.0]]
    >>> problems = lw.Problems.from_arrays([[0.0]] * 3, offsets=[0, 3], aspects={"sub-queries": answers})
    >>> feature = Aspects(powers=[1]).fit(problems)
    >>> feature.names()[0]
    'uncovered sub-queries, power 1'
    >>> feature.columns(feature.add(feature.start(problems), np.array([0])))[:, 0]
    array([0. , 0.5, 0. ], dtype=float32)
    """

    group = "uncovered aspects"

    def __init__(self, powers: Sequence[float] = (1.0, 2.0, 4.0)) -> None:
        self.powers = powers

    def summary(self, problems: Problems) -> dict[str, Any]:
        return {"kinds": tuple(sorted(problems.aspects or {}))}

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        if any(not power > 0 for power in self.powers):
            raise InputError(f"powers must be above 0. Got {self.powers!r}.")
        if not summary["kinds"]:
            raise InputError("Aspects needs problems with aspects. Pass aspects={name: table} to Problems.from_arrays.")
        self.kinds_ = list(summary["kinds"])
        return self

    def start(self, problems: Problems) -> AspectsSeen:
        tables = problems.aspects or {}
        return AspectsSeen(problems, tuple(self._begin(tables[name], problems) for name in self.kinds_))

    def _begin(self, given: Floats32, problems: Problems) -> AspectState:
        """Return the state of one kind with nothing covered; aspects that no candidate answers get weight 0."""
        table = given.astype(np.float64)
        there = (np.maximum.reduceat(table, problems.offsets[:-1], axis=0) > 0).astype(np.float64)
        weights = there / np.maximum(there.sum(axis=1, keepdims=True), 1.0)
        nothing = np.zeros_like(weights)
        return AspectState(table, weights, tuple(np.ones_like(weights) for _ in self.powers), nothing, nothing)

    def columns(self, seen: AspectsSeen) -> Floats32:
        forms = [form for state in seen.kinds for form in self._forms(state, seen.problems.owners)]
        return np.stack(forms, axis=1).astype(np.float32)

    def _forms(self, state: AspectState, owners: Ints) -> list[Floats]:
        """Columns of one kind of aspects, each of shape (rows,), in the order of `names`."""
        table, weights = state.table, state.weights[owners]
        forms = [
            (weights * missed[owners] * table**power).sum(axis=1)
            for power, missed in zip(self.powers, state.missed, strict=True)
        ]
        most = state.most[owners]
        forms.append((weights * ((table >= HALF) & (most < HALF))).sum(axis=1))
        forms.append((weights * np.maximum(table - most, 0.0)).sum(axis=1))
        claims = state.weights / (2.0 * state.seats + 1.0)  # Sainte-Lague: who is to have the next seat
        next_one = np.argmax(claims, axis=1)[owners]
        shares = claims[owners] * table
        first = shares[np.arange(len(owners)), next_one]
        return [*forms, first, shares.sum(axis=1) - first]

    def add(self, seen: AspectsSeen, picks: Ints) -> AspectsSeen:
        some = np.flatnonzero(picks >= 0)
        return seen._replace(kinds=tuple(self._after(state, some, picks[some]) for state in seen.kinds))

    def _after(self, state: AspectState, some: Ints, rows: Ints) -> AspectState:
        """The state of one kind after the picks; the seat of a pick is shared out over the aspects that it answers."""
        answers = state.table[rows]
        missed = tuple(
            _replace_rows(left, some, left[some] * (1.0 - answers**power))
            for power, left in zip(self.powers, state.missed, strict=True)
        )
        share = answers / np.maximum(answers.sum(axis=1, keepdims=True), 1e-12)
        return state._replace(
            missed=missed,
            most=_replace_rows(state.most, some, np.maximum(state.most[some], answers)),
            seats=_replace_rows(state.seats, some, state.seats[some] + share),
        )

    def names(self) -> list[str]:
        forms = [f"uncovered {{}}, power {power:g}" for power in self.powers]
        forms += ["newly answered {}", "answers above the list's to {}", "next seat by {}", "other seats by {}"]
        return [form.format(kind) for kind in self.kinds_ for form in forms]


def _replace_rows(table: Floats, rows: Ints, values: Floats) -> Floats:
    new = table.copy()
    new[rows] = values
    return new
