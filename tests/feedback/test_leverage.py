"""One list cannot overturn what was learned, and later feedback on a list changes what its first feedback taught."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import load, save

import listwright as lw
from listwright.errors import InputError
from listwright.feedback import OnlineSCP, TrainingUpdate


def trained(*, catalogue=False):
    rng = np.random.default_rng(0)
    table = rng.random((80, 8, 3), dtype=np.float32)
    items = np.tile(np.arange(8), 80) if catalogue else None
    reward = lw.rewards.AnySuccess(table[..., 0] > 0.8)
    return lw.SCP(length=3, effort="fast", random_state=0).fit(
        lw.Problems.from_arrays(table, reward=reward, catalogue=items)
    )


def probes(*, catalogue=False):
    table = np.random.default_rng(7).random((50, 8, 3), dtype=np.float32)
    return lw.Problems.from_arrays(table, catalogue=np.tile(np.arange(8), 50) if catalogue else None)


def event(size, *, name="extreme", catalogue=False):
    table = (np.random.default_rng(3).choice([-1.0, 1.0], (8, 3)) * size).astype(np.float32)
    problem = lw.Problems.from_arrays(table, offsets=[0, 8], catalogue=np.arange(8) if catalogue else None)
    return TrainingUpdate.of(name, problem, [0, 3, 5], [0.2, 0.2, 0.2], [1.0, 0.0, 1.0])


def first_items_moved(learner, size, *, catalogue=False):
    shown = probes(catalogue=catalogue)
    before = learner.predict(shown).rows[:, 0]
    learner.update([event(size, catalogue=catalogue)])
    return int((learner.predict(shown).rows[:, 0] != before).sum())


@pytest.mark.parametrize("size", [100.0, 1e6, 1e12])
def test_one_event_of_any_size_hardly_moves_a_bounded_learner(size):
    free, bounded = (OnlineSCP.from_model(trained(), random_state=0, leverage=bound) for bound in (None, 0.1))
    assert first_items_moved(free, size) > 10
    assert first_items_moved(bounded, size) <= 2


def test_the_bound_counts_crossed_columns_too():
    bounded = OnlineSCP.from_model(trained(catalogue=True), random_state=0, leverage=0.1)
    assert first_items_moved(bounded, 1e6, catalogue=True) <= 5


def ordinary(count, *, start=0):
    rng = np.random.default_rng(11)
    for number in range(start + count):
        problem = lw.Problems.from_arrays(rng.random((8, 3), dtype=np.float32), offsets=[0, 8])
        picks = rng.permutation(8)[:3]
        liked = (problem.features[picks, 1] > 0.7).astype(float)
        if number >= start:
            yield TrainingUpdate.of(f"list {number}", problem, picks, [0.2] * 3, liked)


def test_ordinary_lists_teach_a_bounded_learner_as_much():
    free, bounded = (OnlineSCP.from_model(trained(), random_state=0, leverage=bound) for bound in (None, 0.1))
    for learner in (free, bounded):
        learner.update(ordinary(600))
    worth = [float((probes().features[one.predict(probes()).rows, 1] > 0.7).mean()) for one in (free, bounded)]
    assert worth[1] > worth[0] - 0.05
    assert worth[1] > 0.6


@pytest.mark.parametrize("group", [1, 7, 100])
def test_groups_do_not_matter_to_the_last_bit(group):
    records = list(ordinary(60))
    whole = OnlineSCP.from_model(trained(), random_state=0, leverage=0.1).update(records)
    parts = OnlineSCP.from_model(trained(), random_state=0, leverage=0.1)
    for start in range(0, len(records), group):
        parts.update(records[start : start + group])
    assert_same(whole.state(), parts.state())


def test_a_restored_learner_goes_on_to_the_same_state():
    records = list(ordinary(60))
    whole = OnlineSCP.from_model(trained(), random_state=0, leverage=0.1).update(records[:31])
    again = OnlineSCP.from_model(trained(), random_state=0, leverage=0.1).restore(load(save(whole.state())))
    assert_same(whole.state(), again.state())
    assert_same(whole.update(records[31:]).state(), again.update(records[31:]).state())


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name, strict=True)


def test_a_bound_must_be_above_zero():
    with pytest.raises(InputError, match="leverage must be above 0"):
        OnlineSCP.from_model(trained(), leverage=0.0)


@pytest.mark.parametrize("catalogue", [False, True])
def test_later_feedback_teaches_what_it_would_have_taught_at_first(catalogue):
    model = trained(catalogue=catalogue)
    whole, revised = (OnlineSCP.from_model(model, random_state=0) for _ in range(2))
    first = event(1.0, catalogue=catalogue)
    parts = first.list_id, first.problem, first.picks, first.propensities
    whole.update([TrainingUpdate.of(*parts, [1.0, 0.5, 1.0])])
    revised.update([first]).update([TrainingUpdate.of(*parts, [1.0, 0.5, 1.0], earlier=first.outcomes)])
    np.testing.assert_allclose(revised.playing_.policy.weights, whole.playing_.policy.weights, atol=1e-9)
    assert revised.version == whole.version == 1


def test_a_learner_that_cannot_change_what_it_learned_says_so():
    problems = lw.Problems.from_arrays(np.zeros((1, 4, 1)), catalogue=np.arange(4))
    learner = OnlineSCP(length=2, explore="exp3", random_state=0).begin(problems)
    record = TrainingUpdate.of("a", problems, [0, 1], [0.5, 0.5], [1, 0], earlier=[0, 0])
    with pytest.raises(InputError, match="cannot change what it learned"):
        learner.update([record])


def test_an_online_model_goes_on_from_itself():
    model = OnlineSCP.from_model(trained(), random_state=0).update(ordinary(40))
    twin = OnlineSCP.from_model(model, random_state=5, leverage=0.1, allow_short=True)
    assert twin.predict(probes()) == model.predict(probes())
    before = model.state()
    twin.update(ordinary(20, start=40))
    assert_same(model.state(), before)
    assert twin.version == 60
