"""The lemmas of the paper's appendix, as inequalities on random submodular rewards and random lists."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import listwright as lw
from listwright.guarantees import approximation_ratio
from listwright.learners.examples import position_weights

KINDS = ("coverage", "probabilistic", "concave", "facility", "success")
SETS = ("coverage", "facility")  # an item that comes twice is worth nothing more, so that greedy need not repeat any
N_ITEMS = 6


def random_problems(kind, rng):
    """One problem of 6 items with a reward of the kind."""
    shares = rng.random((N_ITEMS, 5)) * (rng.random((N_ITEMS, 5)) < 0.5)
    rewards = {
        "coverage": lambda: lw.rewards.Coverage((shares > 0).astype(float), rng.random(5)),
        "probabilistic": lambda: lw.rewards.ProbabilisticCoverage(shares),
        "concave": lambda: lw.rewards.ConcaveCoverage(shares, shape="sqrt", normalize=False),
        "facility": lambda: lw.rewards.FacilityLocation(rng.random((1, N_ITEMS, N_ITEMS))),
        "success": lambda: lw.rewards.AnySuccess(rng.random((1, N_ITEMS))),
    }
    return lw.Problems.from_arrays(np.zeros((1, N_ITEMS, 1)), reward=rewards[kind]())


class Worth:
    """f(list), through the reward's fold; lists may repeat items."""

    def __init__(self, problems):
        self.problems, self.known = problems, {}

    def __call__(self, items):
        items = tuple(items)
        if items not in self.known:
            reward = self.problems.reward
            state = reward.start(self.problems)
            for item in items:
                state = reward.add(state, np.array([item]))
            self.known[items] = float(reward.value(state)[0])
        return self.known[items]

    def mean_with(self, items, choices):
        """E of f(items + s) over s drawn evenly from `choices`."""
        return float(np.mean([self((*items, item)) for item in choices]))


def errors(f, picked, rival):
    """The paper's epsilon_j: how far pick j falls behind the rival's mean item."""
    return np.array([f.mean_with(picked[:j], rival) - f(picked[: j + 1]) for j in range(len(picked))])


def some_lists(longest):
    return st.lists(st.integers(0, N_ITEMS - 1), min_size=1, max_size=longest)


def worths(kinds):
    return st.builds(
        lambda kind, seed: Worth(random_problems(kind, np.random.default_rng(seed))),
        st.sampled_from(kinds),
        st.integers(0, 2**32 - 1),
    )


functions = worths(KINDS)


@settings(max_examples=80, deadline=None)
@given(f=functions, a=st.lists(st.integers(0, N_ITEMS - 1), max_size=4), b=some_lists(4))
def test_lemma_1_a_list_adds_at_most_its_length_times_its_mean_item(f, a, b):
    assert f([*a, *b]) - f(a) <= len(b) * (f.mean_with(a, b) - f(a)) + 1e-12


def test_lemma_1_fails_without_submodularity():
    def both(items):  # worth 1 only with both items
        return float({0, 1} <= set(items))

    assert both([0, 1]) - both([]) > 2 * (np.mean([both([0]), both([1])]) - both([]))


@settings(max_examples=80, deadline=None)
@given(f=functions, a=some_lists(5), b=some_lists(4))
def test_lemma_2_any_list_against_any_other(f, a, b):
    m, k = len(a), len(b)
    lost = position_weights(m, k) @ errors(f, a, b)
    exact = (1 - (1 - 1 / k) ** m) * f(b)
    assert f(a) >= exact - lost - 1e-12
    assert exact >= approximation_ratio(m, k) * f(b) - 1e-12


def test_lemma_2_is_tight_where_nothing_overlaps():
    # Three disjoint topics: after one pick, f(A) = 1/3, and the bound is met with equality.
    problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=lw.rewards.Coverage(np.eye(3)))
    f, rival = Worth(problems), [0, 1, 2]
    for picked in ([0], [0, 1], [0, 1, 2]):
        m = len(picked)
        lost = position_weights(m, 3) @ errors(f, picked, rival)
        assert f(picked) == pytest.approx((1 - (1 - 1 / 3) ** m) * f(rival) - lost)


@settings(max_examples=30, deadline=None)
@given(f=worths(SETS), b=some_lists(4), m=st.integers(1, 6))
def test_greedy_has_no_errors_and_its_ratio_follows(f, b, m):
    picked = lw.greedy(f.problems, length=m)[0]
    assert (errors(f, picked, b) <= 1e-12).all()
    assert f(picked) >= approximation_ratio(m, len(b)) * f(b) - 1e-12


@settings(max_examples=40, deadline=None)
@given(f=functions, b=some_lists(4), m=st.integers(1, 4))
def test_lemma_3_drawing_from_a_list_does_as_well_as_greedy_is_sure_to(f, b, m):
    k = len(b)
    drawn = np.mean([f(picked) for picked in product(b, repeat=m)])  # exact: all k^m draws
    assert drawn >= (1 - (1 - 1 / k) ** m) * f(b) - 1e-12
    assert drawn >= approximation_ratio(m, k) * f(b) - 1e-12


def test_lemma_3_is_tight_where_nothing_overlaps():
    problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=lw.rewards.Coverage(np.eye(3)))
    drawn = np.mean([Worth(problems)(picked) for picked in product(range(3), repeat=4)])
    assert drawn == pytest.approx(1 - (2 / 3) ** 4)
