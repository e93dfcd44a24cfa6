"""Topics of training rewards: how much they are worth, and how much of each a candidate brings.

`PredictedTopics` predicts the amounts for new candidates and rebuilds the reward on them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.saved import saved_as
from listwright.problems import Problems
from listwright.rewards import AnySuccess, ConcaveCoverage, Coverage, ProbabilisticCoverage, Reward, reward_of

MOST_TOPICS = 64  # topics that are told apart; all others are taken together
NO_CAP = 1e30


@saved_as("features.Topics")
class Topics(NamedTuple):
    """Worth and shape of topics, learned from training problems.

    Attributes
    ----------
    shape : str
        "probability", or a shape of `ConcaveCoverage`.
    weights : ndarray of shape (topics,)
        Mean share of the topic in its problems' worth.
    caps : ndarray of shape (topics,)
        Mean amount from which on more brings nothing, for shape "cap".
    """

    shape: str  # "probability", or one of `ConcaveCoverage`
    weights: Floats  # by topic: mean share of its problems' worth
    caps: Floats

    def reward(self, amounts: Floats, offsets: Ints) -> Reward:
        """The reward bound to predicted amounts (rows, topics), clipped to what its shape allows."""
        if self.shape == "probability":
            return ProbabilisticCoverage(np.clip(amounts, 0.0, 1.0), self.weights, normalize=False).bind(offsets)
        caps = self.caps if self.shape == "cap" else None
        amounts = np.maximum(amounts, 0.0)
        return ConcaveCoverage(amounts, self.shape, caps, self.weights, normalize=False).bind(offsets)


def topics_of(problems: Problems) -> tuple[Topics, Floats]:
    """The worth of topics, and the amounts (rows, topics) that each candidate brings.

    Coverage rewards have a topic per column, of which the `MOST_TOPICS` - 1 most covered are kept apart and the others
    share one. Any other reward has a single topic: the gain of a candidate alone, which other candidates do not reduce.
    """
    reward = reward_of(problems, "ExpectedGain")
    if isinstance(reward, Coverage | ProbabilisticCoverage):
        return _by_column(reward, problems, "probability")
    if isinstance(reward, ConcaveCoverage):
        return _by_column(reward, problems, reward.shape)
    alone = reward.gains(reward.start(problems))[:, None]
    shape = "probability" if isinstance(reward, AnySuccess) else "cap"
    return Topics(shape, np.ones(1), np.full(1, NO_CAP)), alone


def _by_column(reward: Any, problems: Problems, shape: str) -> tuple[Topics, Floats]:
    """Topics and amounts (rows, topics) of a coverage reward, from the sparse layout of its state.

    The reward's columns are numbered by `_numbered`; weights are shares of each problem's total, averaged over
    problems.
    """
    state, columns = reward.start(problems), reward.tables["columns"]
    layout = state.layout
    counts = np.diff(layout.row_starts)
    entry_slots = layout.topics + np.repeat(layout.topic_starts[problems.owners], counts)
    number = _numbered(columns.values, entry_slots)
    n_topics = int(number.max(initial=0)) + 1
    amounts = np.zeros((problems.n_rows, n_topics))
    rows = np.repeat(np.arange(problems.n_rows), counts)
    np.add.at(amounts, (rows, number[entry_slots]), layout.amounts)
    owners = np.repeat(np.arange(len(problems)), np.diff(columns.offsets))
    worth = state.weights / reward.tables["totals"].values[owners]
    topics = Topics(shape, _means(worth, number, n_topics), _means(state.caps, number, n_topics))
    return topics, np.minimum(amounts, 1.0) if shape == "probability" else amounts


def _numbered(columns: Ints, entry_slots: Ints) -> Ints:
    """By (problem, topic): the topic's number, most covered first; those past the limit share the last."""
    names, codes = np.unique(columns, return_inverse=True)
    covered = np.bincount(codes[entry_slots], minlength=len(names))
    rank = np.empty(len(names), dtype=np.int64)
    rank[np.argsort(-covered, kind="stable")] = np.arange(len(names))
    return np.minimum(rank, MOST_TOPICS - 1)[codes]


def _means(values: Floats, groups: Ints, n_groups: int) -> Floats:
    return np.bincount(groups, values, minlength=n_groups) / np.maximum(np.bincount(groups, minlength=n_groups), 1)
