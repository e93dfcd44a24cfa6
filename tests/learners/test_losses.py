"""The losses against their definitions, pair by pair."""

import sys
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwright._kernels.losses import sort_within
from listwright.errors import InputError
from listwright.learners.losses import LOSSES, hinge_rank, least_hinge, squared_loss

RANKINGS = [hinge_rank]


def by_row(scores, costs):
    return ((scores + costs) ** 2).sum(), 2 * (scores + costs)


def by_pair(penalty):
    """The loss and gradient of one problem, from the table of all pairs (cheaper a, costlier b)."""

    def explicit(scores, costs):
        weights = np.maximum(costs[None, :] - costs[:, None], 0.0)
        value, slope = penalty(scores[None, :] - scores[:, None])
        return (weights * value).sum(), (weights * slope).sum(axis=0) - (weights * slope).sum(axis=1)

    return explicit


def hinge(lead):
    """Of the costlier item's lead."""
    return np.maximum(1 + lead, 0), (1 + lead > 0).astype(float)


EXPLICIT = {"squared": by_row, "hinge_rank": by_pair(hinge)}


def assert_as_defined(name, scores, costs, offsets):
    losses, gradient = LOSSES[name](scores, costs, offsets)
    assert losses.shape == (len(offsets) - 1,)
    assert losses.dtype == gradient.dtype == np.float64
    for problem, (start, end) in enumerate(pairwise(offsets)):
        loss, slopes = EXPLICIT[name](np.asarray(scores)[start:end], np.asarray(costs)[start:end])
        tolerance = 1e-9 * max(1.0, loss)
        assert abs(losses[problem] - loss) <= tolerance
        np.testing.assert_allclose(gradient[start:end], slopes, rtol=0, atol=tolerance)


@st.composite
def batches(draw):
    """Some problems, with scores and costs that are all different, often equal, or 0 and 1."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 7, 16, 17, 64, 150]), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = sum(sizes)
    scores = rng.normal(size=rows) * draw(st.sampled_from([0.0, 0.1, 1.0, 5.0, 40.0, 1e3])) + rng.choice([0.0, 1e3])
    scores = draw(st.sampled_from([np.asarray, np.round, lambda x: np.round(x * 2) / 2]))(scores)
    costs = draw(st.sampled_from([rng.random(rows), rng.integers(0, 2, rows), rng.integers(0, 4, rows) * 0.3]))
    return scores, costs.astype(float), np.cumsum([0, *sizes])


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=60, deadline=None)
@given(batch=batches())
def test_loss_and_gradient_are_as_defined(name, batch):
    assert_as_defined(name, *batch)


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), min_size=1, max_size=8))
def test_small_whole_numbers_that_tie_at_the_margin(name, rows):
    scores, costs = np.array(rows, dtype=float).T
    assert_as_defined(name, scores, costs, [0, len(rows)])


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("right", [True, False], ids=["ranked right", "ranked wrong"])
@pytest.mark.parametrize("spread", [1.0, 10.0, 100.0, 1e3, 1e6, 1e17])
def test_lists_sorted_by_cost(name, right, spread):
    scores = np.sort(np.random.default_rng(3).normal(size=300) * spread)
    costs = np.linspace(0, 1, 300)
    assert_as_defined(name, scores[::-1] if right else scores, costs, [0, 300])


@pytest.mark.parametrize("spread", [0.1, 1.0, 5.0, 40.0, 1e6])
def test_pairs_of_every_size(spread):
    rng = np.random.default_rng(11)
    sizes = np.arange(1, 201)
    scores, costs = rng.normal(size=sizes.sum()) * spread, rng.integers(0, 30, sizes.sum()) / 7
    assert_as_defined("hinge_rank", scores, costs, np.concatenate([[0], np.cumsum(sizes)]))


@pytest.mark.parametrize("loss", RANKINGS)
def test_costs_far_from_zero_count_by_their_difference(loss):
    rng = np.random.default_rng(5)
    scores, costs = rng.normal(size=200), rng.integers(0, 50, 200) / 64
    losses, gradient = loss(scores, costs + 2.0**20, [0, 200])
    assert losses == pytest.approx(loss(scores, costs, [0, 200])[0], rel=1e-13)
    np.testing.assert_allclose(gradient, loss(scores, costs, [0, 200])[1], atol=1e-11)


@pytest.mark.parametrize("size", [5, 200])
def test_ranked_right_by_a_margin_costs_nothing(size):
    scores, costs = -1.5 * np.arange(size), np.arange(size, dtype=float)
    losses, gradient = hinge_rank(scores, costs, [0, size])
    assert losses[0] == 0
    assert (gradient == 0).all()


@pytest.mark.parametrize("loss", RANKINGS)
def test_equal_costs_ask_for_nothing(loss):
    losses, gradient = loss(np.random.default_rng(6).normal(size=100), np.full(100, 0.7), [0, 100])
    assert losses[0] == 0
    assert (gradient == 0).all()


@pytest.mark.parametrize("name", LOSSES)
def test_descent_lifts_the_cheaper_item(name):
    gradient = LOSSES[name]([0.0, 0.0], [0.0, 1.0], [0, 2])[1]
    assert gradient[0] <= 0 < gradient[1]
    assert name == "squared" or gradient[0] < 0


@pytest.mark.parametrize("loss", RANKINGS)
@pytest.mark.parametrize("size", [10, 300])
def test_a_constant_added_to_all_scores_changes_nothing(loss, size):
    rng = np.random.default_rng(7)
    scores, costs = rng.integers(-300, 300, size) / 64, rng.random(size)
    losses, gradient = loss(scores, costs, [0, size])
    shifted, shifted_gradient = loss(scores + 1024.0, costs, [0, size])
    assert shifted == pytest.approx(losses, rel=1e-12)
    np.testing.assert_allclose(shifted_gradient, gradient, atol=1e-10)
    assert abs(gradient.sum()) < 1e-10 * np.abs(gradient).sum()


@pytest.mark.parametrize("name", LOSSES)
def test_a_problem_counts_for_itself(name):
    rng = np.random.default_rng(8)
    scores, costs, offsets = rng.normal(size=180), rng.random(180), [0, 30, 30, 31, 180]
    losses, gradient = LOSSES[name](scores, costs, offsets)
    assert losses[1] == 0
    alone, alone_gradient = LOSSES[name](scores[31:], costs[31:], [0, 149])
    assert losses[3] == alone[0]
    assert (gradient[31:] == alone_gradient).all()


@pytest.mark.parametrize("loss", RANKINGS)
@pytest.mark.parametrize("spread", [1.0, 1e3])
def test_memory_grows_with_rows_and_not_with_pairs(loss, spread):
    resource = pytest.importorskip("resource")
    rng = np.random.default_rng(9)
    scores, costs, offsets = rng.normal(size=50_000) * spread, rng.random(50_000), np.array([0, 50_000])
    loss(scores[:100], costs[:100], [0, 100])  # compile first
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    loss(scores, costs, offsets)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6
    unit = 1 if sys.platform == "darwin" else 1024
    risen = unit * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    assert risen < 50e6, "compiled code takes its memory behind tracemalloc's back"


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e-300, 1e300])
def test_rows_are_sorted_within_their_problems(scale):
    rng = np.random.default_rng(10)
    for offsets in (np.array([0, 1, 1, 200, 400]), np.array([0, 1, 1, 40, 70])):  # by radix, and by insertion
        values = rng.integers(-5, 6, offsets[-1]) * scale
        order = sort_within(values, offsets)
        for start, end in pairwise(offsets):
            assert (order[start:end] == start + np.argsort(values[start:end], kind="stable")).all()


def test_read_only_and_other_number_types_are_taken():
    scores, costs = np.array([1, 2, 3]), np.array([0, 1, 1], dtype=np.float32)
    costs.flags.writeable = False
    assert squared_loss(scores, costs, [0, 3])[0] == pytest.approx([1 + 9 + 16])


@pytest.mark.parametrize(
    ("scores", "costs", "offsets", "message"),
    [
        ([1.0, 2.0], [1.0], [0, 2], "one number per row"),
        ([[1.0]], [[1.0]], [0, 1], "one number per row"),
        ([1.0, 2.0], [0.0, 1.0], [0, 3], "from 0 to the number of rows, 2"),
        ([1.0, 2.0], [0.0, 1.0], [0, 2, 1, 2], "offsets must rise"),
        ([1.0, np.nan], [0.0, 1.0], [0, 2], "scores must be finite numbers. Got nan at row 1"),
        ([1.0, 2.0], [np.inf, 1.0], [0, 2], "costs must be finite numbers. Got inf at row 0"),
    ],
)
@pytest.mark.parametrize("name", LOSSES)
def test_bad_input_is_named(name, scores, costs, offsets, message):
    with pytest.raises(InputError, match=message):
        LOSSES[name](scores, costs, offsets)


def test_no_weights_near_by_have_less_loss():
    rng, penalty = np.random.default_rng(0), 2.0
    table, costs, offsets = rng.normal(size=(60, 3)), rng.random(60), [0, 25, 60]

    def objective(weights):
        return penalty * weights @ weights / 2 + hinge_rank(table @ weights, costs, offsets)[0].sum()

    best = least_hinge(table, costs, offsets, penalty=penalty)
    assert objective(best) < objective(np.zeros(3))
    for step in 0.05 * np.concatenate([np.eye(3), -np.eye(3)]):
        assert objective(best) <= objective(best + step)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"penalty": 0.0}, "above 0"), ({"table": [[1.0]]}, "one row")],
)
def test_what_cannot_be_solved(options, message):
    with pytest.raises(InputError, match=message):
        least_hinge(**({"table": [[1.0], [2.0]], "costs": [0.0, 1.0], "offsets": [0, 2]} | options))
