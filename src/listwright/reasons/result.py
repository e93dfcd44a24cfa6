"""Reasons for a list, in words and numbers: what `Lists.explain` returns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


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
        told = {group: share for group, share in self.contributions.items() if abs(share) >= 0.0005}
        parts = ", ".join(f"{group} {share:+.3f}" for group, share in told.items())
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
        told = f"not {self.item}, number {self.rank_alone} on its own"
        if self.does_not_fit is not None:
            return f"{told}: too large for what was left of the budget at position {self.does_not_fit}"
        if self.because_of is None:
            return f"{told}: others gained on it"
        changed = f"its score by {self.change:+.3f}, the others' by {self.change_of_others:+.3f}"
        return f"{told}: redundant after {self.because_of}, which changed {changed}"


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
        return "\n".join(lines + [f"  {one}" for one in (*self.picks, *self.skipped)])


def plain(value: Any) -> Any:
    """Return numpy scalars as Python values."""
    return value.item() if isinstance(value, np.generic) else value
