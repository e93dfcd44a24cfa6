"""Compares the learned policy with the deployed one on recent feedback, before that feedback is learned from.

Every list was drawn at random, so the probability of each item shown is known. At each slot of a list, given the items
before it, a policy picks either the item that was shown or another one. The mean over lists of

    sum over slots of (picks the same ? 1 / probability : 0) * (gain - usual gain of the slot)

estimates what the policy's own pick would bring at every slot, by inverse propensity weighting with the usual gain as a
baseline. The difference of the learned and the deployed policy, list by list, is what is watched; it is 0 wherever both
pick the same item, which keeps its variance small.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.threads import one_thread
from listwright._kernels.rows import best_rows
from listwright.features import Features
from listwright.feedback.drawing import ReplayPolicy
from listwright.feedback.updates import TrainingUpdate
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.walk.plain import walk

WINDOW = 2_000  # lists
LEAST = 200  # lists before anything is said
SPREADS = 4.5  # standard errors: learning is looked at all the time, so chance must be ruled out well
CAP = 20.0  # on 1 / chance
AT_ONCE = 64  # lists of a group that are looked at


@dataclass(frozen=True)
class Comparison:
    """Gain per list of the learned policy minus that of the deployed one, on recent feedback.

    Attributes
    ----------
    lists : int
        Number of lists in the window.
    difference : float
        Mean difference.
    low, high : float
        Interval of 4.5 standard errors on each side; wide, because it is looked at all the time.
    """

    lists: int
    difference: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return dict(vars(self))

    @property
    def behind(self) -> bool:
        """Whether the learned policy is worse: the whole interval lies below 0.

        Examples
        --------
        >>> Comparison(500, -0.2, -0.3, -0.1).behind, Comparison(500, -0.2, -0.5, 0.1).behind
        (True, False)
        """
        return self.lists >= LEAST and self.high < 0

    def __str__(self) -> str:
        """Describe the comparison in one sentence, as in the alarm."""
        interval = f"{self.low:.3f} to {self.high:.3f}"
        return f"the learned policy gains {self.difference:.3f} ({interval}) per list over the last {self.lists} lists"


class Watch:
    """Compares a learned policy with the deployed one on a sliding window of lists."""

    def __init__(self, features: Features, deployed: Policy) -> None:
        """Start with an empty window."""
        self.features, self.deployed = features, deployed
        self.differences: deque[float] = deque(maxlen=WINDOW)
        self.usual: Floats = np.zeros(0)  # mean gain by slot
        self.seen = 0

    def look(self, learned: Policy, records: Sequence[TrainingUpdate]) -> None:
        """Add lists to the window."""
        drawn = [one for one in records if one.earlier is None and len(one.outcomes) and (one.propensities < 1.0).any()]
        if not drawn or learned.arrays() is None or self.deployed.arrays() is None:
            return
        kind = _kind(drawn[0])
        chosen = [one for one in drawn[:: max(1, len(drawn) // AT_ONCE)] if _kind(one) == kind]
        self._note_usual(chosen)
        self.differences.extend(differences(self.features, learned, self.deployed, chosen, self.usual).tolist())

    def comparison(self) -> Comparison | None:
        """Return the comparison on the window; None while it has fewer than 200 lists."""
        count = len(self.differences)
        if count < LEAST:
            return None
        found = np.array(self.differences)
        mean, error = float(found.mean()), float(found.std(ddof=1)) / sqrt(count)
        return Comparison(count, mean, mean - SPREADS * error, mean + SPREADS * error)

    def _note_usual(self, records: Sequence[TrainingUpdate]) -> None:
        """Update the mean gain of each slot: a plain mean at first, an exponential one once the window is full."""
        longest = max(len(self.usual), *(len(one.outcomes) for one in records))
        self.usual = np.pad(self.usual, (0, longest - len(self.usual)))
        for one in records:
            self.seen += 1
            rate = max(1.0 / self.seen, 1.0 / WINDOW)
            slots = len(one.outcomes)
            self.usual[:slots] += rate * (one.outcomes - self.usual[:slots])


def differences(
    features: Features, learned: Policy, deployed: Policy, records: Sequence[TrainingUpdate], usual: Floats
) -> Floats:
    """Estimate for each list how much more the learned policy's picks bring than the deployed one's."""
    problems = Problems.concat([one.problem for one in records])
    longest = max(len(one.outcomes) for one in records)
    rows, gains, chances = (np.full((len(records), longest), fill) for fill in (-1, np.nan, np.nan))
    for i, one in enumerate(records):
        slots = len(one.outcomes)
        rows[i, :slots] = one.picks[:slots] + problems.offsets[i]
        gains[i, :slots], chances[i, :slots] = one.outcomes, one.propensities[:slots]
    rooms = np.array([np.inf if one.budget is None else one.budget for one in records])
    found, rng = np.zeros(len(records)), np.random.default_rng(0)  # the walk asks for one; nothing is drawn
    with one_thread():
        for step in walk(problems, features, ReplayPolicy(rows), length=longest, rng=rng, room=rooms):
            shown, at = rows[:, step.position], step.position
            picks = [best_rows(one.score(step.rows), step.options, problems.offsets) for one in (learned, deployed)]
            apart = (picks[0] == shown).astype(float) - (picks[1] == shown)
            known = (shown >= 0) & (chances[:, at] < 1.0)
            weights = np.minimum(1.0 / np.where(known, chances[:, at], 1.0), CAP)
            found += np.where(known, apart * weights * (gains[:, at] - usual[at]), 0.0)
    return found


def _kind(record: TrainingUpdate) -> tuple[bool, ...]:
    """Return whether the list's problem has sizes, groups and limits on groups: only problems of one kind can be
    joined.
    """
    return tuple(part is not None for part in (record.problem.sizes, record.problem.groups, record.problem.quotas))
