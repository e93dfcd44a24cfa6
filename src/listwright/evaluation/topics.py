"""Metrics of how well a list covers the topics of its problem. All give one number a problem, nan without topics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints, starts_of
from listwright._internal.ragged import pieces
from listwright._kernels.segments import best_rows
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.rewards import AnySuccess, ConcaveCoverage, Coverage, ProbabilisticCoverage

JUDGED_SATISFIES = 0.5  # (2^1 - 1) / 2^1: chance that an item judged to cover a topic satisfies who looks for it


class Subtopics(NamedTuple):
    """Which topics each row covers; topics of all problems are numbered through."""

    row_starts: Ints  # entries of each row
    topics: Ints  # by entry
    satisfies: Floats  # by entry: chance to satisfy who looks for the topic
    weights: Floats  # by topic
    starts: Ints  # topics of each problem
    offsets: Ints  # rows of each problem

    @property
    def owners(self) -> Ints:
        """By topic: its problem."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def entries(self, picks: Ints) -> Ints:
        """The entries of the picked rows; -1 picks nothing."""
        return pieces(self.row_starts, picks[picks >= 0])


def has_topics(problems: Problems) -> bool:
    """Whether the reward says which topics a row covers."""
    return isinstance(problems.reward, AnySuccess | Coverage | ProbabilisticCoverage | ConcaveCoverage)


def subtopics(problems: Problems) -> Subtopics:
    """Read off the reward: any kind of coverage, or any success, which is one topic a problem."""
    if not has_topics(problems):
        kind = "no reward" if problems.reward is None else type(problems.reward).__name__
        raise InputError(f"Topic metrics need a coverage reward, or AnySuccess. These problems have {kind}.")
    tables = problems.reward.tables
    if isinstance(problems.reward, AnySuccess):
        success = tables["success"].values
        some = success > 0
        single = np.arange(len(problems) + 1)
        starts = starts_of(some.astype(np.int64))
        return Subtopics(starts, problems.owners[some], success[some], np.ones(len(problems)), single, problems.offsets)
    starts = tables["weights"].offsets
    of_problem = np.repeat(starts[:-1], np.diff(tables["topics"].offsets))
    amounts = tables["amounts"].values
    shares = amounts if isinstance(problems.reward, ProbabilisticCoverage) else np.full(len(amounts), JUDGED_SATISFIES)
    row_starts = starts_of(tables["touched"].values)
    return Subtopics(
        row_starts, tables["topics"].values + of_problem, shares, tables["weights"].values, starts, problems.offsets
    )


def subtopic_recall(lists: Lists, problems: Problems) -> Floats:
    """Share of the problem's topics that some item of the list covers (Zhai et al. 2003).

    >>> import listwright as lw
    >>> reward = lw.rewards.Coverage([[[1, 0, 0], [1, 1, 0], [0, 0, 1]]])
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=reward)
    >>> subtopic_recall(lw.Lists(problems, np.array([[0, 1]])), problems).round(3)
    array([0.667])
    """
    found = subtopics(problems)
    covered = np.zeros(len(found.weights), dtype=bool)
    for picks in lists.rows.T:
        covered[found.topics[found.entries(picks)]] = True
    counts = np.diff(found.starts)
    hits = np.bincount(found.owners, covered, minlength=len(counts))
    return np.where(counts > 0, hits / np.maximum(counts, 1), np.nan)


def alpha_ndcg(lists: Lists, problems: Problems, *, alpha: float = 0.5) -> Floats:
    """alpha-nDCG (Clarke et al. 2008): each time that a topic comes up again it counts 1 - alpha times as much.

    Gains are discounted by log2(1 + rank) and divided by those of a greedy list from the same candidates.

    >>> import listwright as lw
    >>> reward = lw.rewards.Coverage([[[1, 0, 0], [1, 1, 0], [0, 0, 1]]])
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=reward)
    >>> alpha_ndcg(lw.Lists(problems, np.array([[0, 1]])), problems).round(3)
    array([0.74])
    """
    if not 0.0 <= alpha <= 1.0:
        raise InputError(f"alpha must be between 0 and 1. Got {alpha}.")
    found = subtopics(problems)
    ideal = _discounted(found, None, lists.rows.shape[1], alpha)
    return np.where(ideal > 0, _discounted(found, lists.rows, lists.rows.shape[1], alpha) / _safe(ideal), np.nan)


def err_ia(lists: Lists, problems: Problems) -> Floats:
    """ERR-IA (Chapelle et al. 2011): 1 / rank at which a reader stops, in expectation, over topics by weight.

    A reader looks for one topic and stops at an item with the chance that it satisfies: the probability of
    probabilistic rewards, one half for an item judged to cover the topic.

    >>> import listwright as lw
    >>> reward = lw.rewards.Coverage([[[1, 0], [1, 1]]])
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 2, 1)), reward=reward)
    >>> err_ia(lw.Lists(problems, np.array([[0, 1]])), problems)  # topic 1: 1/2 + 1/2 * 1/2 / 2; topic 2: 1/2 / 2
    array([0.4375])
    """
    found = subtopics(problems)
    going, earned = np.ones(len(found.weights)), np.zeros(len(found.weights))
    for rank, picks in enumerate(lists.rows.T, start=1):
        entries = found.entries(picks)
        topics, chance = found.topics[entries], found.satisfies[entries]
        earned[topics] += going[topics] * chance / rank
        going[topics] *= 1.0 - chance
    totals: Floats = np.bincount(found.owners, found.weights, len(problems)).astype(np.float64)
    sums = np.bincount(found.owners, found.weights * earned, len(problems))
    return np.where(totals > 0, sums / _safe(totals), np.nan)


def _discounted(found: Subtopics, rows: Ints | None, length: int, alpha: float) -> Floats:
    """Discounted gains of the lists, or of greedy ones where rows is None."""
    left = found.weights.copy()  # what a topic is worth the next time
    open_rows = np.ones(len(found.row_starts) - 1, dtype=bool)
    row_of = np.repeat(np.arange(len(open_rows)), np.diff(found.row_starts))
    total = np.zeros(len(found.starts) - 1)
    for position in range(length):
        picks = rows[:, position] if rows is not None else _best(found, left, row_of, open_rows)
        entries = found.entries(picks)
        topics = found.topics[entries]
        total += np.bincount(found.owners[topics], left[topics], len(total)) / np.log2(position + 2.0)
        left[topics] *= 1.0 - alpha
        open_rows[picks[picks >= 0]] = False
    return total


def _best(found: Subtopics, left: Floats, row_of: Ints, open_rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Ints:
    gains = np.bincount(row_of, left[found.topics], minlength=len(open_rows)).astype(np.float64)
    picks: Ints = best_rows(gains, open_rows, found.offsets)
    return picks


def _safe(values: Floats) -> Floats:
    return np.where(values > 0, values, 1.0)
