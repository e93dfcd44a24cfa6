"""Metrics agree with their definitions, written out one list at a time."""

from __future__ import annotations

import json
import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright import evaluation as metrics
from listwright import rewards
from listwright.errors import InputError
from listwright.problems import Problems


def random_case(seed: int, *, reward: str = "coverage") -> tuple[Problems, lw.Lists, np.ndarray, np.ndarray]:
    """Problems of different sizes, lists of different lengths, the amounts by row and topic, weights by topic."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(2, 7, size=12)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    amounts = (rng.random((offsets[-1], 4)) < 0.35).astype(float)
    if reward == "probabilistic":
        amounts *= rng.random(amounts.shape).round(2)
    weights = rng.integers(1, 4, size=4).astype(float)
    kind = rewards.ProbabilisticCoverage if reward == "probabilistic" else rewards.Coverage
    vectors = rng.normal(size=(offsets[-1], 3))
    problems = Problems.from_arrays(
        rng.random((offsets[-1], 2)), offsets=offsets, reward=kind(amounts, weights), vectors=vectors
    )
    rows = np.full((len(counts), 3), -1)
    for i, n in enumerate(counts):
        length = rng.integers(1, min(3, n) + 1)
        rows[i, :length] = offsets[i] + rng.permutation(n)[:length]
    return problems, lw.Lists(problems, rows), amounts, weights


def dcg(items: list[int], amounts: np.ndarray, weights: np.ndarray, alpha: float) -> float:
    seen, total = np.zeros(amounts.shape[1]), 0.0
    for rank, item in enumerate(items, start=1):
        covers = amounts[item] > 0
        total += float((weights * covers * (1 - alpha) ** seen).sum()) / math.log2(1 + rank)
        seen += covers
    return total


def greedy_dcg(rows: list[int], length: int, amounts: np.ndarray, weights: np.ndarray, alpha: float) -> float:
    chosen: list[int] = []
    seen = np.zeros(amounts.shape[1])
    for _ in range(min(length, len(rows))):
        open_rows = [row for row in rows if row not in chosen]
        best = max(open_rows, key=lambda row: (float((weights * (amounts[row] > 0) * (1 - alpha) ** seen).sum()), -row))
        chosen.append(best)
        seen += amounts[best] > 0
    return dcg(chosen, amounts, weights, alpha)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_alpha_ndcg_is_its_definition(alpha: float) -> None:
    problems, lists, amounts, weights = random_case(1)
    found = metrics.alpha_ndcg(lists, problems, alpha=alpha)
    for i, rows in enumerate(lists.rows):
        mine = [int(row) for row in rows if row >= 0]
        candidates = list(range(problems.offsets[i], problems.offsets[i + 1]))
        ideal = greedy_dcg(candidates, 3, amounts, weights, alpha)
        assert found[i] == pytest.approx(dcg(mine, amounts, weights, alpha) / ideal if ideal else np.nan, nan_ok=True)


@pytest.mark.parametrize("reward", ["coverage", "probabilistic"])
def test_err_ia_is_its_definition(reward: str) -> None:
    problems, lists, amounts, weights = random_case(2, reward=reward)
    found = metrics.err_ia(lists, problems, scale="reader")
    chances = amounts if reward == "probabilistic" else amounts * 0.5
    for i, rows in enumerate(lists.rows):
        there = (amounts[problems.offsets[i] : problems.offsets[i + 1]] > 0).any(axis=0)
        total = 0.0
        for topic in np.flatnonzero(there):
            going = 1.0
            for rank, row in enumerate(rows[rows >= 0], start=1):
                total += weights[topic] * going * chances[row, topic] / rank
                going *= 1 - chances[row, topic]
        share = total / weights[there].sum() if there.any() else np.nan
        assert found[i] == pytest.approx(share, nan_ok=True)


def test_subtopic_recall_is_its_definition() -> None:
    problems, lists, amounts, _ = random_case(3)
    found = metrics.subtopic_recall(lists, problems)
    for i, rows in enumerate(lists.rows):
        there = (amounts[problems.offsets[i] : problems.offsets[i + 1]] > 0).any(axis=0)
        covered = (amounts[rows[rows >= 0]] > 0).any(axis=0)
        assert found[i] == pytest.approx(covered.sum() / there.sum() if there.any() else np.nan, nan_ok=True)


@pytest.mark.parametrize("with_vectors", [True, False])
def test_intra_list_distance_is_its_definition(with_vectors: bool) -> None:
    problems, lists, _, _ = random_case(4)
    if not with_vectors:
        problems = Problems.from_arrays(problems.features, offsets=problems.offsets, reward=problems.reward)
    table = problems.vectors if with_vectors else problems.features
    table = table if with_vectors else (table - table.mean(axis=0)) / table.std(axis=0)
    found = metrics.intra_list_distance(lists, problems)
    for i, rows in enumerate(lists.rows):
        pairs = list(combinations(rows[rows >= 0], 2))
        cosines = [table[a] @ table[b] / np.linalg.norm(table[a]) / np.linalg.norm(table[b]) for a, b in pairs]
        assert found[i] == pytest.approx(1 - np.mean(cosines) if pairs else np.nan, nan_ok=True, abs=1e-5)


def test_distance_of_sparse_vectors_is_that_of_dense_ones() -> None:
    from scipy import sparse

    problems, lists, _, _ = random_case(5)
    thin = Problems.from_arrays(problems.features, offsets=problems.offsets, vectors=sparse.csr_array(problems.vectors))
    np.testing.assert_allclose(
        metrics.intra_list_distance(lists, thin), metrics.intra_list_distance(lists, problems), atol=1e-6
    )


def test_metrics_of_judged_topics_at_a_rank() -> None:
    covers = np.array([[[1, 0, 0], [1, 1, 0], [0, 0, 0]]])
    reward = rewards.AlphaCoverage(covers, ideal=[[2.0, 2.5, 3.0]], n_topics=[4])
    problems = Problems.from_arrays(np.zeros((1, 3, 1)), reward=reward)
    lists = lw.Lists(problems, np.array([[0, -1, 1]]))  # a gap at rank 2: a document that is no candidate
    dcg = 1 + (0.5 + 1) / 2
    assert metrics.alpha_ndcg(lists, problems, ideal="judged") == pytest.approx(dcg / 3)
    assert metrics.alpha_ndcg(lists, problems, ideal="judged", at=1) == pytest.approx(1 / 2)
    assert metrics.subtopic_recall(lists, problems) == pytest.approx(2 / 4)
    most = 1 + 0.5 / 2 + 0.25 / 3  # ndeval: a list whose every item covers all four topics
    assert metrics.err_ia(lists, problems) == pytest.approx((1 + (0.5 + 1) / 3) / (4 * most))
    assert metrics.err_ia(lists, problems, at=1) == pytest.approx(1 / 4)


def test_any_success_is_one_topic() -> None:
    success = np.array([[0, 1, 1], [0, 0, 0]])
    problems = Problems.from_arrays(np.zeros((2, 3, 1)), reward=rewards.AnySuccess(success))
    lists = lw.Lists(problems, np.array([[0, 1], [3, 4]]))
    np.testing.assert_allclose(metrics.err_ia(lists, problems), [0.5, 0.0])
    assert metrics.evaluate(lists, problems).metrics["failure"].mean == 0.5


def test_evaluate_measures_a_model_and_its_lists_alike() -> None:
    rng = np.random.default_rng(0)
    x = rng.random((60, 6, 3))
    problems = Problems.from_arrays(x, reward=rewards.Coverage((x > 0.7).astype(float)))
    model = lw.SCP(3, effort="fast", random_state=0).fit(problems)
    one, other = metrics.evaluate(model, problems), metrics.evaluate(model.predict(problems), problems)
    assert one.to_dict() == other.to_dict()
    assert one.metrics["value"].mean == pytest.approx(model.score(problems))
    assert one.by_position[-1] == one.metrics["value"]
    means = [position.mean for position in one.by_position]
    assert len(means) == 3
    assert means == sorted(means)
    assert len(metrics.evaluate(model, problems, length=2).by_position) == 2
    assert json.loads(json.dumps(one.to_dict()))["n_problems"] == 60
    assert str(one).startswith("60 problems: mean (95 % interval)\nvalue ")


@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
def test_intervals_hold_the_truth_about_19_times_of_20(interval: str) -> None:
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(200):
        found = metrics.estimate(rng.random(40), interval=interval, rng=rng)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= 0.5 <= found.high
    assert 180 <= inside <= 199


def test_a_single_problem_has_no_interval_and_undefined_metrics_are_left_out() -> None:
    problems = Problems.from_arrays(np.zeros((1, 2, 1)), reward=rewards.Coverage([[[0], [0]]]))
    found = metrics.evaluate(lw.Lists(problems, np.array([[0]])), problems)
    assert found.metrics["value"].low is None
    assert set(found.metrics) == {"value", "failure"}
    assert json.dumps(found.to_dict())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p, lists: metrics.evaluate(lists, p.without_reward()), "evaluate needs a reward"),
        (lambda p, lists: metrics.evaluate(lists, p, length=2), "These lists are built already"),
        (lambda p, lists: metrics.evaluate(3, p), "takes a fitted model, or lists. Got int"),
        (lambda p, lists: metrics.evaluate(lists, p, interval="guess"), "interval must be one of normal, bootstrap"),
        (lambda p, lists: metrics.alpha_ndcg(lists, p, alpha=2.0), "alpha must be between 0 and 1"),
        (lambda p, lists: metrics.alpha_ndcg(lists, p, ideal="best"), "ideal must be one of candidates, judged"),
        (lambda p, lists: metrics.alpha_ndcg(lists, p, ideal="judged"), "needs to know the ideal list of all judged"),
        (lambda p, lists: metrics.alpha_ndcg(lists, p, at=0), "at must be a whole number of at least 1"),
        (lambda p, lists: metrics.err_ia(lists, p, scale="trec"), "scale must be one of auto, ndeval, reader"),
        (lambda p, lists: metrics.err_ia(lists, p.without_reward()), "These problems have no reward"),
    ],
)
def test_errors_say_what_is_missing(call: Any, message: str) -> None:
    problems, lists, _, _ = random_case(6)
    with pytest.raises(InputError, match=message):
        call(problems, lists)
