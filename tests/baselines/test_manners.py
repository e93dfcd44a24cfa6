"""What every rival owes its caller: scikit-learn's manners, limits held, clear errors, no look at the reward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import listwright as lw
from listwright.baselines import DPP, MMR, Baseline, ForestCover, NearestCover, Oracle, Random, StaticList, TopK
from listwright.errors import InputError

RIVALS: dict[str, Baseline] = {
    "top-k": TopK(length=3),
    "top-k, trees": TopK("extra_trees", length=3, random_state=0),
    "top-k, per item": TopK(per_item=True, length=3),
    "static": StaticList(length=3),
    "nearest": NearestCover(4, length=3),
    "forest": ForestCover(10, length=3, random_state=0),
    "mmr": MMR(length=3),
    "mmr, learned": MMR(0.3, "ridge", length=3),
    "dpp": DPP(length=3),
    "random": Random(length=3, random_state=0),
    "oracle": Oracle(length=3),
}
LEARNING = [name for name in RIVALS if name not in ("mmr", "dpp", "random", "oracle")]
SAME_ALONE = [name for name in RIVALS if name != "random"]


def made(n: int = 30, seed: int = 0, **arrays: Any) -> lw.Problems:
    """Problems with everything: features, context, a catalogue of 7 and sizes."""
    rng = np.random.default_rng(seed)
    features, context = rng.random((n, 7, 3)), rng.random((n, 2))
    success = rng.random((n, 7)) < 0.5 * features[..., 0] * (1 + context[:, :1])
    arrays = {"reward": lw.rewards.AnySuccess(success), "sizes": rng.integers(1, 5, (n, 7)) / 2} | arrays
    return lw.Problems.from_arrays(features, context=context, catalogue=np.arange(7), **arrays)


@pytest.fixture(params=RIVALS)
def rival(request: pytest.FixtureRequest) -> Baseline:
    return clone(RIVALS[request.param])  # type: ignore[no-any-return]


def test_clone_and_parameters(rival: Baseline) -> None:
    twin = clone(rival)
    assert type(twin) is type(rival)
    assert repr(twin.get_params()) == repr(rival.get_params())
    before = repr(rival.get_params())
    assert rival.fit(made()) is rival
    assert repr(rival.get_params()) == before
    assert clone(rival).set_params(length=2).length == 2
    assert not hasattr(clone(rival), "signature_")


def test_lists_hold_length_and_budget(rival: Baseline) -> None:
    problems = made()
    rival.fit(problems)
    assert rival.predict(problems).rows.shape == (30, 3)
    assert (rival.predict(problems, length=5).lengths == 5).all()
    budgets = np.linspace(0.5, 6, 30)
    for lists in (rival.predict(problems, budget=budgets), rival.predict(problems, budget=budgets, length=2)):
        for i, rows in enumerate(lists.rows):
            items = rows[rows >= 0]
            assert len(set(items.tolist())) == len(items)
            assert (problems.owners[items] == i).all()
            assert problems.sizes is not None
            assert problems.sizes[items].sum() <= budgets[i] + 1e-9
    assert rival.predict(problems, budget=budgets, length=2).lengths.max() == 2


@pytest.mark.parametrize("name", [name for name in RIVALS if name != "oracle"])
def test_a_budget_is_filled_up(name: str) -> None:
    """What does not fit is skipped, so nothing that fits is left out (the oracle may prefer one large item)."""
    problems = made()
    assert problems.sizes is not None
    for i, rows in enumerate(clone(RIVALS[name]).fit(problems).predict(problems, budget=3.0).rows):
        items = rows[rows >= 0]
        rest = np.setdiff1d(np.arange(7) + 7 * i, items)
        assert (problems.sizes[rest] > 3.0 - problems.sizes[items].sum()).all()


def test_a_budget_too_small_gives_empty_lists(rival: Baseline) -> None:
    lists = rival.fit(made()).predict(made(), budget=0.1)
    assert (lists.lengths == 0).all()


def test_short_lists(rival: Baseline) -> None:
    problems = made()
    rival.fit(problems)
    with pytest.raises(InputError, match=r"Problem 0 has 7 candidates but length=9\. Pass allow_short=True"):
        rival.predict(problems, length=9)
    lists = rival.predict(problems, length=9, allow_short=True)
    assert [sorted(one.tolist()) for one in lists] == [list(range(7))] * 30


@pytest.mark.parametrize("name", SAME_ALONE)
def test_a_problem_gets_the_same_list_alone(name: str) -> None:
    problems = made()
    model = clone(RIVALS[name]).fit(problems)
    together = model.predict(problems)
    assert all((model.predict(problems[i])[0] == together[i]).all() for i in range(0, 30, 7))


@pytest.mark.parametrize("name", [name for name in RIVALS if name != "oracle"])
def test_predict_needs_no_reward_and_ignores_one(name: str) -> None:
    problems = made()
    model = clone(RIVALS[name]).fit(problems)
    turned = problems.with_reward(lw.rewards.AnySuccess(1 - problems.reward.tables["success"].values))
    np.testing.assert_array_equal(model.predict(problems.without_reward()).rows, model.predict(turned).rows)
    assert model.predict(turned).problems.reward is None


def test_same_seed_same_lists(rival: Baseline) -> None:
    problems = made()
    np.testing.assert_array_equal(
        clone(rival).fit(problems).predict(problems).rows, clone(rival).fit(problems).predict(problems).rows
    )


def test_score_is_the_mean_value(rival: Baseline) -> None:
    problems = made()
    lists = rival.fit(problems).predict(problems)
    success = problems.reward.tables["success"].values
    assert rival.score(problems) == pytest.approx(np.mean([success[rows].max() for rows in lists.rows]))


def test_predict_before_fit(rival: Baseline) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        rival.predict(made())


def test_only_problems(rival: Baseline) -> None:
    with pytest.raises(InputError, match=r"Pass listwright\.Problems or a frame, not list"):
        rival.fit([1, 2])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"Pass listwright\.Problems or a frame, not list"):
        rival.fit(made()).predict([1, 2])  # type: ignore[arg-type]


def test_other_columns_are_refused(rival: Baseline) -> None:
    other = lw.Problems.from_arrays(np.zeros((3, 7, 2)), context=np.zeros((3, 2)), catalogue=np.arange(7))
    with pytest.raises(InputError, match=r"trained on 3 features\. Got 2"):
        rival.fit(made()).predict(other)


@pytest.mark.parametrize("length", [0, -1, 1.5, True])
def test_bad_lengths(rival: Baseline, length: Any) -> None:
    with pytest.raises(InputError, match=r"length must be (a whole number of )?at least 1\. Got"):
        clone(rival).set_params(length=length).fit(made())
    with pytest.raises(InputError, match=r"length must be (a whole number of )?at least 1\. Got"):
        rival.fit(made()).predict(made(), length=length)


@pytest.mark.parametrize("name", LEARNING)
def test_fit_needs_a_reward(name: str) -> None:
    with pytest.raises(InputError, match="fit needs a reward"):
        clone(RIVALS[name]).fit(made().without_reward())


@pytest.mark.parametrize("name", ["mmr", "dpp", "random", "oracle"])
def test_what_learns_nothing_fits_without_a_reward(name: str) -> None:
    assert clone(RIVALS[name]).fit(made().without_reward()).n_features_in_ == 3


def test_a_budget_needs_sizes(rival: Baseline) -> None:
    with pytest.raises(InputError, match="A budget needs sizes"):
        rival.fit(made(sizes=None)).predict(made(sizes=None), budget=2.0)


@pytest.mark.parametrize("name", ["static", "nearest", "forest", "top-k, per item"])
def test_covers_need_a_catalogue_or_equal_problems(name: str) -> None:
    ragged = lw.Problems.from_arrays(
        np.zeros((5, 1)), offsets=[0, 2, 5], context=[[0.0], [1.0]], reward=lw.rewards.AnySuccess(np.ones(5))
    )
    with pytest.raises(InputError, match="need a catalogue"):
        clone(RIVALS[name]).fit(ragged)
    by_position = lw.Problems.from_arrays(
        np.zeros((2, 4, 1)), context=[[0.0], [1.0]], reward=lw.rewards.AnySuccess([[0, 0, 1, 0], [0, 0, 1, 0]])
    )
    assert clone(RIVALS[name]).fit(by_position).predict(by_position)[0][0] == 2


def test_random_is_even() -> None:
    problems = lw.Problems.from_arrays(np.zeros((6000, 4, 1)))
    lists = Random(2, random_state=0).fit(problems).predict(problems)
    pairs = (lists.rows % 4) @ [4, 1]
    counts = np.bincount(pairs, minlength=16).reshape(4, 4)
    assert (np.diag(counts) == 0).all()
    assert (np.abs(counts[~np.eye(4, dtype=bool)] - 500) < 100).all()


def test_random_moves_on_with_a_generator() -> None:
    problems = made()
    model = Random(3, random_state=np.random.default_rng(0)).fit(problems)
    assert (model.predict(problems).rows != model.predict(problems).rows).any()


def test_the_oracle_is_clairvoyant_greedy() -> None:
    problems = made()
    model = Oracle(2).fit(problems)
    np.testing.assert_array_equal(model.predict(problems).rows, lw.greedy(problems, 2).rows)
    np.testing.assert_array_equal(model.predict(problems, budget=2).rows, lw.greedy(problems, budget=2, length=7).rows)
    with pytest.raises(InputError, match="Oracle needs a reward"):
        model.predict(problems.without_reward())
