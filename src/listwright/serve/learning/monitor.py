"""Compares the learned policy with the deployed one on recent feedback, before that feedback is learned from.

Every list was drawn at random, so the probability of each item shown is known. At each slot of a list, given the items
before it, a policy picks either the item that was shown or another update. The mean over lists of

    sum over slots of (picks the same ? 1 / probability : 0) * (gain - usual gain of the slot)

estimates what the policy's own pick would bring at every slot, by inverse propensity weighting with the usual gain as a
baseline. The difference of the learned and the deployed policy, list by list, is what is watched; it is 0 wherever both
pick the same item, which keeps its variance small.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import sqrt

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.threads import one_thread
from listwright._kernels.rows import best_rows
from listwright.features import Features
from listwright.feedback.drawing import ReplayPolicy
from listwright.feedback.updates import TrainingUpdate
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.serve.messages import LearnedComparison
from listwright.walk.plain import walk

WINDOW = 2_000  # lists
LEAST = 200  # lists before anything is said
SPREADS = 4.5  # standard errors: learning is looked at all the time, so chance must be ruled out well
CAP = 20.0  # on 1 / chance
AT_ONCE = 64  # lists of a group that are looked at


class PolicyMonitor:
    """Compares a learned policy with the deployed one on a sliding window of lists."""

    def __init__(self, features: Features, deployed: Policy) -> None:
        """Start with an empty window."""
        self.features, self.deployed = features, deployed
        self.differences: deque[float] = deque(maxlen=WINDOW)
        self.usual: Floats = np.zeros(0)  # mean gain by slot
        self.seen = 0

    def observe(self, learned: Policy, updates: Sequence[TrainingUpdate]) -> None:
        """Add lists to the window."""
        drawn = [update for update in updates if _is_drawn(update)]
        if not drawn or learned.arrays() is None or self.deployed.arrays() is None:
            return
        kind = _kind(drawn[0])
        chosen = [update for update in drawn[:: max(1, len(drawn) // AT_ONCE)] if _kind(update) == kind]
        self._note_usual(chosen)
        self.differences.extend(differences(self.features, learned, self.deployed, chosen, self.usual).tolist())

    def comparison(self) -> LearnedComparison | None:
        """Return the comparison on the window; None while it has fewer than 200 lists."""
        count = len(self.differences)
        if count < LEAST:
            return None
        window = np.array(self.differences)
        mean, error = float(window.mean()), float(window.std(ddof=1)) / sqrt(count)
        return LearnedComparison(count, mean, mean - SPREADS * error, mean + SPREADS * error)

    def _note_usual(self, updates: Sequence[TrainingUpdate]) -> None:
        """Update the mean gain of each slot: a plain mean at first, an exponential one once the window is full."""
        longest = max(len(self.usual), *(len(update.outcomes) for update in updates))
        self.usual = np.pad(self.usual, (0, longest - len(self.usual)))
        for update in updates:
            self.seen += 1
            rate = max(1.0 / self.seen, 1.0 / WINDOW)
            slots = len(update.outcomes)
            self.usual[:slots] += rate * (update.outcomes - self.usual[:slots])


def differences(
    features: Features, learned: Policy, deployed: Policy, updates: Sequence[TrainingUpdate], usual: Floats
) -> Floats:
    """Estimate for each list how much more the learned policy's picks bring than the deployed one's."""
    problems = Problems.concat([update.problem for update in updates])
    longest = max(len(update.outcomes) for update in updates)
    rows, gains, chances = (np.full((len(updates), longest), fill) for fill in (-1, np.nan, np.nan))
    for i, update in enumerate(updates):
        slots = len(update.outcomes)
        rows[i, :slots] = update.picks[:slots] + problems.offsets[i]
        gains[i, :slots], chances[i, :slots] = update.outcomes, update.propensities[:slots]
    rooms = np.array([np.inf if update.budget is None else update.budget for update in updates])
    totals, rng = np.zeros(len(updates)), np.random.default_rng(0)  # the walk asks for one; nothing is drawn
    with one_thread():
        for step in walk(problems, features, ReplayPolicy(rows), length=longest, rng=rng, room=rooms):
            shown, at = rows[:, step.position], step.position
            picks = [
                best_rows(policy.score(step.rows), step.options, problems.offsets) for policy in (learned, deployed)
            ]
            apart = (picks[0] == shown).astype(float) - (picks[1] == shown)
            known = (shown >= 0) & (chances[:, at] < 1.0)
            weights = np.minimum(1.0 / np.where(known, chances[:, at], 1.0), CAP)
            totals += np.where(known, apart * weights * (gains[:, at] - usual[at]), 0.0)
    return totals


def _is_drawn(update: TrainingUpdate) -> bool:
    """Return whether this is the first feedback on a list that was drawn at random."""
    return update.earlier is None and len(update.outcomes) > 0 and bool((update.propensities < 1.0).any())


def _kind(update: TrainingUpdate) -> tuple[bool, ...]:
    """Return whether the list's problem has sizes, groups and limits on groups: only problems of one kind can be
    joined.
    """
    return tuple(part is not None for part in (update.problem.sizes, update.problem.groups, update.problem.quotas))
