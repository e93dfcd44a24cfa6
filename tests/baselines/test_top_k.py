"""Relevance only: the same as a regression written out by hand, and a sort."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

import listwright as lw
from listwright.baselines import TopK
from listwright.errors import InputError
from tests.laws.reward_examples import example

COUNTS = [4, 2, 5, 3, 5, 4, 3, 5, 2, 5, 4, 5]


def ragged(seed: int = 0) -> lw.Problems:
    """Problems of different lengths, each with some of a catalogue of 5."""
    rng = np.random.default_rng(seed)
    n, starts = sum(COUNTS), np.concatenate([[0], np.cumsum(COUNTS)])
    items = np.concatenate([rng.permutation(5)[:count] for count in COUNTS])
    return lw.Problems.from_arrays(
        rng.random((n, 2)),
        offsets=starts,
        context=rng.random((len(COUNTS), 2)),
        catalogue=items,
        reward=lw.rewards.AnySuccess(rng.integers(0, 5, n) / 4),
    )


def portfolio(n: int = 40, seed: int = 0, **options: Any) -> lw.Problems:
    """Items without features, whose success the context tells."""
    context = np.random.default_rng(seed).random((n, 2))
    success = np.stack([context[:, 0] < 0.3, context[:, 0] > 0.6, context[:, 1] > 0.5], axis=1)
    features = np.zeros((n, 3, 0))
    return lw.Problems.from_arrays(
        features, context=context, catalogue=np.arange(3), reward=lw.rewards.AnySuccess(success), **options
    )


def least_squares(table: Any, target: Any, asked: Any) -> Any:
    """Plain regression with an intercept."""
    padded, wanted = (np.column_stack([part, np.ones(len(part))]) for part in (table, asked))
    return wanted @ np.linalg.lstsq(padded, target, rcond=None)[0]


def sorted_lists(problems: lw.Problems, scores: Any, length: int) -> list[list[int]]:
    return [
        sorted(range(count), key=lambda i, start=start: -scores[start + i])[:length]
        for start, count in zip(problems.offsets, problems.counts, strict=False)
    ]


def test_rows_are_features_context_and_item() -> None:
    train, test = ragged(0), ragged(1)
    tables = []
    for problems in (train, test):
        assert problems.context is not None
        assert problems.catalogue is not None
        rows = [
            [*problems.features[row], *problems.context[problems.owners[row]], *np.eye(5)[problems.catalogue[row]]]
            for row in range(problems.n_rows)
        ]
        tables.append(np.array(rows))
    scores = least_squares(tables[0], train.reward.tables["success"].values, tables[1])
    model = TopK(LinearRegression(), length=3).fit(train)
    lists = model.predict(test, allow_short=True)
    assert [one.tolist() for one in lists] == sorted_lists(test, scores, 3)
    np.testing.assert_allclose(model.relevance(test), scores, atol=1e-5)


def test_one_model_an_item_from_the_problems_that_offer_it() -> None:
    train, test = ragged(0), ragged(1)
    success, scores = train.reward.tables["success"].values, np.zeros(test.n_rows)
    for item in range(5):
        assert train.catalogue is not None
        assert test.catalogue is not None
        rows, asked = np.flatnonzero(train.catalogue == item), np.flatnonzero(test.catalogue == item)
        contexts = [part.context[part.owners[at]] for part, at in ((train, rows), (test, asked))]
        scores[asked] = least_squares(contexts[0], success[rows], contexts[1])
    model = TopK(LinearRegression(), per_item=True).fit(train)
    np.testing.assert_allclose(model.relevance(test), scores, atol=1e-5)


def test_gains_alone_are_the_rewards_own() -> None:
    problems = example("coverage, weights", [6, 6, 6, 6], context=np.arange(4.0)[:, None], catalogue=[*range(6)] * 4)
    gains = problems.reward.gains(problems.reward.start(problems)).reshape(4, 6)
    model = TopK(DecisionTreeRegressor(), per_item=True, length=2).fit(problems)
    np.testing.assert_allclose(model.relevance(problems), gains.ravel())


def test_per_item_is_chosen_for_portfolios() -> None:
    assert TopK().fit(portfolio()).per_item_
    assert not TopK(per_item=False).fit(portfolio()).per_item_
    assert not TopK().fit(ragged()).per_item_


@pytest.mark.parametrize("estimator", ["ridge", "extra_trees", "boosting", LogisticRegression(), LinearSVC()], ids=str)
def test_estimators_learn_which_item_suits_the_context(estimator: Any) -> None:
    model = TopK(estimator, length=1, random_state=0).fit(portfolio(300))
    fixed = max(portfolio(200, 1).reward.tables["success"].values.reshape(200, 3).mean(axis=0))
    best = portfolio(200, 1).reward.tables["success"].values.reshape(200, 3).max(axis=1).mean()
    assert model.score(portfolio(200, 1)) > (fixed + best) / 2


def test_boosting_without_lightgbm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    monkeypatch.setattr("listwright.baselines.top_k.ROUNDS", 20)
    with threadpool_limits(1, user_api="openmp"):  # threads that wait for each other take seconds on a busy machine
        model = TopK("boosting", length=1, per_item=False).fit(portfolio(100))
        assert type(model.model_).__name__ == "HistGradientBoostingRegressor"
        assert model.score(portfolio(100)) > 0.7


def test_trees_share_one_forest_only_where_all_items_are_offered() -> None:
    whole = TopK("extra_trees", random_state=0).fit(portfolio())
    assert whole.model_ is not None
    some = TopK("extra_trees", per_item=True, random_state=0).fit(ragged())
    assert some.model_ is None
    assert sorted(some.models_) == [0, 1, 2, 3, 4]


def test_items_that_never_succeed_or_are_never_offered() -> None:
    success = np.column_stack([np.zeros(9), np.arange(9) % 2])
    train = lw.Problems.from_arrays(
        np.zeros((18, 0)),
        offsets=np.arange(10) * 2,
        context=np.random.default_rng(0).random((9, 1)),
        catalogue=[0, 2] * 9,
        reward=lw.rewards.AnySuccess(success.ravel()),
    )
    model = TopK(LogisticRegression(), length=1).fit(train)
    asked = lw.Problems.from_arrays(np.zeros((1, 3, 0)), context=[[0.5]], catalogue=[0, 1, 2])
    relevance = model.relevance(asked)
    assert relevance[:2].tolist() == [0, 0]
    assert relevance[2] > 0


def test_ties_go_to_the_lowest_row() -> None:
    problems = lw.Problems.from_arrays(np.zeros((3, 4, 1)), reward=lw.rewards.AnySuccess(np.ones((3, 4))))
    assert [one.tolist() for one in TopK(length=4).fit(problems).predict(problems)] == [[0, 1, 2, 3]] * 3


def test_scores_of_trees_are_the_same_bit_by_bit_in_every_call() -> None:
    problems = portfolio(200)
    model = TopK("extra_trees", length=3, random_state=0).fit(problems)
    first = model.predict(problems).picked_scores
    assert all(np.array_equal(model.predict(problems).picked_scores, first) for _ in range(5))


@pytest.mark.parametrize("estimator", ["ridge", "extra_trees", "boosting"])
def test_sparse_features(estimator: str) -> None:
    rng = np.random.default_rng(0)
    table = rng.random((400, 6)) * (rng.random((400, 6)) < 0.5)
    problems = [
        lw.Problems.from_arrays(
            kind(table), offsets=np.arange(0, 401, 8), reward=lw.rewards.AnySuccess(table[:, 2] > 0.5)
        )
        for kind in (sparse.csr_array, np.asarray)
    ]
    values = [TopK(estimator, length=1, random_state=0).fit(one[:40]).score(one[40:]) for one in problems]
    assert values[0] == values[1]
    assert values[0] >= 0.8


@pytest.mark.parametrize("estimator", ["boosting", HistGradientBoostingRegressor(max_iter=10, random_state=0)])
def test_boosting_of_sparse_features_is_the_same_from_a_file(estimator: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = sparse.csr_array(rng.random((80, 6)) * (rng.random((80, 6)) < 0.5))
    reward = lw.rewards.AnySuccess(table.toarray()[:, 2] > 0.5)
    problems = lw.Problems.from_arrays(table, offsets=np.arange(0, 81, 8), reward=reward)
    model = TopK(estimator, length=2, random_state=0).fit(problems)
    model.save(tmp_path / "model")
    assert lw.load(tmp_path / "model").predict(problems) == model.predict(problems)


def test_large_catalogues_stay_sparse() -> None:
    rng = np.random.default_rng(0)
    items = np.concatenate([rng.permutation(300)[:10] for _ in range(200)])
    success = items % 10 == 0
    reward = lw.rewards.AnySuccess(success)
    problems = lw.Problems.from_arrays(
        np.ones((2000, 1)), offsets=np.arange(0, 2001, 10), catalogue=items, reward=reward
    )
    model = TopK(length=1).fit(problems[:150])
    assert sparse.issparse(model._rows(problems))
    assert model.score(problems[150:]) > 0.9 * success.reshape(200, 10)[150:].max(axis=1).mean()


def test_few_and_many_rows_of_a_ridge(monkeypatch: pytest.MonkeyPatch) -> None:
    few = TopK().fit(portfolio()).model_
    monkeypatch.setattr("listwright.baselines.top_k.MANY_ROWS", 10)
    many = TopK().fit(portfolio()).model_
    assert [type(model[-1]).__name__ for model in (few, many)] == ["RidgeCV", "Ridge"]


@pytest.mark.parametrize("estimator", ["forest", None, 3, LinearRegression])
def test_bad_estimators(estimator: Any) -> None:
    with pytest.raises(InputError, match=r"estimator (must be|names column)"):
        TopK(estimator).fit(portfolio())


def test_bad_per_item() -> None:
    with pytest.raises(InputError, match="per_item must be True, False"):
        TopK(per_item="some").fit(portfolio())


def test_per_item_needs_to_know_the_problem() -> None:
    problems = lw.Problems.from_arrays(
        np.zeros((2, 3, 0)), catalogue=np.arange(3), reward=lw.rewards.AnySuccess(np.ones((2, 3)))
    )
    with pytest.raises(InputError, match="no features that describe them as a whole"):
        TopK(per_item=True).fit(problems)
