"""The paper's trajectory experiment on its own data: 310 training and 212 test environments, 30 seeds, 17 features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import listwright as lw
from listwright.features.auto import paper_features

SUBSETS = 10


@pytest.fixture(scope="module")
def data(shared_data: Path) -> tuple[lw.Problems, lw.Problems]:
    """Train and valid together, and test."""
    path = shared_data / "scp_trajectory" / "scp_trajectory.npz"
    if not path.is_file():
        pytest.skip("needs the data set scp_trajectory")
    with np.load(path) as arrays:
        parts = {name: problems(arrays[f"X_{name}"], arrays[f"y_{name}"]) for name in ("train", "valid", "test")}
    return lw.Problems.concat([parts["train"], parts["valid"]]), parts["test"]


def problems(features: np.ndarray, success: np.ndarray) -> lw.Problems:
    return lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(success), catalogue=np.arange(30))


def failure(cls: type, train: lw.Problems, test: lw.Problems, length: int, seed: int = 0) -> float:
    """Share of the test environments in which no seed of the list works."""
    return 1 - cls(length, features=paper_features(), random_state=seed).fit(train).score(test)


def regression_failure(train: lw.Problems, test: lw.Problems, length: int) -> float:
    """The paper's Regression: the seeds with the highest predicted success."""
    mean, spread = train.features.mean(axis=0), train.features.std(axis=0) + 1e-9
    success = [part.reward.gains(part.reward.start(part)) for part in (train, test)]
    model = Ridge().fit((train.features - mean) / spread, success[0])
    scores = model.predict((test.features - mean) / spread).reshape(-1, 30)
    top = np.argsort(-scores, axis=1, kind="stable")[:, :length]
    return float(1 - np.take_along_axis(success[1].reshape(-1, 30), top, axis=1).max(axis=1).mean())


def subset(train: lw.Problems, size: int, seed: int) -> lw.Problems:
    return train[np.sort(np.random.default_rng(seed).permutation(len(train))[:size])]


@pytest.mark.parametrize(("length", "most"), [(3, 0.11), (5, 0.065), (8, 0.045)])
def test_few_environments_fail_with_all_the_training_data(
    data: tuple[lw.Problems, lw.Problems], length: int, most: float
) -> None:
    train, test = data
    assert (len(train), len(test)) == (310, 212)
    for seed in range(3):
        assert failure(lw.SCP, train, test, length, seed) <= most


@pytest.mark.parametrize("size", [30, 70])
def test_one_policy_fails_less_than_one_for_each_position_and_than_regression(
    data: tuple[lw.Problems, lw.Problems], size: int
) -> None:
    train, test = data
    parts = [subset(train, size, seed) for seed in range(SUBSETS)]
    scp, conseqopt = (
        np.mean([failure(cls, part, test, 5, seed) for seed, part in enumerate(parts)])
        for cls in (lw.SCP, lw.ConSeqOpt)
    )
    regression = np.mean([regression_failure(part, test, 5) for part in parts])
    assert scp < conseqopt
    assert scp < regression


def test_more_data_help(data: tuple[lw.Problems, lw.Problems]) -> None:
    train, test = data
    few = np.mean([failure(lw.SCP, subset(train, 15, seed), test, 5, seed) for seed in range(5)])
    assert failure(lw.SCP, train, test, 5) < few


def test_longer_lists_fail_less(data: tuple[lw.Problems, lw.Problems]) -> None:
    train, test = data
    model = lw.SCP(8, features=paper_features(), random_state=0).fit(train)
    lists = model.predict(test)
    success = test.reward.gains(test.reward.start(test))[lists.rows]
    fails = 1 - np.maximum.accumulate(success, axis=1).mean(axis=0)
    assert (np.diff(fails) <= 0).all()
    assert fails[0] > 3 * fails[-1]
