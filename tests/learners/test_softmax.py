"""The softmax leader: which states count, and a sample of many."""

from __future__ import annotations

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.learners import SoftmaxLeader


def problems(n: int, seed: int = 0) -> lw.Problems:
    """The first column is good, the second is noise."""
    features = np.random.default_rng(seed).random((n, 8, 2))
    return lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(features[..., 0] > 0.7))


def weights(learner: SoftmaxLeader) -> np.ndarray:
    model = lw.SCP(2, features=lw.features.Candidate(), learner=learner, n_passes=2, random_state=0)
    return model.fit(problems(400)).policy_.weights


def test_a_sample_of_the_states_says_much_the_same() -> None:
    whole, some = weights(SoftmaxLeader(by="gains")), weights(SoftmaxLeader(by="gains", most_rows=2000))
    assert whole[0] > 10 * abs(whole[1])
    assert some == pytest.approx(whole, abs=0.25)
    assert not np.array_equal(some, whole)
    np.testing.assert_array_equal(weights(SoftmaxLeader(by="gains", most_rows=10**6)), whole)


def test_states_count_alike_or_by_what_there_is_to_gain() -> None:
    reward = lw.rewards.Total([[1.0, 0.0], [0.0, 0.2]])  # the first candidate of a rich state, the second of a poor one
    two = lw.Problems.from_arrays(np.tile(np.eye(2), (2, 1, 1)), reward=reward)
    by = {}
    for name in ("states", "gains"):
        model = lw.SCP(1, features=lw.features.Candidate(standardize=False), learner=SoftmaxLeader(1.0, by=name))
        by[name] = model.fit(two).policy_.weights
    assert by["states"] == pytest.approx([0.0, 0.0], abs=1e-6)
    assert by["gains"][0] > 0.1 > by["gains"][1]


def test_bad_input() -> None:
    with pytest.raises(InputError, match=r"by must be states or gains\. Got 'size'"):
        lw.SCP(2, learner=SoftmaxLeader(by="size")).fit(problems(20))
