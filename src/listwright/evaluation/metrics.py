"""Metrics of how well lists cover the topics of their problem: one number per problem, nan where it has no topics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Ints, pieces, row_dots, starts_of, unit_rows
from listwright._kernels.rows import best_rows
from listwright.errors import InputError
from listwright.features.scale import Scale
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.rewards import AlphaCoverage, AnySuccess, ConcaveCoverage, Coverage, ProbabilisticCoverage

JUDGED_SATISFIES = 0.5  # (2^1 - 1) / 2^1: probability that an item judged to cover a topic satisfies the reader
IDEALS = ("candidates", "judged")
SCALES = ("auto", "ndeval", "reader")


class Subtopics(NamedTuple):
    """Which topics each row covers, in CSR form; the topics of all problems are numbered consecutively."""

    row_starts: Ints  # where the entries of each row start
    topics: Ints  # the topic of each entry
    satisfies: Floats  # probability that the row satisfies a reader who looks for the topic
    weights: Floats  # weight of each topic
    starts: Ints  # where the topics and the rows of each problem start
    offsets: Ints
    totals: Floats  # weight and number of all topics of a problem, including those that no candidate covers
    counts: Floats

    @property
    def owners(self) -> Ints:
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def entries(self, picks: Ints) -> Ints:
        """Return the entries of the picked rows; -1 picks nothing."""
        return pieces(self.row_starts, picks[picks >= 0])


def has_topics(problems: Problems) -> bool:
    return isinstance(problems.reward, AnySuccess | Coverage | ProbabilisticCoverage | ConcaveCoverage)


def subtopics(problems: Problems) -> Subtopics:
    """Return the topics of the reward: of any kind of coverage, or of `AnySuccess`, which has one topic per problem."""
    if not has_topics(problems):
        kind = "no reward" if problems.reward is None else type(problems.reward).__name__
        raise InputError(f"Topic metrics need a coverage reward, or AnySuccess. These problems have {kind}.")
    if isinstance(problems.reward, AnySuccess):
        return _one_topic(problems)
    reward, tables = problems.reward, problems.reward.tables
    starts, amounts, weights = tables["weights"].offsets, tables["amounts"].values, tables["weights"].values
    if isinstance(reward, AlphaCoverage):  # its weights divide by the ideal
        weights = np.ones_like(weights)
    shares = amounts if isinstance(reward, ProbabilisticCoverage) else np.full(len(amounts), JUDGED_SATISFIES)
    of_problem = np.repeat(starts[:-1], np.diff(tables["topics"].offsets))
    owners = np.repeat(np.arange(len(problems)), np.diff(starts))
    totals: Floats = np.bincount(owners, weights, len(problems)).astype(np.float64)
    counts = np.diff(starts).astype(np.float64)
    if isinstance(reward, AlphaCoverage):
        totals = counts = tables["n_topics"].values.astype(np.float64)
    row_starts, topics = starts_of(tables["touched"].values), tables["topics"].values + of_problem
    return Subtopics(row_starts, topics, shares, weights, starts, problems.offsets, totals, counts)


def _one_topic(problems: Problems) -> Subtopics:
    """Return the single topic of each problem under `AnySuccess`, which every row that can succeed covers."""
    success = problems.reward.tables["success"].values
    some, ones = success > 0, np.ones(len(problems))
    row_starts, starts = starts_of(some.astype(np.int64)), np.arange(len(problems) + 1)
    return Subtopics(row_starts, problems.owners[some], success[some], ones, starts, problems.offsets, ones, ones)


def subtopic_recall(lists: Lists, problems: Problems, *, at: int | None = None) -> Floats:
    """Share of the problem's topics that some item of the list covers (Zhai et al. 2003; ndeval's strec).

    Parameters
    ----------
    lists : Lists
        Lists for these problems.
    problems : Problems
        Problems with a coverage reward. Topics that no candidate covers count if the reward knows them:
        `AlphaCoverage`.
    at : int, optional
        Consider the first `at` items only.

    Returns
    -------
    ndarray of float, shape (problems,)
        Shares from 0 to 1; nan for problems without topics.

    See Also
    --------
    alpha_ndcg : Also considers the order of the list.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = lw.rewards.Coverage([[[1, 0, 0], [1, 1, 0], [0, 0, 1]]])
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=reward)
    >>> subtopic_recall(lw.Lists(problems, np.array([[0, 1]])), problems).round(3)
    array([0.667])
    """
    topics, rows = subtopics(problems), _cut(lists, at)
    covered = np.zeros(len(topics.weights), dtype=bool)
    for picks in rows.T:
        covered[topics.topics[topics.entries(picks)]] = True
    hits = np.bincount(topics.owners, covered, minlength=len(topics.counts))
    return np.where(topics.counts > 0, hits / np.maximum(topics.counts, 1), np.nan)


def alpha_ndcg(
    lists: Lists, problems: Problems, *, alpha: float = 0.5, ideal: str = "candidates", at: int | None = None
) -> Floats:
    """alpha-nDCG (Clarke et al. 2008): each time a topic occurs again it counts 1 - alpha times as much.

    Gains are discounted by log2(1 + rank) and divided by those of an ideal list, which is built greedily.

    Parameters
    ----------
    lists : Lists
        Lists for these problems.
    problems : Problems
        Problems with a coverage reward or `AnySuccess`.
    alpha : float, default 0.5
        0 gives plain nDCG of the number of topics; with 1 a topic counts once.
    ideal : {"candidates", "judged"}, default "candidates"
        "candidates": the ideal list has the same items to choose from. Use it to compare methods that re-rank the same
        pool. "judged": the ideal of all judged items, as ndeval computes it, so that figures are comparable with
        published ones. That needs a reward that knows this ideal: `AlphaCoverage(ideal=...)`, which
        `datasets.read_trec_web` and `tables.qrels_reward(..., alpha=0.5)` return.
    at : int, optional
        Consider the first `at` items only; all by default.

    Returns
    -------
    ndarray of float, shape (problems,)
        nan for problems whose ideal is 0.

    Raises
    ------
    InputError
        If the reward has no topics, or not the ideal that is needed.

    See Also
    --------
    err_ia : How early a reader finds what they look for.
    listwright.tables.read_run : Reads lists from a TREC run file.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = lw.rewards.AlphaCoverage([[[1, 0, 0], [1, 1, 0], [0, 0, 1]]], ideal=[[3.0, 3.0]])
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=reward)
    >>> lists = lw.Lists(problems, np.array([[0, 1]]))
    >>> alpha_ndcg(lists, problems).round(3), alpha_ndcg(lists, problems, ideal="judged").round(3)
    (array([0.74]), array([0.649]))
    """
    if not 0.0 <= alpha <= 1.0:
        raise InputError(f"alpha must be between 0 and 1. Got {alpha}.")
    if ideal not in IDEALS:
        raise InputError(f"ideal must be one of {', '.join(IDEALS)}. Got {ideal!r}.")
    topics, rows = subtopics(problems), _cut(lists, at)
    length = rows.shape[1] if at is None else at
    judged = ideal == "judged"
    best = _judged_ideal(problems, length, alpha) if judged else _discounted_gains(topics, None, length, alpha)
    return np.where(best > 0, _discounted_gains(topics, rows, rows.shape[1], alpha) / _safe(best), np.nan)


def err_ia(lists: Lists, problems: Problems, *, scale: str = "auto", at: int | None = None) -> Floats:
    """ERR-IA (Chapelle et al. 2011): the expected 1 / rank at which a reader stops, averaged over topics by weight.

    A reader looks for one topic and stops at an item with the probability that it satisfies them: the probability that
    a probabilistic reward gives, alpha for `AlphaCoverage`, and one half for an item that is merely judged to cover the
    topic.

    Parameters
    ----------
    lists : Lists
        Lists for these problems.
    problems : Problems
        Problems with a coverage reward or `AnySuccess`.
    scale : {"auto", "ndeval", "reader"}, default "auto"
        "reader": the expectation itself. "ndeval": divided by that of a list in which every item covers every topic, so
        that the best value is 1; published figures are on this scale. "auto": "ndeval" if topics are judged, where the
        probability of one half is a convention, and "reader" if the reward gives the probabilities.
    at : int, optional
        Consider the first `at` items only; all by default.

    Returns
    -------
    ndarray of float, shape (problems,)
        nan for problems without topics.

    See Also
    --------
    alpha_ndcg : New topics early in the list.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = lw.rewards.Coverage([[[1, 0], [1, 1]]])
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 2, 1)), reward=reward)
    >>> lists = lw.Lists(problems, np.array([[0, 1]]))
    >>> err_ia(lists, problems, scale="reader")  # topic 1: 1/2 + 1/2 * 1/2 / 2; topic 2: 1/2 / 2
    array([0.4375])
    >>> err_ia(lists, problems)  # of 1/2 + 1/2 * 1/2 / 2
    array([0.7])
    """
    if scale not in SCALES:
        raise InputError(f"scale must be one of {', '.join(SCALES)}. Got {scale!r}.")
    relevant, rows = subtopics(problems), _cut(lists, at)
    going, credits = np.ones(len(relevant.weights)), np.zeros(len(relevant.weights))
    for rank, picks in enumerate(rows.T, start=1):
        entries = relevant.entries(picks)
        topics, chance = relevant.topics[entries], relevant.satisfies[entries]
        credits[topics] += going[topics] * chance / rank
        going[topics] *= 1.0 - chance
    sums = np.bincount(relevant.owners, relevant.weights * credits, len(problems))
    most = _most(problems, scale, rows.shape[1] if at is None else at)
    return np.where(relevant.totals > 0, sums / _safe(relevant.totals) / most, np.nan)


def _most(problems: Problems, scale: str, length: int) -> float:
    """Return the ERR-IA of a list in which every item covers every topic, or 1 on the scale "reader"."""
    reward = problems.reward
    given = isinstance(reward, AnySuccess | ProbabilisticCoverage) and not isinstance(reward, AlphaCoverage)
    if scale == "reader" or (scale == "auto" and given):
        return 1.0
    chance = reward.alpha if isinstance(reward, AlphaCoverage) else JUDGED_SATISFIES
    ranks = np.arange(length)
    return float((chance * (1.0 - chance) ** ranks / (ranks + 1.0)).sum())


def _cut(lists: Lists, at: int | None) -> Ints:
    if at is not None and (isinstance(at, bool) or not isinstance(at, int | np.integer) or at < 1):
        raise InputError(f"at must be a whole number of at least 1. Got {at!r}.")
    return lists.rows if at is None else lists.rows[:, :at]


def _judged_ideal(problems: Problems, length: int, alpha: float) -> Floats:
    reward = problems.reward
    if not isinstance(reward, AlphaCoverage) or "ideal" not in reward.tables:
        raise InputError(
            'ideal="judged" needs to know the ideal list of all judged items. Give the problems a reward '
            'AlphaCoverage(covers, ideal=...), or pass ideal="candidates".'
        )
    if alpha != reward.alpha:
        raise InputError(f"The ideal of these problems is for alpha={reward.alpha:g}. Got alpha={alpha:g}.")
    table = reward.tables["ideal"].values
    if length > table.shape[1]:
        raise InputError(f"The ideal of these problems is known up to rank {table.shape[1]}. Got {length}: pass at=.")
    return table[:, length - 1]


def _discounted_gains(table: Subtopics, rows: Ints | None, length: int, alpha: float) -> Floats:
    """Return the discounted gains of the lists, or of greedy ones if `rows` is None."""
    left = table.weights.copy()  # what a topic is worth the next time
    open_rows = np.ones(len(table.row_starts) - 1, dtype=bool)
    row_of = np.repeat(np.arange(len(open_rows)), np.diff(table.row_starts))
    total = np.zeros(len(table.starts) - 1)
    for position in range(length):
        if rows is None:
            gains = np.bincount(row_of, left[table.topics], minlength=len(open_rows)).astype(np.float64)
            picks = best_rows(gains, open_rows, table.offsets)
        else:
            picks = rows[:, position]
        topics = table.topics[table.entries(picks)]
        total += np.bincount(table.owners[topics], left[topics], len(total)) / np.log2(position + 2.0)
        left[topics] *= 1.0 - alpha
        open_rows[picks[picks >= 0]] = False
    return total


def _safe(values: Floats) -> Floats:
    return np.where(values > 0, values, 1.0)


def intra_list_distance(lists: Lists, problems: Problems) -> Floats:
    """Mean of 1 - cosine similarity over all pairs of items of a list (Ziegler et al. 2005).

    Parameters
    ----------
    lists : Lists
        Lists for these problems.
    problems : Problems
        Similarity is measured on `problems.vectors`, or, without them, on the features scaled to mean 0 and standard
        deviation 1 over all rows.

    Returns
    -------
    ndarray of float, shape (problems,)
        0 if all items point the same way, 1 if they are orthogonal; nan for lists of fewer than two items.

    See Also
    --------
    subtopic_recall : Diversity by known topics.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), vectors=[[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    >>> intra_list_distance(lw.Lists(problems, np.array([[0, 1, 2]])), problems).round(3)
    array([0.667])
    """
    vectors, features = problems.vectors, problems.features
    units = unit_rows(Scale.of(features).apply(features) if vectors is None else vectors)
    owner, position = np.nonzero(lists.rows >= 0)
    chosen = (np.ones(len(owner)), (owner, lists.rows[owner, position]))
    picked = sparse.csr_array(chosen, shape=(len(problems), problems.n_rows))
    sums = picked @ units
    together, alone = row_dots(sums, sums), picked @ row_dots(units, units)
    pairs = lists.lengths * (lists.lengths - 1.0)
    return np.where(pairs > 0, 1.0 - (together - alone) / np.maximum(pairs, 1.0), np.nan)
