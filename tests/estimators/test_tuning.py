"""`SCP(tune=True)`: features and penalty by the value of held-out lists."""

from pathlib import Path

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.features import Candidate, Identity


def by_item(n: int = 60) -> lw.Problems:
    """Which of six items succeeds hangs on a feature of another candidate: only crossed identities can tell."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, 6, 2))
    features[:, :, 1] = np.arange(6)
    success = np.roll(features[:, :, 0], 2, axis=1) > 0.9
    return lw.Problems.from_arrays(features, catalogue=np.arange(6), reward=lw.rewards.AnySuccess(success))


def test_richer_features_are_found_where_they_pay() -> None:
    problems = by_item(300)
    plain = lw.SCP(2, n_passes=2, random_state=0).fit(problems[:200])
    tuned = lw.SCP(2, n_passes=2, tune=True, random_state=0).fit(problems[:200])
    assert tuned.score(problems[200:]) > plain.score(problems[200:]) + 0.1
    best = max(tuned.trials_, key=lambda trial: trial.value)
    assert any(isinstance(part, Identity) and part.cross for part in best.settings["features"].parts)


def test_what_the_user_set_stays() -> None:
    model = lw.SCP(2, n_passes=2, features=Candidate(), tune=True, random_state=0).fit(by_item())
    assert {len(trial.settings) for trial in model.trials_} == {1}
    assert all(set(trial.settings) == {"learner"} for trial in model.trials_)
    assert isinstance(model.training_.features, Candidate)


def test_nothing_to_choose_is_a_plain_fit() -> None:
    model = lw.SCP(2, n_passes=2, features=Candidate(), learner="hinge_rank", tune=True, random_state=0).fit(by_item())
    plain = lw.SCP(2, n_passes=2, features=Candidate(), learner="hinge_rank", random_state=0).fit(by_item())
    assert model.trials_ == []
    np.testing.assert_array_equal(model.predict(by_item()).rows, plain.predict(by_item()).rows)


def test_a_failed_fit_leaves_the_model_as_it_was() -> None:
    model = lw.SCP(2, n_passes=2, tune=True, random_state=0).fit(by_item())
    before = model.predict(by_item()).rows
    with pytest.raises(InputError, match="reward"):
        model.fit(by_item().without_reward())
    np.testing.assert_array_equal(model.predict(by_item()).rows, before)


def test_one_problem_has_nothing_to_hold_out() -> None:
    assert lw.SCP(2, n_passes=2, tune=True, random_state=0).fit(by_item(1)).trials_ == []


@pytest.mark.parametrize("limit", [{"length": 3}, {"budget": 2.5}])
def test_lengths_and_budgets(limit: dict[str, float]) -> None:
    problems = by_item()
    sizes = np.tile([1.0, 0.5, 1.0, 2.0, 0.7, 1.0], len(problems))
    sized = lw.Problems.from_arrays(
        problems.features.reshape(-1, 6, 2), catalogue=np.arange(6), sizes=sizes.reshape(-1, 6), reward=problems.reward
    )
    assert len(lw.SCP(n_passes=2, tune=True, random_state=0, **limit).fit(sized).trials_) > 3


def test_a_tuned_model_goes_through_a_file(tmp_path: Path) -> None:
    model = lw.SCP(2, n_passes=2, tune=True, random_state=0).fit(by_item())
    model.save(tmp_path / "tuned.listwright")
    again = lw.load(tmp_path / "tuned.listwright")
    np.testing.assert_array_equal(again.predict(by_item()).rows, model.predict(by_item()).rows)
    assert [trial.value for trial in again.trials_] == [trial.value for trial in model.trials_]
