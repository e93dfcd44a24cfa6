"""Reasons for lists: `Explainer` walks a finished list again, which no other module does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.rows import best_rows
from listwright.features import Features
from listwright.features.base import Rows
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.walk.constraints import Constraints
from listwright.walk.lists import Block, Shares, blocks_of, shares_of

NAMED = 3  # columns named per pick


@dataclass(frozen=True, eq=False)
class Explainer:
    """What `predict` keeps with its lists so that they can be explained later: references, no copies."""

    features: Features  # what the policy saw
    policy: Policy  # the policy, with what was drawn for whole lists
    repeats: bool  # whether an item may be picked twice
    budgets: Floats | None  # the budget of each list

    def __call__(self, problems: Problems, i: int, picked: Ints, most: int | None = None) -> Reasons:
        """Return the reasons for list i, or for its first items, `picked` as positions within the problem."""
        return self._replay(problems, i).reasons(picked, most)

    def options_considered(self, problems: Problems, i: int, picked: Ints) -> list[Considered]:
        return list(self._replay(problems, i).options_considered(picked))

    def standings(self, problem: Problems, picked: Ints, scores: Floats) -> list[Standing]:
        """Return how each pick of the single list of `problem` scored before anything was picked."""
        # This is much faster than all the reasons, because the candidates are scored only once.
        rows = self.features.rows(self.features.start(problem))
        everything, rng = np.ones(problem.n_rows, dtype=bool), np.random.default_rng(0)
        alone = self.policy.pick(rows, everything, 0, rng)[1].copy()
        alone[picked[:1]] = scores[:1]  # equal up to rounding
        ranks = 1 + (alone[None, :] > alone[picked][:, None]).sum(axis=1)
        return [
            Standing(float(alone[row]), float(score - alone[row]), int(rank))
            for row, score, rank in zip(picked, scores, ranks, strict=True)
        ]

    def _replay(self, problems: Problems, i: int) -> _Replay:
        budgets = None if self.budgets is None else self.budgets[[i]]
        return _Replay(problems[i].without_reward(), self.features, self.policy.of_problem(i), self.repeats, budgets)


class Standing(NamedTuple):
    """What a pick scores on its own, and how the list before it changed that."""

    alone: float  # the score for an empty list
    given_list: float  # how the list changed it
    rank_alone: int  # its rank for an empty list, from 1


class _Step(NamedTuple):
    row: int  # the pick
    options: Bools  # whether each candidate could have been picked, and whether the budget left room for it
    fits: Bools
    scores: Floats
    changes: Floats  # of the scores for the next position, by the pick


class Considered(NamedTuple):
    """A pick, with what the policy saw of all candidates at that position and before anything was picked."""

    row: int  # the pick
    options: Bools  # whether each candidate could have been picked
    shares: Shares  # contributions at this position, and for an empty list
    alone: Shares

    def above_options(self) -> dict[str, tuple[float, float]]:
        """Return by column how far it puts the pick above the mean option, in standard deviations of their scores."""
        spread = float(self.shares.scores[self.options].std()) or 1.0
        tables = (np.concatenate(shares.tables, axis=1) for shares in (self.shares, self.alone))
        now, before = ((table[self.row] - table[self.options].mean(axis=0)) / spread for table in tables)
        names = [name for block in self.shares.blocks for name in block.names]
        return {name: (float(a), float(b - a)) for name, a, b in zip(names, before, now, strict=True)}


def explain(model: Any, problems: Problems, i: int = 0, **limits: Any) -> Reasons:
    """Explain why the model builds the list of problem i as it does."""
    return model.predict(problems[i], **limits).explain(0)


@dataclass(frozen=True, eq=False)
class _Replay:
    problem: Problems
    features: Features
    policy: Policy
    repeats: bool
    budgets: Floats | None

    def reasons(self, picked: Ints, most: int | None) -> Reasons:
        steps, picks = [], []
        for position, (step, rows) in enumerate(islice(self._steps(picked), most)):
            shares = shares_of(self.policy.at_position(position), self._blocks, rows.only(step.row))
            picks.append(self._pick(position, step, shares))
            steps.append(step)
        return Reasons(plain(self.problem.problem_ids[0]), tuple(picks), self._items_skipped(steps, picked[:most]))

    def options_considered(self, picked: Ints) -> Iterator[Considered]:
        first = self.features.rows(self.features.start(self.problem))
        for position, (step, rows) in enumerate(self._steps(picked)):
            policy = self.policy.at_position(position)
            shares, alone = (shares_of(policy, self._blocks, table) for table in (rows, first))
            yield Considered(step.row, step.options, shares, alone)

    @cached_property
    def _blocks(self) -> list[Block]:
        return blocks_of(self.features, self.features.start(self.problem))

    def _steps(self, picked: Ints) -> Iterator[tuple[_Step, Rows]]:
        """Yield each pick with its scores and how it changed the next ones, and the rows that the policy saw."""
        seen = self.features.start(self.problem)
        quotas = self.problem.quotas
        limited = self.budgets is not None or (quotas is not None and quotas.budgets.shape[1] > 0)
        length = None if limited else len(picked)  # a list that a budget ended may be shorter than its groups need
        limits, rows = Constraints(self.problem, self.budgets, length), self.features.rows(seen)
        for position, row in enumerate(picked):
            scores, fits = self.policy.at_position(position).score(rows), limits.fits()
            limits.take(np.array([row]))
            options = fits.copy()
            options[picked[:position]] &= self.repeats
            seen = self.features.add(seen, np.array([row]))
            before, rows = rows, self.features.rows(seen)
            following = self.policy.at_position(position + 1)
            changes = following.score(rows) - following.score(before)
            yield _Step(int(row), options, fits, scores, changes), before

    def _pick(self, position: int, step: _Step, shares: Shares) -> Pick:
        row, scores, others = step.row, step.scores, step.options.copy()
        others[row] = False
        second = int(best_rows(scores, others, self.problem.offsets)[0])
        return Pick(
            position=position + 1,
            item=self._name(row),
            score=float(scores[row]),
            contributions={group: float(table[0].sum()) for group, table in shares.by_group().items()},
            columns=shares.largest(0, NAMED),
            runner_up=None if second < 0 else self._name(second),
            margin=None if second < 0 else float(scores[row] - scores[second]),
            note=shares.note,
        )

    def _items_skipped(self, steps: list[_Step], picked: Ints) -> tuple[Skipped, ...]:
        """Return the rows that lead before anything is picked, as many as the list holds, and that are not in it."""
        leading = np.argsort(-steps[0].scores, kind="stable")[: len(picked)] if steps else picked
        ranked = enumerate(leading.tolist(), start=1)
        return tuple(self._why_not(row, rank, steps, picked) for rank, row in ranked if row not in picked)

    def _why_not(self, row: int, rank: int, steps: list[_Step], picked: Ints) -> Skipped:
        """Return which pick made a row lose most against the others, and whether the budget ever excluded it."""
        change, others = [float(step.changes[row]) for step in steps], []
        for position, step in enumerate(steps):
            rest = np.delete(np.arange(self.problem.n_rows), [row, *picked[: position + 1]])
            others.append(float(step.changes[rest].mean()) if len(rest) else 0.0)
        cause = int(np.argmax(np.subtract(others, change)))
        because_of = self._name(picked[cause]) if others[cause] > change[cause] else None
        led = ((not step.fits[row]) and step.scores[row] > step.scores[step.row] for step in steps)
        too_large = next((position for position, ahead in enumerate(led, start=1) if ahead), None)
        return Skipped(self._name(row), rank, because_of, change[cause], others[cause], too_large)

    def _name(self, row: int) -> Any:
        return int(row) if self.problem.item_ids is None else plain(self.problem.item_ids[row])


@dataclass(frozen=True)
class Pick:
    """Why one item was picked: its score, what each group of features contributed, and how far the runner-up was
    behind.

    Attributes
    ----------
    position : int
        Position in the list, from 1.
    item : object
        Id of the item, or its position within the problem.
    score : float
        The policy's score.
    contributions : dict of str to float
        By group of features. They add up to the score, unless `note` says otherwise.
    columns : dict of str to float
        The largest contributions of single columns.
    runner_up : object or None
        The best other item that could have been picked.
    margin : float or None
        Score of the pick minus that of the runner-up.
    note : str
        Says if the contributions do not add up to the score, and why.

    See Also
    --------
    Skipped : Why an item was not picked.
    listwright.Lists.explain : Returns the reasons for a list.

    Examples
    --------
    >>> print(Pick(1, "a", 0.5, {"relevance": 0.5}, {}, "b", 0.1))
    1. a: score 0.500 = relevance +0.500; 0.100 ahead of b
    """

    position: int
    item: Any
    score: float
    contributions: dict[str, float]
    columns: dict[str, float]
    runner_up: Any
    margin: float | None
    note: str = ""

    def __str__(self) -> str:
        shown = {group: share for group, share in self.contributions.items() if abs(share) >= 0.0005}
        parts = ", ".join(f"{group} {share:+.3f}" for group, share in shown.items())
        text = f"{self.position}. {self.item}: score {self.score:.3f}" + (f" = {parts}" if parts else "")
        if self.margin is not None:
            ahead = "ahead of" if self.margin >= 0 else "though below"
            text += f"; {abs(self.margin):.3f} {ahead} {self.runner_up}"
        return f"{text} ({self.note})" if self.note else text


@dataclass(frozen=True)
class Skipped:
    """An item that scores high on its own but is not in the list, and the pick that took its place.

    Attributes
    ----------
    item : object
        Id of the item, or its position within the problem.
    rank_alone : int
        Its rank by score before anything was picked, from 1.
    because_of : object or None
        The pick after which it lost most against the other candidates; None if it never did.
    change : float
        How that pick changed its score.
    change_of_others : float
        How that pick changed the scores of the other open items, on average.
    does_not_fit : int or None
        The position at which it had the highest score but was larger than what was left of the budget.

    See Also
    --------
    Pick : Why an item was picked.
    listwright.Lists.explain : Returns the reasons for a list.

    Examples
    --------
    >>> print(Skipped("b", 2, "a", 0.01, 0.28))
    not b, number 2 on its own: redundant after a, which changed its score by +0.010, the others' by +0.280
    """

    item: Any
    rank_alone: int
    because_of: Any
    change: float
    change_of_others: float
    does_not_fit: int | None = None

    def __str__(self) -> str:
        sentence = f"not {self.item}, number {self.rank_alone} on its own"
        if self.does_not_fit is not None:
            return f"{sentence}: too large for what was left of the budget at position {self.does_not_fit}"
        if self.because_of is None:
            return f"{sentence}: others gained on it"
        changed = f"its score by {self.change:+.3f}, the others' by {self.change_of_others:+.3f}"
        return f"{sentence}: redundant after {self.because_of}, which changed {changed}"


@dataclass(frozen=True)
class Reasons:
    """The reasons for one list, as `Lists.explain` returns them. Print it to read them.

    Attributes
    ----------
    problem : object
        Id of the problem.
    picks : tuple of Pick
        Why each item was picked, in order.
    skipped : tuple of Skipped
        The items that lead on their own and are not in the list.

    See Also
    --------
    explain : The reasons for the list that a model builds.

    Examples
    --------
    >>> import listwright as lw
    >>> x = np.random.default_rng(0).random((100, 5, 2))
    >>> problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7))
    >>> reasons = lw.SCP(length=2, random_state=0).fit(problems).predict(problems[:1]).explain(0)
    >>> len(reasons.picks), reasons.picks[0].position
    (2, 1)
    """

    problem: Any
    picks: tuple[Pick, ...]
    skipped: tuple[Skipped, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return nested plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"Problem {self.problem}: {len(self.picks)} item{'' if len(self.picks) == 1 else 's'}"]
        return "\n".join(lines + [f"  {reason}" for reason in (*self.picks, *self.skipped)])


def plain(value: Any) -> Any:
    """Return numpy scalars as Python values."""
    return value.item() if isinstance(value, np.generic) else value
