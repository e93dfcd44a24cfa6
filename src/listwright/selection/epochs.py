"""Exact greedy facility location in epochs: most gains are only bounds, and few are kept exact.

After a pick only the targets whose best similarity rose change any gain. In an epoch the gains of the rows that look
best, the active ones, are brought up to date after each pick, from the targets that it changed; all others keep an old
gain, which bounds the new one since gains only fall. When the best active row falls below the best bound, a new epoch
begins: rows with high bounds are measured again, from all the targets that changed since they were measured last, until
the best rows are known. A target that changed five times meanwhile counts once. No row is picked that plain greedy
would not pick.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright.selection.progress import Tick
from listwright.selection.rules import Rules

TIE = 1e-9  # gains that differ by a smaller share are equal, and the lowest row goes first
ACTIVE = 20  # one row in so many is active
LEAST_ACTIVE = 512
CHUNK = 2  # rows that are measured together, for each active one


class Board(Protocol):
    """The targets' best similarities so far, wherever they are kept, and what follows from them."""

    def gains(self, rows: Ints, since: Ints, known: Floats) -> Floats:
        """What each of the rows would bring now, where it brought what is `known` at the mark `since`; -1: nothing is
        known."""

    def mark(self) -> int:
        """Keeps the targets' best similarities of now; gives the number of the mark, from 0."""

    def activate(self, rows: Ints) -> None:
        """The rows whose falls `pick` gives from now on."""

    def pick(self, row: int) -> tuple[float, Floats]:
        """What the row brings, and the falls of the active rows when it is taken."""


class Epochs:
    """One run of the greedy. `bounds`: no gain of a row is higher; it ends so too."""

    def __init__(self, board: Board, rules: Rules, bounds: Floats, tick: Tick) -> None:
        self.board, self.rules, self.tick = board, rules, tick
        self.bounds, self.size = bounds, max(LEAST_ACTIVE, len(bounds) // ACTIVE)
        self.since = np.full(len(bounds), -1)  # mark at which the bound was the gain; -1 for never
        self.active = np.empty(0, dtype=np.int64)  # in order of rows
        self.gains = np.empty(0)  # of the active rows
        self.outside = np.inf  # the highest score of rows that are not active

    def run(self) -> tuple[Ints, Floats]:
        """The rows picked, and what each brought."""
        rows: list[int] = []
        gains: list[float] = []
        while not self.rules.done:
            at, score = self._best()
            if score < self.outside * (1 + TIE):
                self._new_epoch()
                at, score = self._best()
            row = int(self.active[at])
            brought, falls = self.board.pick(row)
            self.gains -= falls
            self.rules.take(row)
            rows.append(row)
            gains.append(brought)
            self.tick("picking", len(rows), self.rules.k)
        self._keep()
        self.bounds[rows] = 0.0
        return np.array(rows, dtype=np.int64), np.array(gains)

    def _best(self) -> tuple[int, float]:
        """Place and score of the best active row that is open, the lowest among equals; a score below 0 for none."""
        if not len(self.active):
            return -1, -np.inf
        scores = np.maximum(self.gains, 0.0)
        scores = scores / self.rules.costs[self.active] if self.rules.priced else scores
        scores = np.where(self.rules.open[self.active], scores, -1.0)
        most = float(scores.max())
        return int(np.argmax(scores >= most * (1 - TIE))), most

    def _keep(self) -> None:
        """Writes the active rows' gains where those of all rows are."""
        self.bounds[self.active] = np.maximum(self.gains, 0.0)

    def _score(self, rows: Ints) -> Floats:
        return self.bounds[rows] / self.rules.costs[rows] if self.rules.priced else self.bounds[rows]

    def _new_epoch(self) -> None:
        """Measures rows until the best are known, and makes these the active ones."""
        self._keep()
        mark = self.board.mark()
        self.since[self.active] = mark
        exact = self.active[self.rules.open[self.active]]
        stale = np.flatnonzero(self.rules.open & (self.since < mark))
        while True:
            stale = stale[self._score(stale) >= self._floor(exact) * (1 - TIE)]
            if not len(stale):
                break
            chosen = _highest(self._score(stale), CHUNK * self.size)
            self._measure(stale[chosen], mark)
            exact, stale = np.concatenate([exact, stale[chosen]]), stale[~chosen]
        self._activate(np.sort(exact))

    def _floor(self, exact: Ints) -> float:
        """The lowest score of those that would be active, were there no others."""
        if len(exact) <= self.size:
            return -np.inf
        return float(np.partition(self._score(exact), len(exact) - self.size)[len(exact) - self.size])

    def _measure(self, rows: Ints, mark: int) -> None:
        first = (self.since[rows] < 0).any()
        self.bounds[rows] = np.maximum(self.board.gains(rows, self.since[rows], self.bounds[rows]), 0.0)
        self.since[rows] = mark
        if first:
            self.tick("measuring rows", int((self.since >= 0).sum()), len(self.since))

    def _activate(self, exact: Ints) -> None:
        self.active = exact[_highest(self._score(exact), self.size)]
        self.gains = self.bounds[self.active].copy()
        inside = np.zeros(len(self.bounds), dtype=bool)
        inside[self.active] = True
        others = np.flatnonzero(self.rules.open & ~inside)
        self.outside = float(self._score(others).max()) if len(others) else -np.inf
        self.board.activate(self.active)


def _highest(scores: Floats, count: int) -> Bools:
    """The highest scores, the first among those that are equal up to rounding."""
    if len(scores) <= count:
        return np.ones(len(scores), dtype=bool)
    least = np.partition(scores, len(scores) - count)[len(scores) - count]
    chosen = scores > least * (1 + TIE)
    equal = np.flatnonzero((scores >= least * (1 - TIE)) & ~chosen)
    chosen[equal[: max(count - int(chosen.sum()), 0)]] = True
    return chosen
