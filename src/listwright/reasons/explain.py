"""Why a list is what it is: the only place that takes a list apart.

`Explainer` walks a finished list again. From that come the reasons of `Lists.explain`, the short ones that a service
sends with each item (`standings`), and what sets a pick apart from the other options (`considered`), which summaries
put into words of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.segments import best_rows
from listwright.features import Features
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.walk.limits import Room
from listwright.walk.replay import Shares, shares_of

NAMED = 3  # columns that are named with each pick


@dataclass(frozen=True)
class Pick:
    """Why one item was picked."""

    position: int  # from 1
    item: Any
    score: float
    contributions: dict[str, float]  # by group of features; they add up to the score, unless a note says otherwise
    columns: dict[str, float]  # the largest contributions of single columns
    runner_up: Any  # the best other item that could have been picked; None where there was none
    margin: float | None  # score of the pick less that of the runner-up
    note: str = ""

    def __str__(self) -> str:
        told = {group: share for group, share in self.contributions.items() if abs(share) >= 0.0005}
        parts = ", ".join(f"{group} {share:+.3f}" for group, share in told.items())
        text = f"{self.position}. {self.item}: score {self.score:.3f}" + (f" = {parts}" if parts else "")
        if self.margin is not None:
            ahead = "ahead of" if self.margin >= 0 else "though below"
            text += f"; {abs(self.margin):.3f} {ahead} {self.runner_up}"
        return f"{text} ({self.note})" if self.note else text


@dataclass(frozen=True)
class Skipped:
    """An item that would be in a list of this length on its own, and which pick took its place."""

    item: Any
    rank_alone: int  # from 1: its place by score before anything was picked
    because_of: Any  # the pick after which it fell back most against the others; None where it never did
    change: float  # what that pick did to its score
    change_of_others: float  # and to the scores of the other open items, on average
    does_not_fit: int | None = None  # the position where it led, but was larger than what was left of the budget

    def __str__(self) -> str:
        told = f"not {self.item}, number {self.rank_alone} on its own"
        if self.does_not_fit is not None:
            return f"{told}: too large for what was left of the budget at position {self.does_not_fit}"
        if self.because_of is None:
            return f"{told}: others gained on it"
        changed = f"its score by {self.change:+.3f}, the others' by {self.change_of_others:+.3f}"
        return f"{told}: redundant after {self.because_of}, which changed {changed}"


@dataclass(frozen=True)
class Reasons:
    """The reasons of one list."""

    problem: Any
    picks: tuple[Pick, ...]
    skipped: tuple[Skipped, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON takes them."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"Problem {self.problem}: {len(self.picks)} item{'' if len(self.picks) == 1 else 's'}"]
        return "\n".join(lines + [f"  {one}" for one in (*self.picks, *self.skipped)])


@dataclass(frozen=True, eq=False)
class Explainer:
    """What `predict` leaves with its lists, so that they can be explained when somebody asks: references, no copies."""

    features: Features
    policy: Policy  # with what was drawn for whole lists
    repeats: bool
    room: Floats | None

    def __call__(self, problems: Problems, i: int, picked: Ints) -> Reasons:
        """The reasons of list i, whose items are `picked`, as positions within the problem."""
        return self._replay(problems, i).reasons(picked)

    def considered(self, problems: Problems, i: int, picked: Ints) -> list[Considered]:
        """Each pick of list i among the candidates that it was picked from."""
        return list(self._replay(problems, i).considered(picked))

    def standings(self, problem: Problems, picked: Ints, scores: Floats) -> list[Standing]:
        """How each pick of the one list of `problem` stood before anything was picked.

        Much quicker than all reasons: the candidates are looked at once.
        """
        rows = self.features.rows(self.features.start(problem))
        everything, rng = np.ones(problem.n_rows, dtype=bool), np.random.default_rng(0)
        alone = self.policy.pick(rows, everything, 0, rng)[1].copy()
        alone[picked[:1]] = scores[:1]  # the same number, but for rounding
        ranks = 1 + (alone[None, :] > alone[picked][:, None]).sum(axis=1)
        return [
            Standing(float(alone[row]), float(score - alone[row]), int(rank))
            for row, score, rank in zip(picked, scores, ranks, strict=True)
        ]

    def _replay(self, problems: Problems, i: int) -> _Replay:
        room = None if self.room is None else self.room[[i]]
        return _Replay(problems[i].without_reward(), self.features, self.policy.of_problem(i), self.repeats, room)


class Standing(NamedTuple):
    """What a pick scores on its own, and what the list before it changed of that."""

    alone: float
    given_list: float
    rank_alone: int  # from 1


class Considered(NamedTuple):
    """A pick, with what the policy saw of all candidates at that position and before anything was picked."""

    row: int
    options: Bools  # by candidate: whether it could have been picked
    fits: Bools  # by candidate: whether the budget leaves room for it
    shares: Shares
    alone: Shares
    changes: Floats  # of the scores for the next position, by this pick

    def above_options(self) -> dict[str, tuple[float, float]]:
        """By column: how far it puts the pick above the mean of the options, in standard deviations of their scores.

        The first number is what the column did so beside an empty list, the second what the list changed of that.
        """
        spread = float(self.shares.scores[self.options].std()) or 1.0
        now, before = (self._above(shares) / spread for shares in (self.shares, self.alone))
        names = [name for block in self.shares.blocks for name in block.names]
        return {name: (float(a), float(b - a)) for name, a, b in zip(names, before, now, strict=True)}

    def _above(self, shares: Shares) -> Floats:
        table = np.concatenate(shares.tables, axis=1)
        above: Floats = table[self.row] - table[self.options].mean(axis=0)
        return above


def explain(model: Any, problems: Problems, i: int = 0, **limits: Any) -> Reasons:
    """Why the model builds the list of problem i as it does.

    Parameters
    ----------
    model
        A fitted `SCP`, `ConSeqOpt` or `ContextFreeSCP`.
    limits
        Length, budget and short_lists, as in predict.

    Examples
    --------
    >>> import listwright as lw
    >>> x = np.random.default_rng(0).random((100, 5, 2))
    >>> problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7), feature_names=["u", "v"])
    >>> print(explain(lw.SCP(length=2, random_state=0).fit(problems), problems, 3).picks[0])
    1. 4: score 0.551 = relevance +0.551; 0.336 ahead of 0
    """
    return model.predict(problems[i], **limits).explain(0)


@dataclass(frozen=True, eq=False)
class _Replay:
    """One problem, walked again along the items that were picked."""

    problem: Problems
    features: Features
    policy: Policy
    repeats: bool
    room: Floats | None

    def reasons(self, picked: Ints) -> Reasons:
        steps = list(self.considered(picked))
        picks = tuple(self._pick(position, step) for position, step in enumerate(steps))
        return Reasons(_plain(self.problem.problem_ids[0]), picks, self._skipped(steps, picked))

    def considered(self, picked: Ints) -> Iterator[Considered]:
        seen = empty = self.features.start(self.problem)
        room = Room(self.problem, self.room)
        first = self.features.rows(seen)
        for position, row in enumerate(picked):
            rows, policy = self.features.rows(seen), self.policy.at_position(position)
            shares, fits = shares_of(policy, self.features, seen, rows), room.fits()
            alone = shares_of(policy, self.features, empty, first) if position else shares
            room.take(np.array([row]))
            seen = self.features.add(seen, np.array([row]))
            following = self.policy.at_position(position + 1)
            changes = following.score(self.features.rows(seen)) - following.score(rows)
            yield Considered(int(row), fits & self._open(picked[:position]), fits, shares, alone, changes)

    def _pick(self, position: int, step: Considered) -> Pick:
        row, shares, others = step.row, step.shares, step.options.copy()
        others[row] = False
        second = int(best_rows(shares.scores, others, self.problem.offsets)[0])
        return Pick(
            position=position + 1,
            item=self._name(row),
            score=float(shares.scores[row]),
            contributions={group: float(table[row].sum()) for group, table in shares.by_group().items()},
            columns=shares.largest(row, NAMED),
            runner_up=None if second < 0 else self._name(second),
            margin=None if second < 0 else float(shares.scores[row] - shares.scores[second]),
            note=shares.note,
        )

    def _open(self, taken: Ints) -> Bools:
        rows = np.ones(self.problem.n_rows, dtype=bool)
        rows[taken] = self.repeats
        return rows

    def _skipped(self, steps: list[Considered], picked: Ints) -> tuple[Skipped, ...]:
        """The rows that lead before anything is picked, as many as the list holds, and are not in it."""
        leading = np.argsort(-steps[0].shares.scores, kind="stable")[: len(picked)] if steps else picked
        found = enumerate(leading.tolist(), start=1)
        return tuple(self._why_not(row, rank, steps, picked) for rank, row in found if row not in picked)

    def _why_not(self, row: int, rank: int, steps: list[Considered], picked: Ints) -> Skipped:
        change, others = [float(step.changes[row]) for step in steps], []
        for position, step in enumerate(steps):
            rest = np.delete(np.arange(self.problem.n_rows), [row, *picked[: position + 1]])
            others.append(float(step.changes[rest].mean()) if len(rest) else 0.0)
        cause = int(np.argmax(np.subtract(others, change)))
        because_of = self._name(picked[cause]) if others[cause] > change[cause] else None
        led = (
            position
            for position, step in enumerate(steps)
            if not step.fits[row] and step.shares.scores[row] > step.shares.scores[step.row]
        )
        too_large = next(led, None)
        return Skipped(
            self._name(row),
            rank,
            because_of,
            change[cause],
            others[cause],
            None if too_large is None else too_large + 1,
        )

    def _name(self, row: int) -> Any:
        return int(row) if self.problem.item_ids is None else _plain(self.problem.item_ids[row])


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
