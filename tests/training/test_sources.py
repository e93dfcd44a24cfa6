"""The loop has one behaviour wherever its problems come from: in memory, shared out on an engine, from a scan."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import listwright as lw
from listwright.engines import Local
from listwright.errors import InputError
from listwright.features import ExpectedGain
from tests.scan_tools import scanned, table

SETTINGS = [
    {},
    {"keep": "mixture"},
    {"keep": "best"},
    {"learner": "gradient", "batch_size": 7},
    {"learner": "hinge_rank", "budget": 6.0, "per_size": True},
]


class Broken(Exception):
    """What ends a fit in the middle."""


@pytest.fixture
def problems() -> lw.Problems:
    return lw.Problems.from_frame(table(120), reward="any:clicked", size="size", ignore=["grade"])


@pytest.mark.parametrize("engine", ["local", Local(2)], ids=str)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_fit_in_memory_that_was_broken_off_goes_on_to_the_same_model(problems, tmp_path: Path, settings, engine):
    fresh = lw.SCP(length=2, n_passes=3, effort="fast", random_state=0, engine=engine, **settings)
    whole = lw.SCP(**fresh.get_params()).fit(problems)
    path = tmp_path / "checkpoint.listwright"

    def stop(what: str, done: int, total: int) -> None:
        if done > 0.6 * total:
            raise Broken

    with pytest.raises(Broken):
        fresh.fit(problems, progress=stop, checkpoint=path)
    assert not hasattr(fresh, "policy_")
    heard: list[float] = []
    again = lw.SCP(**fresh.get_params())
    again.fit(problems, progress=lambda what, done, total: heard.append(done / total), checkpoint=path, resume=True)
    assert heard[0] > 0.3
    assert heard[-1] == 1.0
    assert again.n_rounds_ == whole.n_rounds_
    assert np.array_equal(again.predict(problems).picked_scores, whole.predict(problems).picked_scores)


def test_a_checkpoint_holds_what_slow_features_have_learned(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    success = rng.random((40, 4)) < [0.1, 0.6, 0.3, 0.2]
    problems = lw.Problems.from_arrays(
        rng.random((40, 4, 2)), catalogue=np.arange(4), reward=lw.rewards.AnySuccess(success)
    )
    path = tmp_path / "checkpoint.listwright"
    slow = lw.features.ExpectedGain(("forest",))
    model = lw.SCP(length=2, effort="fast", features=slow, n_passes=2, random_state=0)
    whole = clone(model).fit(problems, checkpoint=path, checkpoint_every=3)
    assert lw.load(path).n_rounds_ < whole.n_rounds_
    again = clone(model).fit(problems, checkpoint=path, checkpoint_every=3, resume=True)
    assert np.array_equal(again.predict(problems).picked_scores, whole.predict(problems).picked_scores)


def test_a_checkpoint_of_other_problems_is_refused(problems, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.listwright"
    lw.SCP(length=2, effort="fast", random_state=0).fit(problems, checkpoint=path)
    with pytest.raises(InputError, match="a fit on other problems"):
        lw.SCP(length=2, effort="fast", random_state=0).fit(problems[:-1], checkpoint=path, resume=True)
    with pytest.raises(InputError, match="or on another engine"):
        lw.SCP(length=2, effort="fast", random_state=0, engine=Local(2)).fit(problems, checkpoint=path, resume=True)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_problems_in_memory_can_be_shared_out(problems, settings) -> None:
    held = lw.SCP(length=2, effort="fast", random_state=0, **settings).fit(problems)
    shared = [
        lw.SCP(length=2, effort="fast", random_state=0, engine=Local(n), **settings).fit(problems) for n in (1, 3)
    ]
    assert shared[0].score(problems) == pytest.approx(held.score(problems), abs=0.05)
    assert shared[0].n_rounds_ == pytest.approx(held.n_rounds_, rel=0.05)  # fewer or more are held out
    one, three = (model.predict(problems).picked_scores for model in shared)
    assert np.array_equal(one, three)


def test_one_round_in_memory_is_one_round_of_its_parts(problems) -> None:
    settings = {"length": 2, "n_passes": 2, "batch_size": len(problems), "random_state": 0}
    held = lw.SCP(**settings).fit(problems)
    shared = lw.SCP(**settings, engine=Local(2)).fit(problems)
    assert shared.policy_.weights == pytest.approx(held.policy_.weights, abs=1e-9)


def test_features_that_see_all_problems_at_once_are_not_fitted_on_parts(problems) -> None:
    with pytest.raises(InputError, match="Fit on problems in memory with engine='local'"):
        lw.SCP(length=2, features=ExpectedGain(), engine=Local(2)).fit(problems)


def test_workers_learn_the_linear_policy_where_methods_would_be_chosen(problems) -> None:
    chosen, linear = (lw.SCP(2, effort=one, engine=Local(2), random_state=0).fit(problems) for one in ("auto", "fast"))
    np.testing.assert_array_equal(chosen.policy_.weights, linear.policy_.weights)


def test_partial_fit_of_parts_goes_on(problems) -> None:
    model = lw.SCP(length=2, effort="fast", random_state=0, engine=Local(2)).fit(problems[:60])
    rounds = model.n_rounds_
    assert model.partial_fit(problems[60:]).n_rounds_ == rounds + 60
    other = lw.Problems.from_frame(table(30), reward="any:clicked", features=["f0"])
    with pytest.raises(InputError, match="partial_fit: the features are not those"):
        model.partial_fit(other)


def test_tuning_on_a_scan_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"tune=True learns from problems in memory. Pass scan.sample\(\)"):
        lw.SCP(length=2, tune=True, effort="fast").fit(scanned(tmp_path))
