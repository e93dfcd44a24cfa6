"""Learners over finite classes: against hand-worked rounds, their definitions, and an easy problem."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

import listwright as lw
from listwright.errors import InputError
from listwright.features import Candidate, Crossed, Identity, Rows
from listwright.learners import Exp3, Exp4, FollowLeader, FollowPerturbedLeader, WeightedMajority
from listwright.learners.examples import Examples, position_weights
from listwright.learners.experts import best_rate
from listwright.policies import ItemLeader, Linear, PolicyDistribution, PolicyLeader, RandomPolicy
from listwright.policies.perturbed import leader_chances
from listwright.training.round import Training

UP, DOWN, FLAT = Linear(np.array([1.0])), Linear(np.array([-1.0])), Linear(np.array([0.0]))
OVER_ITEMS = [WeightedMajority(), WeightedMajority(rate="adaptive"), FollowLeader(), FollowPerturbedLeader(), Exp3()]
OVER_POLICIES = [
    WeightedMajority([UP, DOWN]),
    WeightedMajority([UP, DOWN], rate="adaptive"),
    FollowLeader([UP, DOWN]),
    FollowPerturbedLeader([UP, DOWN]),
    Exp4([UP, DOWN]),
]


def examples(gains, picks, *, catalogue=None, table=None, options=None, weight=1.0, position=0):
    """One position of problems given as a list of gains by problem; `picks` count within their problem."""
    sizes = [len(part) for part in gains]
    offsets = np.cumsum([0, *sizes])
    items = np.concatenate([np.arange(size) for size in sizes] if catalogue is None else catalogue)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    n_items = int(items.max()) + 1
    crossed = Crossed(items, n_items, np.ones((len(sizes), 1), np.float32))
    table = np.zeros((len(items), 0)) if table is None else np.concatenate(table)[:, None]
    rows = Rows(table.astype(np.float32), owners, offsets, crossed)
    options = np.ones(len(items), dtype=bool) if options is None else np.concatenate(options)
    shown = np.where(np.array(picks) >= 0, np.array(picks) + offsets[:-1], -1)
    return Examples(rows, np.concatenate(gains), weight, position, options, shown, np.ones(len(sizes), dtype=bool))


def test_a_round_of_weighted_majority_worked_out_by_hand():
    # r(0) = 0.5 * 0.2 + 1 * 0 = 0.1 and r(1) = 0.5 * 0.6 + 1 * 0.3 = 0.6; item 2 gains nothing.
    learner = WeightedMajority(rate=2.0)
    learner.learn(examples([[0.2, 0.6, 0.0]], [0], weight=0.5))
    learner.learn(examples([[0.0, 0.3, 0.0]], [1], weight=1.0, position=1))
    policy = learner.policy()
    weights = np.exp([0.2, 1.2, 0.0])
    np.testing.assert_allclose(policy.probabilities, weights / weights.sum())
    np.testing.assert_allclose(learner.gains_, [0.1, 0.6, 0.0])
    np.testing.assert_allclose(learner.losses_, [0.5, 0.0, 0.6])
    assert learner.expected_loss_ == pytest.approx((0.5 + 0.0 + 0.6) / 3)
    assert learner.expected_regret() == pytest.approx(1.1 / 3)
    assert learner.loss_ == pytest.approx(0.6 - (0.1 + 0.3))  # item 0, then item 1
    assert learner.regret() == pytest.approx(0.2)


def test_a_batch_is_one_round_with_the_sum_of_its_states():
    learner = WeightedMajority(rate=1.0)
    learner.learn(examples([[0.2, 0.6], [0.5, 0.1]], [0, 0]))
    learner.policy()
    np.testing.assert_allclose(learner.gains_, [0.7, 0.7])
    assert learner.n_states_ == 2
    assert learner.n_rounds_ == 1


def test_items_that_are_not_offered_or_not_open_gain_nothing():
    learner = WeightedMajority(rate=1.0)
    gains, catalogue = [[0.2, 0.6], [0.5, 0.1]], [[0, 2], [1, 2]]
    learner.learn(examples(gains, [0, 0], catalogue=catalogue, options=[[True, False], [True, True]]))
    learner.policy()
    np.testing.assert_allclose(learner.gains_, [0.2, 0.5, 0.1])


def test_the_gain_of_a_policy_is_that_of_its_pick():
    learner = WeightedMajority([UP, DOWN, FLAT], rate=1.0)
    table, options = [[1.0, 2.0, 3.0]], [[True, True, False]]
    learner.learn(examples([[0.2, 0.6, 1.0]], [0], table=table, options=options))
    policy = learner.policy()
    np.testing.assert_allclose(learner.gains_, [0.6, 0.2, 0.2])  # the best, the lowest, the first open row
    assert isinstance(policy, PolicyDistribution)


def test_expected_regret_is_exact_over_a_run():
    gains = np.random.default_rng(0).random((50, 4)) * [0.5, 1.0, 0.7, 0.2]
    for learner in (WeightedMajority(rate="doubling"), WeightedMajority(rate="adaptive"), FollowPerturbedLeader()):
        learner = clone(learner)
        learner.start(4)
        expected = []
        for gain in gains:
            expected.append(learner.probabilities_ @ gain)
            learner.end_round(gain)
        assert learner.expected_regret() == pytest.approx(gains.sum(axis=0).max() - np.sum(expected))


def test_the_optimal_rate_keeps_below_its_bound_against_any_sequence():
    # Gain 1 for whoever has the least probability: the learner always expects less than its share.
    for n_experts, most, rate in ((2, 1.0, "optimal"), (8, 4.0, "optimal"), (8, 1.0, "adaptive")):
        learner = WeightedMajority(rate=rate, horizon=500)
        learner.start(n_experts)
        for _ in range(500):
            learner.end_round(most * (np.arange(n_experts) == learner.probabilities_.argmin()), most=most)
        bound = most * np.sqrt(500 * np.log(n_experts) / 2)
        regret = learner.expected_regret()
        # The bounds are most * sqrt(T ln N / 2), and sqrt(T ln N) + ln N * 4/3 + 2 for AdaHedge (de Rooij et al. 2014).
        assert 0 < regret <= (bound if rate == "optimal" else np.sqrt(2) * bound + 4 / 3 * np.log(n_experts) + 2)


def test_rates_follow_the_horizon():
    given = WeightedMajority(horizon=100)
    given.start(3)
    open_ended = WeightedMajority()
    open_ended.start(3)
    for _ in range(100):
        given.end_round(np.array([0.0, 0.1, 0.2]))
        open_ended.end_round(np.array([0.0, 0.1, 0.2]))
        if given.n_states_ == 99:
            assert given.rate_ == pytest.approx(best_rate(3, 100))
    assert given.rate_ == pytest.approx(best_rate(3, 200))  # past the horizon, it doubles
    assert open_ended.rate_ == pytest.approx(best_rate(3, 128))  # no horizon: doubling from the start


def test_the_adaptive_rate_does_not_depend_on_the_scale_of_gains():
    gains = np.random.default_rng(0).random((40, 3))
    runs = []
    for scale in (1.0, 1e-3, 1e4):
        learner = WeightedMajority(rate="adaptive")
        learner.start(3)
        for gain in gains:
            learner.end_round(scale * gain)
        runs.append(learner.probabilities_)
    np.testing.assert_allclose(runs[1], runs[0], rtol=1e-6)
    np.testing.assert_allclose(runs[2], runs[0], rtol=1e-6)


def test_long_runs_neither_overflow_nor_forget():
    learner = WeightedMajority(rate=1.0)
    learner.start(3)
    learner.end_round(np.array([1e6, 1e6 - 1.0, 0.0]))
    np.testing.assert_allclose(learner.probabilities_, [1 / (1 + np.exp(-1)), 1 / (1 + np.e), 0.0])


def test_follow_leader_takes_the_lowest_of_equals_and_the_next_best_when_taken():
    learner = FollowLeader()
    learner.learn(examples([[0.1, 0.5, 0.5]], [0]))
    policy = learner.policy()
    rows, rng = examples([[0.0] * 3], [0]).rows, np.random.default_rng(0)
    taken = np.array([True, False, True])
    assert policy.pick(rows, np.ones(3, dtype=bool), 0, rng)[0] == [1]
    assert policy.pick(rows, taken, 1, rng)[0] == [2]
    assert learner.regret() == learner.expected_regret() == pytest.approx(0.4)


@pytest.mark.parametrize("gains", [[0.0, 0.0, 0.0], [0.0, 1.0, 2.5], [3.0, 3.0, 0.1, 2.9, 1.0], np.arange(40) / 20])
def test_leader_chances_are_those_of_the_draws(gains):
    gains = np.asarray(gains)
    noisy = gains + 0.8 * np.random.default_rng(1).exponential(size=(200_000, len(gains)))
    seen = np.bincount(noisy.argmax(axis=1), minlength=len(gains)) / len(noisy)
    chances = leader_chances(gains, 0.8)
    assert chances.sum() == pytest.approx(1)
    np.testing.assert_allclose(chances, seen, atol=0.005)


def test_leader_chances_of_many_equals_are_even():
    assert leader_chances(np.zeros(400), 1.0) == pytest.approx(np.full(400, 1 / 400))


@pytest.mark.parametrize("over_policies", [False, True])
def test_the_perturbed_leader_draws_fresh_noise_at_every_position(over_policies):
    gains = np.array([0.0, 0.5, 1.0])
    policies = tuple(Linear(np.array([sign])) for sign in (-1.0, 0.0, 1.0))  # pick the first, first and last row
    policy = PolicyLeader(policies, gains, 1.0) if over_policies else ItemLeader(gains, 1.0)
    rows = examples([[0.0] * 3] * 20_000, [0] * 20_000, table=[[1.0, 2.0, 3.0]] * 20_000).rows
    rng, all_open = np.random.default_rng(2), np.ones(60_000, dtype=bool)
    first, second = (policy.pick(rows, all_open, position, rng)[0] % 3 for position in range(2))
    chances = leader_chances(gains, 1.0)
    last = (first == 2).mean()
    assert last == pytest.approx(chances[2], abs=0.015)
    np.testing.assert_array_equal(policy.probabilities, chances)
    assert ((first == 2) & (second == 2)).mean() == pytest.approx(last**2, abs=0.015)  # independent draws


def test_exp3_looks_at_nothing_but_what_was_shown():
    learner = Exp3()
    for _ in range(3):
        poisoned = examples([[np.nan, 0.5, np.nan], [1.0, np.nan, np.nan]], [1, 0])
        learner.learn(poisoned)
        policy = learner.policy()
    assert np.isfinite(policy.probabilities).all()
    assert policy.probabilities[2] < policy.probabilities[1] < policy.probabilities[0]
    assert learner.expected_regret() is None
    assert learner.regret() is None


def test_exp3_without_any_probability_takes_the_first_item_for_sure():
    learner = Exp3(rate=0.3, explore=0.0)
    learner.start(3)
    learner.end_round(np.array([0.0, 0.0, 5e4]))
    assert learner.probabilities_[:2].tolist() == [0.0, 0.0]
    options = [[True, True, False]]
    for item, expected in ((0, [0.5, 0.0, 0.0]), (1, [0.0, 0.0, 0.0])):  # the second is never shown: no estimate
        twin = clone_with_state(learner)
        twin.learn(examples([[0.5, 0.5, 0.5]], [item], options=options, weight=1.0))
        np.testing.assert_array_equal(twin.round_gains_, expected)


def test_exp4_looks_at_nothing_but_what_was_shown():
    learner = Exp4([UP, DOWN, FLAT])
    for _ in range(3):
        learner.learn(examples([[np.nan, np.nan, 0.5]], [2], table=[[1.0, 2.0, 3.0]]))
        policy = learner.policy()
    assert np.isfinite(policy.probabilities).all()
    assert learner.probabilities_[0] > learner.probabilities_[1] == learner.probabilities_[2]


@pytest.mark.parametrize("taken", [None, 1])
def test_exp3_estimates_are_right_on_average(taken):
    gains, weight = np.array([0.2, 0.7, 0.4]), 0.5
    options = np.array([item != taken for item in range(3)])
    learner = Exp3(rate=0.3, explore=0.1)
    learner.start(3)
    learner.end_round(np.array([1.0, 4.0, 2.0]))
    chances = np.where(options, learner.probabilities_, 0)
    chances = chances / chances.sum()
    mean = np.zeros(3)
    for item in np.flatnonzero(options):
        twin = clone_with_state(learner)
        twin.learn(examples([gains], [item], options=[options], weight=weight))
        mean += chances[item] * twin.round_gains_
    np.testing.assert_allclose(mean, weight * np.where(options, gains, 0.0))


def test_exp4_estimates_are_right_on_average():
    gains, table = np.array([0.2, 0.7, 0.4]), [[1.0, 2.0, 3.0]]
    learner = Exp4([UP, DOWN, FLAT], rate=0.3, explore=0.3)
    learner.start(3)
    learner.n_rows_ = 3
    learner.end_round(np.array([1.0, 4.0, 2.0]))
    q = learner.probabilities_
    chances = 0.7 * np.array([q[1] + q[2], 0.0, q[0]]) + 0.1
    mean = np.zeros(3)
    for item in range(3):
        twin = clone_with_state(learner)
        twin.learn(examples([gains], [item], table=table))
        mean += chances[item] * twin.round_gains_
    np.testing.assert_allclose(mean, [0.4, 0.2, 0.2])


def clone_with_state(learner):
    twin = clone(learner)
    for name, value in vars(learner).items():
        setattr(twin, name, value.copy() if isinstance(value, np.ndarray) else value)
    return twin


def easy_problems(n_problems=400, n_items=6):
    """Item 2 succeeds most often, and so does the candidate with the highest feature."""
    rng = np.random.default_rng(5)
    chances = np.array([0.1, 0.2, 0.8, 0.15, 0.1, 0.05])
    success = rng.random((n_problems, n_items)) < chances
    features = success[..., None] + 0.3 * rng.random((n_problems, n_items, 1))
    reward = lw.rewards.AnySuccess(success)
    return lw.Problems.from_arrays(features, catalogue=np.arange(n_items), reward=reward)


def train(learner, features, problems, *, batch_size=1, length=2, repeats=True, seed=0):
    learner = clone(learner)
    weights = position_weights(length)
    training = Training(
        features=features.fit(problems),
        learner=learner,
        policy=learner.first_policy(),
        weights=weights,
        per_size=False,
        repeats=repeats,
        skip_saturated=True,
    )
    rng = np.random.default_rng(seed)
    for batch in problems.batches(batch_size):
        training.consume_batch(batch, rng)
        training.update()
    return training


@pytest.mark.parametrize("repeats", [True, False])
@pytest.mark.parametrize("learner", OVER_ITEMS, ids=repr)
def test_the_best_item_is_found(learner, repeats):
    training = train(learner, Identity(), easy_problems(), repeats=repeats)
    assert training.learner.probabilities_.argmax() == 2
    assert training.learner.n_states_ == 400


@pytest.mark.parametrize("learner", OVER_POLICIES, ids=lambda learner: type(learner).__name__)
def test_the_best_policy_is_found(learner):
    training = train(learner, Candidate(standardize=False), easy_problems())
    assert training.learner.probabilities_.argmax() == 0


@pytest.mark.parametrize("learner", [*OVER_ITEMS, *OVER_POLICIES], ids=lambda learner: type(learner).__name__)
def test_the_same_seed_gives_the_same_run_and_the_object_passed_stays_as_it_is(learner):
    features = Identity() if getattr(learner, "policies", None) is None else Candidate()
    before = dict(vars(learner))
    runs = [train(learner, clone(features), easy_problems(60), batch_size=7, seed=3) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].learner.gains_, runs[1].learner.gains_)
    assert vars(learner) == before


def test_books_agree_with_the_ledger():
    # With one position and one state a round, the loss of Algorithm 1 is the cost of Algorithm 2.
    training = train(WeightedMajority(), Identity(), easy_problems(), length=1)
    assert training.learner.loss_ == pytest.approx(training.ledger.loss)


def test_policy_without_a_round_changes_nothing():
    learner = WeightedMajority()
    assert isinstance(learner.policy(), RandomPolicy)
    learner.learn(examples([[0.2, 0.6]], [0]))
    first = learner.policy()
    assert learner.policy().probabilities is first.probabilities
    assert learner.n_rounds_ == 1


def test_a_random_pick_is_even_over_the_open_rows():
    rows = examples([[0.0] * 4] * 30_000, [0] * 30_000).rows
    open_rows = np.tile([True, False, True, True], 30_000)
    picks, scores = RandomPolicy().pick(rows, open_rows, 0, np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(picks % 4) / 30_000, [1 / 3, 0, 1 / 3, 1 / 3], atol=0.01)
    np.testing.assert_allclose(scores[:4], [1 / 3, 0, 1 / 3, 1 / 3])
    assert RandomPolicy().pick(rows, np.zeros(120_000, dtype=bool), 0, np.random.default_rng(0))[0].max() == -1


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (WeightedMajority(rate="fast"), "rate must be one of optimal, doubling, adaptive"),
        (WeightedMajority(rate=-1.0), "rate must be one of"),
        (WeightedMajority(horizon=0), "horizon must be at least 1. Got 0."),
        (FollowPerturbedLeader(scale="large"), 'scale must be "auto" or a number'),
        (Exp3(explore=1.5), 'explore must be "auto" or a number from 0 to 1. Got 1.5.'),
        (Exp3(rate="fast"), 'rate must be "auto" or a number from 0. Got'),
        (Exp4([]), "at least one policy"),
        (WeightedMajority([3]), "must come from listwright.policies. Got int."),
    ],
)
def test_wrong_settings_are_named(learner, message):
    with pytest.raises(InputError, match=message):
        learner.learn(examples([[0.2, 0.6]], [0]))


def test_items_need_a_catalogue():
    rows = Rows(np.zeros((2, 1), np.float32), np.zeros(2, np.int64), np.array([0, 2]))
    shown = Examples(rows, np.ones(2), 1.0, 0, np.ones(2, bool), np.array([0]), np.ones(1, bool))
    for learner in (WeightedMajority(), Exp3()):
        with pytest.raises(InputError, match="needs a catalogue"):
            learner.learn(shown)


def test_every_list_of_picks_gives_the_same_gains_by_item():
    # Full information: what the experts gain does not depend on what was picked at this position.
    seen = set()
    for picks in product(range(2), repeat=2):
        learner = WeightedMajority(rate=1.0)
        learner.learn(examples([[0.2, 0.6], [0.5, 0.1]], list(picks)))
        learner.policy()
        seen.add(tuple(learner.gains_.tolist()))
    assert len(seen) == 1
