"""Why a list is what it is: contributions to the score of each pick, the runner-up, and what was redundant."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from listwright._arrays import Bools, Floats, Ints
from listwright._kernels.segments import best_rows
from listwright.contributions import Shares, shares_of
from listwright.features import Features, Rows
from listwright.policies import Policy, Sequence
from listwright.policies.mixture import Drawn
from listwright.problems import Problems

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
    because_of: Any  # the pick that lowered its score most, against all others; None where none did
    drop: float  # by how much

    def __str__(self) -> str:
        cause = "" if self.because_of is None else f" redundant after {self.because_of} (score {-self.drop:+.3f})"
        return f"not {self.item}, number {self.rank_alone} on its own:{cause or ' others gained on it'}"


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
        room = None if self.room is None else float(self.room[i])
        policy = _policy_of(self.policy, i)
        return _Replay(problems[i].without_reward(), self.features, policy, self.repeats, room).reasons(picked)


def explain(model: Any, problems: Problems, i: int = 0, **limits: Any) -> Reasons:
    """Why the model builds the list of problem i as it does.

    Parameters
    ----------
    model : a fitted `SCP`, `ConSeqOpt` or `ContextFreeSCP`.
    limits : length, budget and short_lists, as in predict.

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
    room: float | None

    def reasons(self, picked: Ints) -> Reasons:
        picks, drops = [], np.zeros((len(picked), self.problem.n_rows))
        alone = np.zeros(self.problem.n_rows)
        seen = self.features.start(self.problem)
        for position, row in enumerate(picked):
            rows, policy = self.features.rows(seen), _at(self.policy, position)
            shares = shares_of(policy, self.features, seen, rows)
            picks.append(self._pick(position, int(row), shares, self._options(picked[:position])))
            alone = shares.scores if position == 0 else alone
            seen = self.features.add(seen, np.array([row]))
            drops[position] = _drop(_at(self.policy, position + 1), rows, self.features.rows(seen))
        return Reasons(_plain(self.problem.problem_ids[0]), tuple(picks), self._skipped(alone, drops, picked))

    def _pick(self, position: int, row: int, shares: Shares, options: Bools) -> Pick:
        others = options.copy()
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

    def _options(self, taken: Ints) -> Bools:
        options = np.ones(self.problem.n_rows, dtype=bool)
        if not self.repeats:
            options[taken] = False
        if self.room is not None and self.problem.sizes is not None:
            options &= self.problem.sizes <= self.room - self.problem.sizes[taken].sum()
        return options

    def _skipped(self, alone: Floats, drops: Floats, picked: Ints) -> tuple[Skipped, ...]:
        """The rows that lead before anything is picked, as many as the list holds, and are not in it."""
        ranks = np.argsort(-alone, kind="stable")[: len(picked)]
        found = []
        for rank, row in enumerate(ranks, start=1):
            if row not in picked:
                cause = int(np.argmax(drops[:, row]))
                drop = max(float(drops[cause, row]), 0.0)
                found.append(Skipped(self._name(row), rank, self._name(picked[cause]) if drop > 0 else None, drop))
        return tuple(found)

    def _name(self, row: int) -> Any:
        return int(row) if self.problem.item_ids is None else _plain(self.problem.item_ids[row])


def _drop(policy: Policy, before: Rows, after: Rows) -> Floats:
    """By how much each row's score for the next position fell when the list grew, more than the mean row's."""
    fell = policy.score(before) - policy.score(after)
    return fell - fell.mean()


def _policy_of(policy: Policy, i: int) -> Policy:
    return policy.policies[policy.choice[i]] if isinstance(policy, Drawn) else policy


def _at(policy: Policy, position: int) -> Policy:
    while isinstance(policy, Sequence):
        policy = policy.policies[min(position, len(policy.policies) - 1)]
    return policy


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
