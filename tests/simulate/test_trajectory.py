"""The shipped data of the simulated arm."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from listwright.simulate import trajectory


@pytest.fixture
def data():
    return trajectory.read_arrays()


@pytest.fixture
def success(data):
    return np.unpackbits(data["success"], axis=1, count=30).astype(bool)


def test_shipped_file_is_small():
    shipped = files("listwright.simulate") / "data" / "trajectory.npz"
    assert len(shipped.read_bytes()) < 1_000_000


def test_shipped_data_has_the_shape_of_the_paper(data, success):
    assert data["features"].dtype == np.float32
    assert data["features"].shape == (522, 30, 17)
    assert len(set(trajectory.FEATURE_NAMES)) == 17
    assert data["features"].min() >= 0
    assert data["features"].max() <= 1
    assert success.any(axis=1).all()
    assert 0.25 < success.mean() < 0.35
    same_in_every_environment = (data["features"] == data["features"][:1]).all(axis=(0, 1))
    same_for_every_seed = (data["features"] == data["features"][:, :1]).all(axis=(0, 1))
    assert np.flatnonzero(same_in_every_environment).tolist() == list(range(2, 9))
    assert np.flatnonzero(same_for_every_seed).tolist() == list(range(12, 16))


def test_problems_are_310_and_212():
    train, test = trajectory.problems()
    assert (len(train), len(test)) == (310, 212)
    assert set(train.counts) == set(test.counts) == {30}
    assert not set(train.problem_ids) & set(test.problem_ids)
    np.testing.assert_array_equal(train.catalogue[:60], np.tile(np.arange(30), 2))


def test_reward_of_the_problems_is_the_outcome(success):
    _, test = trajectory.problems()
    gains = test.reward.gains(test.reward.start(test))
    np.testing.assert_array_equal(gains.reshape(212, 30), success[310:])
