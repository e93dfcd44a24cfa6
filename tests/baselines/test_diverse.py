"""MMR and DPP against their definitions, on dense and sparse vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression

import listwright as lw
from listwright.baselines import DPP, MMR, TopK
from listwright.errors import InputError

COUNTS = [7, 1, 12, 4, 30]
KINDS = {"dense": np.asarray, "sparse": sparse.csr_array}


def made(seed: int = 0, kind: Any = np.asarray, width: int = 6, **arrays: Any) -> lw.Problems:
    """Vectors with some zeros, and two features."""
    rng = np.random.default_rng(seed)
    n = sum(COUNTS)
    vectors = rng.standard_normal((n, width)) * (rng.random((n, width)) < 0.7)
    return lw.Problems.from_arrays(
        rng.random((n, 2)),
        offsets=np.concatenate([[0], np.cumsum(COUNTS)]),
        vectors=kind(vectors.astype(np.float32)),
        sizes=rng.integers(1, 5, n) / 2,
        feature_names=["age", "fame"],
        **arrays,
    )


def units(problem: lw.Problems) -> Any:
    table = problem.vectors.toarray() if sparse.issparse(problem.vectors) else problem.vectors
    table = table.astype(float)
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths > 0, lengths, 1)


def central(problem: lw.Problems) -> Any:
    centre = units(problem).sum(axis=0)
    return units(problem) @ centre / np.linalg.norm(centre)


def slow(problem: lw.Problems, score: Any, length: int, room: float = np.inf) -> list[int]:
    """One item after the other: the best score given the list, among what fits."""
    assert problem.sizes is not None
    items: list[int] = []
    while len(items) < length:
        left = [i for i in range(problem.n_rows) if i not in items and problem.sizes[i] <= room]
        if not left:
            break
        items.append(max(left, key=lambda i: score(items, i)))
        room -= float(problem.sizes[items[-1]])
    return items


def mmr_score(problem: lw.Problems, relevance: Any, diversity: float) -> Any:
    cosines = units(problem) @ units(problem).T

    def score(items: list[int], i: int) -> float:
        near = max((cosines[i, j] for j in items), default=None)
        return relevance[i] if near is None else (1 - diversity) * relevance[i] - diversity * near

    return score


def dpp_score(problem: lw.Problems, relevance: Any, scale: float) -> Any:
    vectors = units(problem)

    def score(items: list[int], i: int) -> float:
        rest = vectors[i]
        if items:
            basis = np.linalg.qr(vectors[items].T)[0][:, : np.linalg.matrix_rank(vectors[items], tol=1e-4)]
            if len(items) <= vectors.shape[1] and basis.shape[1] == len(items):
                rest = rest - basis @ (basis.T @ rest)
            else:
                rest = rest - np.linalg.lstsq(vectors[items].T, rest, rcond=1e-6)[0] @ vectors[items]
        return scale * relevance[i] + np.log(max(rest @ rest, 1e-10))

    return score


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("diversity", [0, 0.3, 0.7, 1])
def test_mmr_is_its_definition(kind: str, diversity: float) -> None:
    problems = made(kind=KINDS[kind])
    model = MMR(diversity, "fame", length=6).fit(problems)
    lists, in_budget = model.predict(problems, allow_short=True), model.predict(problems, budget=3.5)
    for i, one in enumerate(problems):
        score = mmr_score(one, one.features[:, 1].astype(float), diversity)
        assert lists[i].tolist() == slow(one, score, 6)
        assert in_budget[i].tolist() == slow(one, score, 99, 3.5)
        assert lists.scores is not None
        wanted = [score(lists[i][:p].tolist(), row) for p, row in enumerate(lists[i].tolist())]
        np.testing.assert_allclose(lists.scores[i][1:], wanted[1:], atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [0, 1, 4])
def test_dpp_is_its_definition(kind: str, scale: float) -> None:
    problems = made(kind=KINDS[kind])
    model = DPP(scale, "fame", length=5).fit(problems)
    lists, in_budget = model.predict(problems, allow_short=True), model.predict(problems, budget=3.5)
    for i, one in enumerate(problems):
        score = dpp_score(one, one.features[:, 1].astype(float), scale)
        if scale:  # without relevance the first pick is a tie of unit vectors up to rounding
            assert lists[i].tolist() == slow(one, score, 5)
            assert in_budget[i].tolist()[:5] == slow(one, score, 5, 3.5)
        assert lists.scores is not None
        wanted = [score(lists[i][:p].tolist(), row) for p, row in enumerate(lists[i].tolist())]
        np.testing.assert_allclose(lists.scores[i], wanted, atol=1e-6)


def test_dpp_scores_add_up_to_the_log_determinant() -> None:
    problems = made()
    lists = DPP(2.0, 0, length=4).fit(problems).predict(problems, allow_short=True)
    assert lists.scores is not None
    for i, one in enumerate(problems):
        quality, chosen = np.exp(one.features[:, 0].astype(float)), lists[i]
        kernel = quality[chosen, None] * quality[chosen] * (units(one)[chosen] @ units(one)[chosen].T)
        assert lists.scores[i].sum() == pytest.approx(np.linalg.slogdet(kernel)[1], abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", [MMR(0.4, length=5), DPP(2.0, length=5)], ids=str)
def test_without_relevance_the_centre_is_relevant(model: Any, kind: str) -> None:
    problems = made(kind=KINDS[kind])
    lists = model.fit(problems).predict(problems, allow_short=True)
    for i, one in enumerate(problems):
        relevance = central(one)
        score = mmr_score(one, relevance, 0.4) if isinstance(model, MMR) else dpp_score(one, relevance, 2.0)
        assert lists[i].tolist() == slow(one, score, 5)


def test_learned_relevance_runs_from_0_to_1_in_each_problem() -> None:
    problems = made(reward=lw.rewards.AnySuccess(np.random.default_rng(1).random(sum(COUNTS))))
    gains = TopK(LinearRegression()).fit(problems).relevance(problems)
    lists = MMR(0.3, LinearRegression(), length=5).fit(problems).predict(problems, allow_short=True)
    for i, one in enumerate(problems):
        own = gains[problems.offsets[i] : problems.offsets[i + 1]]
        span = own.max() - own.min()
        relevance = (own - own.min()) / span if span else np.zeros(len(own))
        assert lists[i].tolist() == slow(one, mmr_score(one, relevance, 0.3), 5)


def test_features_stand_in_for_vectors() -> None:
    problems = made()
    plain = lw.Problems.from_arrays(problems.vectors, offsets=problems.offsets)
    for model in (MMR(0.5, length=1), DPP(length=1)):
        model.fit(plain)
        wanted = model.predict(plain, length=4, allow_short=True).rows
        np.testing.assert_array_equal(model.fit(problems).predict(problems, length=4, allow_short=True).rows, wanted)


@pytest.mark.parametrize("model", [MMR(0.5, 0, length=4), DPP(1.0, 0, length=4)], ids=str)
def test_ties_go_to_the_lowest_row(model: Any) -> None:
    """Pairs of equal rows: one of each first, the lower one; then the rest in order."""
    vectors = np.repeat(np.eye(2), 2, axis=0)
    problems = lw.Problems.from_arrays(np.ones((4, 1)), offsets=[0, 4], vectors=vectors)
    assert model.fit(problems).predict(problems)[0].tolist() == [0, 2, 1, 3]


def test_a_spanned_space_leaves_it_to_relevance() -> None:
    features = np.array([[0.1], [0.9], [0.5], [0.7]])
    problems = lw.Problems.from_arrays(features, offsets=[0, 4], vectors=[[1, 0], [0, 1], [1, 1], [2, 1]])
    assert DPP(1.0, 0, length=4).fit(problems).predict(problems)[0].tolist() == [1, 3, 2, 0]
    copies = lw.Problems.from_arrays(features, offsets=[0, 4], vectors=[[1, 0]] * 4)
    assert DPP(1.0, 0, length=4).fit(copies).predict(copies)[0].tolist() == [1, 3, 2, 0]


def test_zero_vectors_are_like_nothing() -> None:
    problems = lw.Problems.from_arrays([[0.9], [0.8], [0.7]], offsets=[0, 3], vectors=[[1, 0], [1, 0], [0, 0]])
    assert MMR(0.5, 0, length=3).fit(problems).predict(problems)[0].tolist() == [0, 2, 1]
    assert DPP(1.0, 0, length=3).fit(problems).predict(problems)[0].tolist() == [0, 1, 2]


def test_unsorted_sparse_columns() -> None:
    table = sparse.csr_array(
        (np.array([1.0, 2, 3, 1, 5, 1]), np.array([2, 0, 1, 0, 2, 1]), np.array([0, 2, 4, 6])), shape=(3, 3)
    )
    ids = {"offsets": [0, 3], "vectors": table}
    sorted_ids = ids | {"vectors": table.toarray()}
    for model in (MMR(0.6, 0, length=3), DPP(1.0, 0, length=3)):
        rows = [
            model.fit(p).predict(p).rows.tolist()
            for p in (lw.Problems.from_arrays([[0.5], [0.4], [0.3]], **kind) for kind in (ids, sorted_ids))
        ]
        assert rows[0] == rows[1]


def test_many_near_copies_are_measured_again_and_again() -> None:
    """A case where lazy bounds are loose: all rows point the same way, so every pick lowers every row."""
    rng = np.random.default_rng(0)
    vectors = (rng.standard_normal((400, 8)) * 0.05 + 1).astype(np.float32)
    problems = lw.Problems.from_arrays(rng.random((400, 1)), offsets=[0, 400], vectors=vectors, sizes=np.ones(400))
    relevance = problems.features[:, 0].astype(float)
    lists = MMR(0.9, 0, length=12).fit(problems).predict(problems)
    assert lists[0].tolist() == slow(problems, mmr_score(problems, relevance, 0.9), 12)
    lists = DPP(1.0, 0, length=6).fit(problems).predict(problems)
    assert lists[0].tolist() == slow(problems, dpp_score(problems, relevance, 1.0), 6)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (MMR(-0.1), "diversity must be between 0 .relevance only. and 1. Got -0.1"),
        (MMR(1.5), "diversity must be between 0"),
        (DPP(-1), "scale must be 0 .diverse only. or more. Got -1"),
        (MMR(relevance=2), "relevance names column 2 of 2. Count from 0"),
        (MMR(relevance=-1), "relevance names column -1 of 2"),
        (DPP(relevance="height"), "relevance must be a column or an estimator .age, fame, ridge.*Got 'height'"),
        (MMR(relevance=[1]), "relevance must be one of ridge, extra_trees, boosting, or an estimator"),
        (MMR(relevance="ridge"), "fit needs a reward"),
    ],
    ids=str,
)
def test_bad_parameters(model: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(made())


def test_there_must_be_something_to_compare() -> None:
    problems = lw.Problems.from_arrays(np.zeros((2, 3, 0)), catalogue=np.arange(3))
    with pytest.raises(InputError, match="Cosines need vectors or features"):
        MMR().fit(problems)
