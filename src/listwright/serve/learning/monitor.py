"""Compares the learned policy with the deployed one on recent feedback, before that feedback is learned from.

Lists were drawn at random, so the probability of each item shown is known. The mean over lists of

    sum over slots of (picks the same, given the items before ? 1 / probability : 0) * (gain - usual gain of the slot)

estimates what a policy's own picks would bring. The difference of the learned and the deployed policy is watched, list
by list; and feedback itself: where items that the deployed policy rates higher have brought more so far, and suddenly
bring no more than others, somebody may be sending the opposite of what happened.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.threads import one_thread
from listwright._kernels.rows import best_rows
from listwright.features import Features
from listwright.feedback.drawing import ReplayPolicy
from listwright.feedback.updates import TrainingUpdate
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.serve.messages import LearnedComparison
from listwright.walk.lists import walk

WINDOW = 2_000  # lists
LEAST = 200  # lists before anything is said
SPREADS = 4.5  # standard errors: learning is looked at all the time, so chance must be ruled out well
SOURCE_SPREADS = 4.0  # of a source, which is looked at less often
CAP = 20.0  # on 1 / chance
RECENT = 200  # lists of one source that are held back
FEW = 50  # of them before they say anything
SOURCES = 8  # that are asked, the latest
BOOTSTRAPS = 30  # of a regression of the gains of one source
PENALTY = 1.0  # of that regression
OFTEN = 32  # lists between two looks at what is held back
NOTHING = np.zeros((0, 0), dtype=np.float32)  # in place of tables that are not needed any more
LATEST = 100  # lists, which are compared with those before them


class PolicyMonitor:
    """Compares a learned policy with the deployed one, on a sliding window and on lists held back by source."""

    # A source is an API key that feedback comes with. Whoever sends much false feedback makes the learned policy look
    # good by it, but not by what other keys reported: the latest lists of each are held back, and every new policy is
    # compared on them. Learning is behind where at least as many sources say so as say that it is ahead.

    def __init__(self, features: Features, deployed: Policy) -> None:
        self.features, self.deployed = features, deployed
        self.differences: deque[float] = deque(maxlen=WINDOW)
        self.held_back: OrderedDict[str, deque[TrainingUpdate]] = OrderedDict()
        self.policies: deque[Policy] = deque(maxlen=RECENT // OFTEN)  # as they were at each look
        self.agreements: deque[float] = deque(maxlen=WINDOW)  # by list: product of scores and gains, both centred
        self.usual: Floats = np.zeros((2, 0))  # mean gain and mean score by slot
        self.seen = self.unseen = 0  # lists in all, and since the last look at what is held back

    def observe(self, learned: Policy, updates: Sequence[TrainingUpdate], sources: Sequence[str]) -> None:
        drawn = [(update, source) for update, source in zip(updates, sources, strict=True) if _is_drawn(update)]
        if not drawn or learned.arrays() is None or self.deployed.arrays() is None:
            return
        for update, source in drawn:
            self.held_back.setdefault(source, deque(maxlen=RECENT)).append(update)
            self.held_back.move_to_end(source)
        while len(self.held_back) > SOURCES:
            self.held_back.popitem(last=False)
        self.unseen += len(drawn)
        chosen = _of_one_kind([update for update, _ in drawn])
        slots = [slot._replace(table=NOTHING) for slot in _slots(self.features, (learned, self.deployed), chosen)]
        self._note_usual(slots)
        self.differences.extend(differences(slots, self.usual[0]).tolist())
        self.agreements.extend(agreements(slots, self.usual).tolist())

    def contradiction(self) -> str | None:
        """Say that the latest feedback is the opposite of what came before; None where it is not."""
        every = np.array(self.agreements)
        before, latest = every[:-LATEST], every[-LATEST:]
        if len(before) < LATEST or latest.mean() > 0:
            return None
        fall = before.mean() - latest.mean()
        if fall < SPREADS * sqrt(before.var(ddof=1) / len(before) + latest.var(ddof=1) / len(latest)):
            return None
        return (
            f"Much of the latest feedback contradicts what came before: over the last {LATEST} lists, items that the "
            f"deployed policy rates higher brought no more than others, as they did over {len(before)} lists before."
        )

    def comparison(self, learned: Policy) -> LearnedComparison | None:
        """Compare by a source where those say that learning is behind, else on the window once it is long enough."""
        if self.unseen >= OFTEN and learned.arrays() is not None:
            self.unseen = 0
            for reference in (self.deployed, *self.earlier):
                by_source = self._by_source(learned, reference)
                behind = [watched for watched in by_source if watched.behind]
                if behind and len(behind) >= sum(watched.low > 0 for watched in by_source):
                    return min(behind, key=lambda watched: watched.high)
            self.policies.append(learned)
        return None if len(self.differences) < LEAST else _compare(np.array(self.differences))

    @property
    def earlier(self) -> list[Policy]:
        """The policy of some 200 lists ago: one that turns bad falls behind it before it falls behind the deployed."""
        return [self.policies[0]] if len(self.policies) == self.policies.maxlen else []

    def _by_source(self, learned: Policy, reference: Policy) -> list[LearnedComparison]:
        comparisons = []
        for source, updates in self.held_back.items():
            chosen = _of_one_kind(list(updates))
            if len(chosen) >= FEW:
                comparisons.append(compare_by_model(self.features, learned, reference, chosen, source))
        return comparisons

    def _note_usual(self, slots: Sequence[_Slot]) -> None:
        """Update the means of each slot: plain means at first, exponential ones once the window is full."""
        self.usual = np.pad(self.usual, ((0, 0), (0, max(0, len(slots) - self.usual.shape[1]))))
        for i in range(len(slots[0].shown)):
            self.seen += 1
            rate = max(1.0 / self.seen, 1.0 / WINDOW)
            seen = np.array([(slot.gains[i], slot.scores[i]) for slot in slots if slot.shown[i] >= 0]).T
            self.usual[:, : seen.shape[1]] += rate * (seen - self.usual[:, : seen.shape[1]])


def agreements(slots: Sequence[_Slot], usual: Floats) -> Floats:
    """Return for each list whether items that the deployed policy rates above the usual bring more than the usual."""
    parts = [(slot.gains - usual[0, slot.position]) * (slot.scores - usual[1, slot.position]) for slot in slots]
    total: Floats = np.nansum(parts, axis=0)
    return total


def differences(slots: Sequence[_Slot], usual: Floats) -> Floats:
    """Estimate for each list how much more the learned policy's picks bring than the deployed one's."""
    totals = np.zeros(len(slots[0].shown))
    for slot in slots:
        apart = (slot.picks[0] == slot.shown).astype(float) - (slot.picks[1] == slot.shown)
        known = (slot.shown >= 0) & (slot.chances < 1.0)
        weights = np.minimum(1.0 / np.where(known, slot.chances, 1.0), CAP)
        totals += np.where(known, apart * weights * (slot.gains - usual[slot.position]), 0.0)
    return totals


def compare_by_model(
    features: Features, learned: Policy, deployed: Policy, updates: Sequence[TrainingUpdate], source: str
) -> LearnedComparison:
    """Compare the picks of two policies by what a ridge regression of the gains of one source expects of them."""
    # Weights of 1 / probability would need many more lists. The interval is that of a bootstrap over lists.
    shown, gains, apart = _regression_rows(features, learned, deployed, updates)
    draws = np.random.default_rng(0).multinomial(len(updates), np.full(len(updates), 1 / len(updates)), BOOTSTRAPS)
    counts = np.concatenate([np.ones((1, len(updates))), draws])
    by_row = np.tile(counts, len(shown) // len(updates))
    system = np.stack([(shown * count[:, None]).T @ shown for count in by_row]) + PENALTY * np.eye(shown.shape[1])
    weights = np.linalg.solve(system, (by_row @ (shown * gains[:, None]))[:, :, None])[:, :, 0]
    means = (weights * (counts @ apart)).sum(axis=1) / len(updates)
    spread = SOURCE_SPREADS * float(means[1:].std(ddof=1))
    return LearnedComparison(len(updates), float(means[0]), float(means[0]) - spread, float(means[0]) + spread, source)


def _regression_rows(
    features: Features, learned: Policy, deployed: Policy, updates: Sequence[TrainingUpdate]
) -> tuple[Floats, Floats, Floats]:
    """Return what was seen of the items shown, slot by slot, and their gains; and by list how the picks differ."""
    seen, gains, apart = [], [], []
    for slot in _slots(features, (learned, deployed), updates):
        known = (slot.shown >= 0)[:, None]
        shown, first, second = (
            np.where(known, slot.table[np.maximum(rows, 0)], 0.0) for rows in (slot.shown, *slot.picks)
        )
        seen.append(np.concatenate([shown, known], axis=1))  # the last column is the constant
        gains.append(np.where(known[:, 0], slot.gains, 0.0))
        apart.append(np.pad(first - second, ((0, 0), (0, 1))))
    return np.concatenate(seen), np.concatenate(gains), np.sum(apart, axis=0)


class _Slot(NamedTuple):
    """One position of many lists, given the items before it."""

    position: int
    table: Floats32  # what the policies see of all candidates
    shown: Ints  # row of the item shown; -1 behind the end of a list
    picks: list[Ints]  # rows that each policy would pick
    scores: Floats  # of the item shown, by the last policy
    gains: Floats
    chances: Floats


def _slots(features: Features, policies: Sequence[Policy], updates: Sequence[TrainingUpdate]) -> Iterator[_Slot]:
    problems = Problems.concat([update.problem for update in updates])
    longest = max(len(update.outcomes) for update in updates)
    rows, gains, chances = (np.full((len(updates), longest), fill) for fill in (-1, np.nan, np.nan))
    for i, update in enumerate(updates):
        slots = len(update.outcomes)
        rows[i, :slots] = update.picks[:slots] + problems.offsets[i]
        gains[i, :slots], chances[i, :slots] = update.outcomes, update.propensities[:slots]
    budgets = np.array([np.inf if update.budget is None else update.budget for update in updates])
    rng = np.random.default_rng(0)  # the walk asks for one; nothing is drawn
    with one_thread():
        for step in walk(problems, features, ReplayPolicy(rows), length=longest, rng=rng, budgets=budgets):
            at = step.position
            scores = [policy.score(step.rows) for policy in policies]
            picks = [best_rows(every, step.options, problems.offsets) for every in scores]
            yield _Slot(at, step.rows.table, rows[:, at], picks, scores[-1][rows[:, at]], gains[:, at], chances[:, at])


def _is_drawn(update: TrainingUpdate) -> bool:
    return update.earlier is None and len(update.outcomes) > 0 and bool((update.propensities < 1.0).any())


def _compare(apart: Floats) -> LearnedComparison:
    mean, error = float(apart.mean()), float(apart.std(ddof=1)) / sqrt(len(apart))
    return LearnedComparison(len(apart), mean, mean - SPREADS * error, mean + SPREADS * error)


def _of_one_kind(updates: Sequence[TrainingUpdate]) -> list[TrainingUpdate]:
    """Return the lists of the same kind as the first: only problems of one kind can be joined."""
    kind = _kind(updates[0])
    return [update for update in updates if _kind(update) == kind]


def _kind(update: TrainingUpdate) -> tuple[bool, ...]:
    return tuple(part is not None for part in (update.problem.sizes, update.problem.groups, update.problem.quotas))
