"""Rivals as equals: a column to sort by, a budget in the constructor, any estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import listwright as lw
from listwright import baselines
from listwright.baselines import DPP, MMR, TopK
from listwright.errors import InputError
from listwright.storage import save
from tests.booster_tools import booster

EVERY = {name: kind for name in baselines.__all__ if (kind := getattr(baselines, name)) is not baselines.Baseline}


def frame(n: int = 40, seed: int = 0) -> pd.DataFrame:
    """Passages for questions: a retriever's score, tokens, a second column, and whether they help."""
    rng = np.random.default_rng(seed)
    score = rng.random(6 * n)
    return pd.DataFrame(
        {
            "problem": np.repeat(np.arange(n), 6),
            "item": np.tile(np.arange(6), n),
            "retriever_score": score,
            "age": rng.random(6 * n),
            "size": rng.integers(1, 5, 6 * n),
            "helps": (score + 0.3 * rng.random(6 * n) > 0.9).astype(int),
        }
    )


def problems(**options: Any) -> lw.Problems:
    return lw.Problems.from_frame(frame(), reward="any:helps", **options)


def test_top_k_sorts_by_a_column() -> None:
    table = frame()
    lists = TopK("retriever_score", length=3).fit(table).predict(table)
    for i, (_, group) in enumerate(table.groupby("problem")):
        expected = group.sort_values("retriever_score", ascending=False)["item"].head(3)
        assert lists.item_ids[i].tolist() == expected.tolist()


def test_a_column_by_number_and_after_another_order() -> None:
    table = frame()
    by_name, by_number = (TopK(name, length=2).fit(table, reward="any:helps") for name in ("age", 1))
    assert by_name.predict(table) == by_number.predict(table)
    assert by_name.predict(table[table.columns[::-1]]) == by_name.predict(table)
    assert by_name.score(table) == by_number.score(table)


def test_a_column_is_sorted_as_mmr_without_diversity_sorts_it() -> None:
    known = problems()
    plain = TopK("retriever_score", length=4).fit(known).predict(known)
    for rival in (MMR(0.0, "retriever_score", length=4), DPP(1e6, "retriever_score", length=4)):
        assert [one.tolist() for one in rival.fit(known).predict(known)] == [one.tolist() for one in plain]


def test_a_wrong_column_names_those_that_are_there() -> None:
    told = r"estimator must be a column or an estimator \(retriever_score, age, ridge, .*\)\. Got 'retreiver_score'\."
    with pytest.raises(InputError, match=told):
        TopK("retreiver_score").fit(problems())
    with pytest.raises(InputError, match=r"estimator names column 2 of 2\. Count from 0\."):
        TopK(2).fit(problems())
    with pytest.raises(InputError, match="estimator must be"):
        TopK(True).fit(problems())


def test_what_learns_nothing_takes_a_frame_without_a_reward_and_what_learns_does_not() -> None:
    assert len(MMR(0.3, "retriever_score", length=2).fit(frame()).predict(frame())) == 40
    with pytest.raises(InputError, match=r'Pass reward=, such as "any:clicked"'):
        TopK("ridge").fit(frame())
    with pytest.raises(InputError, match="A frame does not say what a list is worth"):
        TopK("age").fit(frame()).score(frame())


@pytest.mark.parametrize("name", EVERY)
def test_every_rival_takes_a_budget_and_a_length(name: str) -> None:
    """In the constructor as in predict; also by way of clone, and with a score."""
    known = problems(catalogue="item", context=None)
    model = EVERY[name](budget=5.0).fit(known)
    assert clone(model).budget == 5.0
    lists = model.predict(known)
    assert known.sizes is not None
    assert all(known.sizes[rows[rows >= 0]].sum() <= 5.0 for rows in lists.rows)
    assert len(set(lists.lengths)) > 1, "a budget was taken for a length"
    if name not in ("Random", "ForestCover"):  # which draw
        assert lists == EVERY[name](budget=5.0).fit(known).predict(known, budget=5.0)
    assert 0 < model.score(known) <= 1
    assert (EVERY[name](length=2).fit(known).predict(known).lengths <= 2).all()
    assert EVERY[name](length=2).fit(known).score(known) > 0


@pytest.mark.parametrize("name", EVERY)
def test_budgets_that_cannot_be(name: str) -> None:
    with pytest.raises(InputError, match="budget must be above 0"):
        EVERY[name](budget=-1.0).fit(problems(catalogue="item"))
    with pytest.raises(InputError, match="The budget for training must be one number"):
        EVERY[name](budget=[1.0, 2.0]).fit(problems(catalogue="item"))
    with pytest.raises(InputError, match="A budget needs sizes"):
        EVERY[name](budget=1.0).fit(problems(catalogue="item", size=None))


class Duck:
    """An estimator that has scikit-learn's manners and nothing of scikit-learn."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"column": self.column}

    def set_params(self, column: int) -> Duck:
        self.column = column
        return self

    def fit(self, x: Any, y: Any) -> Duck:
        self.fitted_ = True
        return self

    def predict(self, x: Any) -> Any:
        return x[:, [self.column]]  # two dimensions, as some estimators give them


def test_an_estimator_need_not_be_of_scikit_learn() -> None:
    known = problems()
    by_column = TopK("retriever_score", length=3).fit(known).predict(known)
    assert [one.tolist() for one in TopK(Duck(), 3).fit(known).predict(known)] == [one.tolist() for one in by_column]
    lists = lw.SCP(length=3, learner=Duck(), features=lw.features.Candidate(), random_state=0).fit(known).predict(known)
    assert [one.tolist() for one in lists] == [one.tolist() for one in by_column]


BOOSTERS = [f"{library}{kind}" for library in ("XGB", "LGBM") for kind in ("Regressor", "Classifier", "Ranker")]


def small(name: str) -> Any:
    return booster(name, n_estimators=20, random_state=0)


@pytest.mark.parametrize("name", BOOSTERS)
def test_boosters_learn_to_sort_and_to_build_lists_and_are_saved(name: str, tmp_path: Any) -> None:
    known = problems()
    best = baselines.Oracle(length=1).fit(known).score(known)
    assert TopK(small(name), length=1).fit(known).score(known) > 0.9 * best
    fitted = lw.SCP(length=2, learner=small(name), random_state=0).fit(known)
    assert fitted.score(known) > 0.9 * best
    save(fitted, tmp_path / "model.listwright")
    assert lw.load(tmp_path / "model.listwright").predict(known) == fitted.predict(known)


def test_a_ranker_has_no_model_per_item() -> None:
    with pytest.raises(InputError, match="XGBRanker ranks items against each other"):
        TopK(small("XGBRanker"), per_item=True).fit(problems(catalogue="item"))
