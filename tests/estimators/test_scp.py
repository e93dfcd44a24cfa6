"""SCP, ConSeqOpt and the context-free form: what they learn, predict and refuse."""

from __future__ import annotations

import pickle  # noqa: TID251  (a byte for byte picture of the fitted state)
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

import listwright as lw
from listwright.errors import InputError
from listwright.evaluation.values import list_values
from listwright.features import Candidate, Distance, Features, Identity, Position
from listwright.learners import Learner, RidgeLeader
from listwright.learners.examples import Examples, position_weights
from listwright.policies import Estimator, Linear, Mixture, Policy, Sequence, Uniform
from listwright.training.keep import FEW, MEMORY, RESERVOIR, Keeper, held_out

BOTH = [lw.SCP, lw.ConSeqOpt]
ALL = [lw.SCP, lw.ConSeqOpt, lw.ContextFreeSCP]
PLAIN = Candidate(standardize=False) + Distance(standardize=False) + Position()


def make_problems(n: int = 60, items: int = 8, *, seed: int = 0, **given: Any) -> lw.Problems:
    """An item succeeds where it is of the wanted kind and good; which kind is wanted is not told."""
    rng = np.random.default_rng(seed)
    kind, quality = rng.integers(3, size=(n, items)), rng.random((n, items))
    features = np.concatenate([np.eye(3)[kind], quality[..., None]], axis=2)
    success = (kind == rng.integers(3, size=(n, 1))) & (quality > 0.5)
    given = {"reward": lw.rewards.AnySuccess(success)} | given
    return lw.Problems.from_arrays(features, **given)


def sized(n: int = 60, *, seed: int = 0, **given: Any) -> lw.Problems:
    sizes = np.random.default_rng(seed + 1).integers(1, 6, size=(n, 8)).astype(float)
    return make_problems(n, seed=seed, sizes=sizes, **given)


def recurring(n: int = 60, *, seed: int = 0, **given: Any) -> lw.Problems:
    return make_problems(n, seed=seed, catalogue=np.arange(8), **given)


def state_of(model: Any) -> bytes:
    return pickle.dumps({name: value for name, value in vars(model).items() if name.endswith("_")})


# Learning


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("learner", ["ridge", "gradient", "hinge_rank", "logistic_rank", Ridge()])
def test_lists_are_relevant_and_not_redundant(cls: type, learner: Any) -> None:
    train, test = make_problems(200), make_problems(200, seed=1)
    model = cls(3, learner=learner, random_state=0, n_passes=30 if learner == "gradient" else 4).fit(train)
    lists = model.predict(test)
    kinds = test.features[lists.rows][..., :3].argmax(axis=2)
    assert np.mean([len(set(row)) for row in kinds]) > 2.5
    best_first = test.features[lists.rows[:, 0], 3].mean()
    assert best_first > 0.75
    assert model.score(test) > 0.9 * lw.greedy(test, length=3).values.mean()


def test_one_policy_is_better_than_many_where_data_are_few() -> None:
    test = make_problems(300, seed=99)
    values = {
        cls: np.mean([cls(5, random_state=0).fit(make_problems(12, seed=seed)).score(test) for seed in range(8)])
        for cls in BOTH
    }
    assert values[lw.SCP] > values[lw.ConSeqOpt]


@pytest.mark.parametrize("weighting", ["discounted", "min_sum", "uniform"])
def test_examples_carry_the_weight_of_their_position(weighting: str) -> None:
    model = lw.SCP(4, rival_length=3, weighting=weighting, learner=Recorder(), n_passes=1, batch_size=1).fit(
        make_problems(5)
    )
    weights = [examples.weight for examples in model.training_.learner.seen_]
    assert weights == position_weights(4, 3, weighting=weighting).tolist() * 5


class Recorder(RidgeLeader):
    """Keeps the examples too."""

    def learn(self, examples: Examples) -> None:
        self.seen_ = [*getattr(self, "seen_", []), examples]
        super().learn(examples)


def test_position_weights() -> None:
    np.testing.assert_allclose(position_weights(4, 2), [0.125, 0.25, 0.5, 1.0])
    np.testing.assert_allclose(position_weights(3, 1), [0, 0, 1])
    np.testing.assert_allclose(position_weights(3), [4 / 9, 2 / 3, 1])
    np.testing.assert_allclose(position_weights(3, weighting="min_sum"), [3, 2, 1])
    np.testing.assert_allclose(position_weights(3, weighting="uniform"), [1, 1, 1])


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(("length", "rival_length"), [(2, 5), (5, 2), (1, 1), (3, 1), (1, 4)])
def test_the_length_may_differ_from_the_rivals(cls: type, length: int, rival_length: int) -> None:
    problems = recurring()
    model = cls(length, rival_length=rival_length, random_state=0).fit(problems)
    assert (model.predict(problems).lengths == length).all()
    assert 0 <= model.score(problems) <= 1
    certificate = model.online_certificate()
    assert (certificate.length, certificate.rival_length) == (length, rival_length)


def test_the_number_of_rounds_is_that_of_states_visited() -> None:
    assert lw.SCP(2, n_passes=3).fit(make_problems(20)).n_rounds_ == 60
    assert lw.SCP(2, n_passes=3, keep="best").fit(make_problems(20)).n_rounds_ == 3 * 16  # a fifth is held out


def test_the_order_of_the_problems_hardly_matters_with_one_batch() -> None:
    problems = make_problems()
    order = np.random.default_rng(0).permutation(len(problems))
    one, other = (lw.SCP(3, batch_size=60, n_passes=3).fit(given) for given in (problems, problems[order]))
    np.testing.assert_allclose(one.policy_.weights, other.policy_.weights, rtol=0, atol=1e-8)


# Predicting


@pytest.mark.parametrize("cls", ALL)
def test_other_lengths_and_budgets_than_trained(cls: type) -> None:
    problems = sized(catalogue=np.arange(8))
    model = cls(3, random_state=0).fit(problems)
    for length in (1, 2, 5, 8):
        assert (model.predict(problems, length=length).lengths == length).all()
    lists = model.predict(problems, budget=6.5)
    assert max(problems.sizes[rows[rows >= 0]].sum() for rows in lists.rows) <= 6.5
    both = model.predict(problems, length=2, budget=6.5)
    assert both.lengths.max() == 2
    by_problem = np.random.default_rng(0).uniform(1, 9, size=len(problems))
    lists = model.predict(problems, budget=by_problem)
    spent = [problems.sizes[rows[rows >= 0]].sum() for rows in lists.rows]
    assert (np.array(spent) <= by_problem).all()


@pytest.mark.parametrize("cls", BOTH)
def test_a_shorter_list_is_the_beginning_of_a_longer_one(cls: type) -> None:
    problems = make_problems()
    model = cls(3).fit(problems)
    long, short = model.predict(problems, length=6), model.predict(problems, length=2)
    np.testing.assert_array_equal(long.rows[:, :2], short.rows)


@pytest.mark.parametrize("cls", ALL)
def test_predict_never_sees_the_reward(cls: type) -> None:
    train, test = recurring(), recurring(seed=1)
    model = cls(3, random_state=0).fit(train)
    blind, seeing = model.predict(test.without_reward()), model.predict(test)
    assert blind == seeing
    assert seeing.problems.reward is None
    reversed_reward = test.with_reward(lw.rewards.AnySuccess(1 - test.reward.gains(test.reward.start(test))))
    assert model.predict(reversed_reward) == seeing


@pytest.mark.parametrize("cls", BOTH)
def test_a_problem_gets_the_same_list_alone_as_in_a_batch(cls: type) -> None:
    rng = np.random.default_rng(0)
    problems = recurring(context=rng.random((60, 3)))
    model = cls(4).fit(problems)
    together = model.predict(problems)
    for i in range(0, 60, 7):
        alone = model.predict(problems[i])
        np.testing.assert_array_equal(alone[0], together[i])
        np.testing.assert_array_equal(alone.picked_scores[0], together.picked_scores[i])


def test_scores_of_picks_are_the_policys() -> None:
    problems = make_problems()
    model = lw.SCP(2, features=Candidate()).fit(problems)
    lists = model.predict(problems)
    seen = model.training_.features.start(problems)
    scores = model.policy_.score(model.training_.features.rows(seen))
    np.testing.assert_allclose(lists.picked_scores, scores[lists.rows], rtol=1e-6, atol=1e-8)
    assert (lists.picked_scores[:, 0] >= lists.picked_scores[:, 1]).all()


def test_the_score_is_the_mean_value_of_the_lists() -> None:
    problems = make_problems()
    model = lw.SCP(2).fit(problems)
    reward, state = problems.reward, problems.reward.start(problems)
    for picks in model.predict(problems).rows.T:
        state = reward.add(state, picks)
    assert model.score(problems) == pytest.approx(reward.value(state).mean())


# Budgets and sizes


@pytest.mark.parametrize("cls", BOTH)
def test_lists_within_a_budget_skip_what_does_not_fit(cls: type) -> None:
    problems = sized()
    model = cls(budget=9, random_state=0).fit(problems)
    lists = model.predict(problems)
    for i, rows in enumerate(lists.rows):
        taken = rows[rows >= 0]
        left = 9 - problems.sizes[taken].sum()
        mine = np.arange(problems.offsets[i], problems.offsets[i + 1])
        assert left >= 0
        assert (problems.sizes[np.setdiff1d(mine, taken)] > left).all()  # nothing more would fit
        assert len(set(taken)) == len(taken)
    assert model.score(problems) > 0.75 * lw.greedy(problems, budget=9).values.mean()


def test_gains_per_size_are_learned_under_a_budget_and_can_be_turned_off() -> None:
    problems = sized()

    def first_gains(**given: Any) -> np.ndarray:
        model = lw.SCP(3, learner=Recorder(), n_passes=1, batch_size=60, **given).fit(problems)
        return model.training_.learner.seen_[0].gains

    plain = problems.reward.gains(problems.reward.start(problems))
    np.testing.assert_allclose(first_gains(), plain)
    np.testing.assert_allclose(first_gains(budget=9), plain / problems.sizes)
    np.testing.assert_allclose(first_gains(budget=9, per_size=False), plain)
    np.testing.assert_allclose(first_gains(per_size=True), plain / problems.sizes)


def test_per_size_prefers_small_items() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 9, size=(80, 10)).astype(float)
    features = np.stack([sizes, rng.random((80, 10))], axis=2)
    reward = lw.rewards.Coverage(rng.random((80, 10, 12)) < 0.3)
    problems = lw.Problems.from_arrays(features, sizes=sizes, reward=reward)
    dense, plain = (lw.SCP(budget=12, per_size=per_size).fit(problems) for per_size in (True, False))
    assert dense.predict(problems).lengths.mean() > plain.predict(problems).lengths.mean() + 0.5
    assert dense.score(problems) > plain.score(problems)


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("learner", ["ridge", "gradient", Ridge()])
def test_a_budget_that_nothing_fits_gives_empty_lists(cls: type, learner: Any) -> None:
    problems = sized()
    model = cls(budget=0.5, learner=learner).fit(problems)
    assert (model.predict(problems).lengths == 0).all()
    assert model.score(problems) == 0
    assert model.predict(problems, length=2).lengths.tolist() == [2] * 60


def test_a_batch_that_nothing_fits_is_passed_over() -> None:
    sizes = np.ones((40, 8))
    sizes[:10] = 100.0
    problems = make_problems(40, sizes=sizes)
    assert lw.SCP(budget=3, batch_size=10, n_passes=1).fit(problems).score(problems[10:]) > 0.6


# Repeats


def test_repeats_are_allowed_when_asked_for() -> None:
    problems = make_problems(items=3)
    once = lw.SCP(3, features=Candidate()).fit(problems).predict(problems)
    assert all(len(set(items)) == 3 for items in once)
    model = lw.SCP(5, features=Candidate(), repeats=True).fit(problems)  # more positions than items
    assert all(len(set(items)) == 1 for items in model.predict(problems))  # what is best stays best


# What is kept


def test_the_best_round_is_chosen_by_a_part_that_is_not_learned_from() -> None:
    problems = make_problems(100)
    held = held_out(100, np.random.default_rng(0))
    assert held is not None
    assert len(set(held.tolist())) == 20
    model = lw.SCP(2, keep="best", n_passes=1, random_state=0).fit(problems)
    assert model.n_rounds_ == 80
    alone = lw.SCP(2, keep="best", n_passes=1, random_state=0).fit(problems[:1])
    assert alone.n_rounds_ == 1  # of a single problem, nothing is held out
    keeper = Keeper("best")
    policies = [Linear(np.array([value])) for value in (0.0, 2.0, 1.0)]
    for policy in policies:
        keeper.after_round(policy, lambda policy=policy: float(policy.weights[0]))
    assert keeper.kept(policies[-1]).weights.tolist() == [2.0]


@pytest.mark.parametrize("cls", BOTH)
def test_the_best_round_is_no_worse_on_its_validation_part(cls: type) -> None:
    problems = make_problems(100)
    validation = problems[held_out(100, np.random.default_rng(0))]
    model = cls(2, keep="best", learner="gradient", random_state=0, n_passes=3).fit(problems)
    best = model.score(validation)
    model.policy_ = model.training_.policy  # the last one
    assert best >= model.score(validation)


def test_the_mixture_is_uniform_over_rounds_and_small() -> None:
    problems = make_problems(30)
    model = lw.SCP(2, keep="mixture", n_passes=2, batch_size=5, random_state=0).fit(problems)
    assert isinstance(model.policy_, Mixture)
    assert len(model.policy_.policies) == 55  # one per state, without the first round's, which had not learned yet
    assert len({id(policy) for policy in model.policy_.policies}) == 11  # one per round of five states
    long = lw.SCP(2, keep="mixture", n_passes=40, batch_size=1, random_state=0).fit(problems)
    assert len(long.policy_.policies) == RESERVOIR


def test_a_long_mixture_is_an_even_sample_of_its_rounds() -> None:
    counts = np.zeros(4)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        keeper = Keeper("mixture")
        for round_ in range(2000):
            keeper.before_round(Linear(np.array([round_])), 1, rng)
        rounds = [policy.weights[0] for policy in keeper.kept(Linear(np.zeros(1))).policies]
        counts += np.histogram(rounds, bins=4, range=(0, 2000))[0]
    np.testing.assert_allclose(counts / counts.sum(), 0.25, atol=0.02)


@pytest.mark.parametrize("cls", BOTH)
def test_a_mixture_of_fitted_estimators_is_a_small_even_sample(cls: type) -> None:
    model = cls(2, learner=Ridge(), keep="mixture", n_passes=1, batch_size=1, random_state=0).fit(make_problems(40))
    assert len(model.policy_.policies) == FEW
    assert (model.predict(make_problems(40)).lengths == 2).all()
    more = model.partial_fit(make_problems(20, seed=1))
    assert len(more.policy_.policies) == FEW
    assert more.n_rounds_ == 60


@pytest.mark.parametrize("heavy", [Estimator, lambda number: Sequence((Linear(np.zeros(1)), Estimator(number)))])
def test_the_small_sample_is_even_also_where_the_first_policies_were_light(heavy: Any) -> None:
    counts, before = np.zeros(4), 200
    for seed in range(150):
        rng = np.random.default_rng(seed)
        keeper = Keeper("mixture")
        for round_ in range(400):
            keeper.before_round(heavy(round_) if round_ >= before else Linear(np.array([round_])), 1, rng)
        policies = keeper.kept(Uniform()).policies
        assert len(policies) == FEW
        last = [policy.policies[-1] if isinstance(policy, Sequence) else policy for policy in policies]
        rounds = [policy.weights[0] if isinstance(policy, Linear) else policy.estimator for policy in last]
        counts += np.histogram(rounds, bins=4, range=(0, 400))[0]
    np.testing.assert_allclose(counts / counts.sum(), 0.25, atol=0.04)


def test_large_weights_are_kept_in_bounded_memory() -> None:
    rng, many = np.random.default_rng(0), MEMORY // (8 * 100)
    keeper = Keeper("mixture")
    for _ in range(300):
        keeper.before_round(Linear(np.broadcast_to(np.zeros(1), many)), 1, rng)
    assert len(keeper.policies) == 100


@pytest.mark.parametrize("cls", ALL)
def test_a_mixture_draws_one_policy_for_each_list(cls: type) -> None:
    problems = recurring()
    model = cls(3, keep="mixture", random_state=0).fit(problems)
    assert model.predict(problems) == model.predict(problems)
    assert (model.predict(problems).lengths == 3).all()
    policies = (Linear(np.array([0.0, 0, 0, 1])), Linear(np.array([0.0, 0, 0, -1])))
    drawn = lw.SCP(3, features=Candidate()).fit(make_problems(200, seed=5))
    drawn.policy_ = Mixture(policies)
    drawn.random_state = 0
    quality = np.diff(make_problems(200, seed=5).features[drawn.predict(make_problems(200, seed=5)).rows][..., 3])
    falls, rises = (quality <= 0).all(axis=1), (quality >= 0).all(axis=1)
    assert (falls | rises).all()  # never one policy for one position and another for the next
    assert 70 < falls.sum() < 130


def test_partial_fit_goes_on_with_a_mixture() -> None:
    first, second = make_problems(30), make_problems(30, seed=1)
    model = lw.SCP(2, keep="mixture", random_state=0).partial_fit(first).partial_fit(second)
    assert isinstance(model.policy_, Mixture)
    assert len(model.policy_.policies) == model.n_rounds_ - model.training_.ledger.unlearned < 60
    model.fit(first)
    assert len(model.policy_.policies) == 256  # of 300 rounds; a fit starts anew
    assert model.n_rounds_ == 300


# partial_fit


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("learner", ["ridge", RidgeLeader(1.0), "gradient", Ridge()])
def test_partial_fit_in_pieces_equals_one_pass_over_all(cls: type, learner: Any) -> None:
    problems = make_problems(60)
    whole = cls(3, features=PLAIN, learner=learner, n_passes=1, batch_size=20).fit(problems)
    pieces = cls(3, features=PLAIN, learner=learner, n_passes=1, batch_size=20)
    for start in (0, 20, 40):
        pieces.partial_fit(problems[start : start + 20])
    assert pieces.predict(problems) == whole.predict(problems)
    assert pieces.n_rounds_ == whole.n_rounds_ == 60
    assert pieces.training_.ledger.loss == pytest.approx(whole.training_.ledger.loss)
    np.testing.assert_array_equal(weights_of(pieces.policy_, problems), weights_of(whole.policy_, problems))


def weights_of(policy: Policy, problems: lw.Problems) -> np.ndarray:
    if isinstance(policy, Sequence):
        return np.concatenate([weights_of(one, problems) for one in policy.policies])
    return policy.weights if isinstance(policy, Linear) else np.ravel(policy.estimator.coef_)


def test_context_free_partial_fit_in_pieces_equals_one_pass_over_all() -> None:
    problems = recurring()
    learner = lw.learners.WeightedMajority(rate=0.3)
    whole = lw.ContextFreeSCP(2, learner=learner, random_state=np.random.default_rng(4)).fit(problems)
    pieces = lw.ContextFreeSCP(2, learner=learner, random_state=np.random.default_rng(4))
    for start in (0, 20, 40):
        pieces.partial_fit(problems[start : start + 20])
    np.testing.assert_allclose(pieces.probabilities_, whole.probabilities_, rtol=1e-12)


def test_partial_fit_state_by_state_draws_anew_each_time() -> None:
    success = np.tile([1.0, 0.0, 0.0, 0.0], (300, 1))
    problems = lw.Problems.from_arrays(np.zeros((300, 4, 1)), reward=lw.rewards.AnySuccess(success))
    model = lw.ContextFreeSCP(1, learner=lw.learners.WeightedMajority(rate=0.0), random_state=0)
    for start in range(300):
        model.partial_fit(problems[start : start + 1])
    assert 0.15 < model.training_.ledger.value / 300 < 0.35  # even odds: a quarter, not all or nothing


@pytest.mark.parametrize("cls", ALL)
def test_a_second_pass_over_the_same_states_is_no_guarantee(cls: type) -> None:
    first, second = recurring(), recurring(seed=1)
    model = cls(2, **unscaled(cls), n_passes=1, random_state=0).fit(first)
    assert model.online_certificate().assumptions_met
    model.partial_fit(second)
    assert model.online_certificate().assumptions_met
    model.partial_fit(first[np.random.default_rng(0).permutation(len(first))])  # equal, in another order
    assert "the same states were visited up to 2 times" in str(model.online_certificate())
    again = cls(2, **unscaled(cls), n_passes=1, random_state=0)
    assert again.fit(first).online_certificate().assumptions_met
    assert "visited up to 3 times" in str(again.set_params(n_passes=3).fit(first).online_certificate())


def unscaled(cls: type) -> dict[str, Any]:
    """Features that see nothing of other states; the context-free form has none."""
    return {} if cls is lw.ContextFreeSCP else {"features": lw.features.Candidate(standardize=False)}


@pytest.mark.parametrize("size", [1, 7, 25])
def test_visits_are_counted_by_state_whatever_the_slices(size: int) -> None:
    problems, rng = make_problems(25), np.random.default_rng(0)
    model = lw.SCP(2, **unscaled(lw.SCP), n_passes=1, batch_size=1, random_state=0)
    for _ in range(4):
        order = rng.permutation(25)
        for start in range(0, 25, size):
            model.partial_fit(problems[order[start : start + size]])
    certificate = model.online_certificate()
    assert "the same states were visited up to 4 times" in certificate.breaches
    assert certificate.states == 25


def test_partial_fit_after_fit_goes_on() -> None:
    model = lw.SCP(3, n_passes=2).fit(make_problems(40))
    before, rounds = model.policy_.weights, model.n_rounds_
    model.partial_fit(make_problems(40, seed=1))
    assert model.n_rounds_ == rounds + 40
    assert np.abs(model.policy_.weights - before).max() > 1e-6


def test_a_model_given_out_before_partial_fit_does_not_change() -> None:
    problems = make_problems()
    model = lw.SCP(3, learner="gradient").fit(problems)
    policy, weights = model.policy_, model.policy_.weights.copy()
    training, rounds = model.training_, model.n_rounds_
    model.partial_fit(problems)
    np.testing.assert_array_equal(policy.weights, weights)
    assert training.ledger.rounds == rounds


# One's own objects


class Kinds(Features):
    """One's own feature: how many items of the candidate's kind the list holds."""

    group = "kinds"

    def start(self, problems: lw.Problems) -> Any:
        return problems, np.zeros((len(problems), 3), dtype=np.float32)

    def columns(self, seen: Any) -> Any:
        problems, held = seen
        kind = problems.features[:, :3].argmax(axis=1)
        return held[problems.owners, kind][:, None]

    def add(self, seen: Any, picks: Any) -> Any:
        problems, held = seen
        some, held = np.flatnonzero(picks >= 0), held.copy()
        held[some, problems.features[picks[some], :3].argmax(axis=1)] += 1
        return problems, held

    def names(self) -> list[str]:
        return ["items of the same kind"]

    def problems_of(self, seen: Any) -> lw.Problems:
        return seen[0]


class Perceptron(Learner):
    """One's own learner: adds up the best rows less the picked ones."""

    def __init__(self, rate: float = 1.0) -> None:
        self.rate = rate

    def learn(self, examples: Examples) -> None:
        table = examples.rows.table.astype(np.float64)
        if not hasattr(self, "weights_"):
            self.weights_ = np.zeros(table.shape[1])
        cheap = examples.used & (examples.costs == 0)
        self.weights_ = self.weights_ + self.rate * (table[cheap].mean(axis=0) - table[examples.used].mean(axis=0))

    def policy(self) -> Policy:
        return Linear(self.weights_)


def share_new(problem: lw.Problems, items: list[int]) -> float:
    """One's own reward: how many kinds there are among the items."""
    return len({int(problem.features[item, :3].argmax()) for item in items}) / 3


def test_own_reward_feature_and_learner_are_used_and_never_changed() -> None:
    problems = make_problems(40, reward=lw.rewards.Function(share_new))
    features, learner = Candidate() + Kinds(), Perceptron(0.5)
    before = pickle.dumps((features, learner))
    model = lw.SCP(3, features=features, learner=learner, random_state=0).fit(problems)
    model.partial_fit(problems)
    assert pickle.dumps((features, learner)) == before
    assert model.training_.learner is not learner
    assert model.score(problems) > 0.9
    lw.checks.check_features(Kinds(), problems)


@pytest.mark.parametrize("cls", BOTH)
def test_problems_are_never_changed(cls: type) -> None:
    problems = sized(catalogue=np.arange(8), context=np.random.default_rng(0).random((60, 2)))
    arrays = [problems.features, problems.offsets, problems.context, problems.catalogue, problems.sizes]
    before = [array.tobytes() for array in arrays]
    cls(budget=8).fit(problems).partial_fit(problems).predict(problems)
    assert [array.tobytes() for array in arrays] == before


def test_read_only_arrays_are_fine() -> None:
    x = np.random.default_rng(0).random((30, 6, 2)).astype(np.float32)
    x.flags.writeable = False
    success = x[..., 0] > 0.7
    success.flags.writeable = False
    problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(success), vectors=x, catalogue=np.arange(6))
    assert lw.SCP(2).fit(problems).score(problems) > 0.8


# Odd problems


@pytest.mark.parametrize("cls", BOTH)
def test_float32_float64_integers_and_csr_give_the_same_lists(cls: type) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-4, 5, size=(40, 6, 3))
    reward = lw.rewards.AnySuccess(x[..., 0] + x[..., 1] > 4)
    as_csr = sparse.csr_array(x.reshape(-1, 3).astype(float))
    kinds = [x.astype(np.float32), x.astype(np.float64), x, np.asfortranarray(x.astype(float)), x.tolist()]
    given = [lw.Problems.from_arrays(one, reward=reward) for one in kinds]
    given.append(lw.Problems.from_arrays(as_csr, offsets=np.arange(41) * 6, reward=reward))
    lists = [cls(3).fit(problems).predict(problems).rows for problems in given]
    for other in lists[1:]:
        np.testing.assert_array_equal(other, lists[0])


@pytest.mark.parametrize("cls", ALL)
def test_context_only_problems_with_a_catalogue(cls: type) -> None:
    rng = np.random.default_rng(0)
    context = rng.normal(size=(300, 2))
    best = (context[:, :1] > 0).astype(int) * 2 + (context[:, 1:] > 0)  # which of four items succeeds
    reward = lw.rewards.AnySuccess(np.arange(4) == best)
    problems = lw.Problems.from_arrays(np.zeros((300, 4, 0)), context=context, catalogue=np.arange(4), reward=reward)
    model = cls(1, random_state=0).fit(problems[:200])
    value = model.score(problems[200:])
    assert value > (0.1 if cls is lw.ContextFreeSCP else 0.85)


@pytest.mark.parametrize("keep", ["last", "best", "mixture"])
@pytest.mark.parametrize("cls", ALL)
def test_one_problem_is_enough_to_fit(cls: type, keep: str) -> None:
    problem = recurring(1, seed=3)
    model = cls(2, keep=keep, random_state=0).fit(problem)
    assert len(model.predict(problem)[0]) == 2
    assert len(model.predict(recurring(5))) == 5


@pytest.mark.parametrize("cls", ALL)
def test_single_candidates_leave_no_choice(cls: type) -> None:
    problems = lw.Problems.from_arrays(np.zeros((5, 1, 2)), reward=lw.rewards.AnySuccess(np.ones((5, 1))))
    model = cls(1).fit(problems)
    assert [items.tolist() for items in model.predict(problems)] == [[0]] * 5
    assert model.score(problems) == 1


@pytest.mark.parametrize("success", [0.0, 1.0], ids=["nothing can be gained", "everything succeeds"])
@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("keep", ["last", "best"])
def test_problems_that_teach_nothing(cls: type, success: float, keep: str) -> None:
    problems = recurring(20, reward=lw.rewards.AnySuccess(np.full((20, 8), success)))
    model = cls(3, keep=keep, random_state=0).fit(problems)
    assert model.score(problems) == success
    assert (model.predict(problems).lengths == 3).all()
    assert all(np.isfinite(scores).all() for scores in model.predict(problems).scores)


@pytest.mark.parametrize("learner", ["gradient", "hinge_rank", Ridge()])
def test_other_learners_do_not_mind_problems_that_teach_nothing(learner: Any) -> None:
    problems = make_problems(20, reward=lw.rewards.AnySuccess(np.zeros((20, 8))))
    for model in (lw.SCP(2, learner=learner), lw.SCP(2, learner=learner, skip_solved=False)):
        assert (model.fit(problems).predict(problems).lengths == 2).all()


def test_constant_features_leave_the_order_given() -> None:
    problems = lw.Problems.from_arrays(np.ones((10, 5, 2)), reward=lw.rewards.AnySuccess(np.eye(5)[[4] * 10]))
    assert lw.SCP(3).fit(problems).predict(problems).rows[0].tolist() == [0, 1, 2]  # ties go to the lowest row


def test_problems_of_different_sizes() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(2, 15, size=50)
    features = rng.random((counts.sum(), 2))
    reward = lw.rewards.AnySuccess(features[:, 0] > 0.8)
    problems = lw.Problems.from_arrays(features, offsets=np.concatenate([[0], np.cumsum(counts)]), reward=reward)
    lists = lw.SCP(5, short_lists=True).fit(problems).predict(problems)
    np.testing.assert_array_equal(lists.lengths, np.minimum(counts, 5))


# The same seed


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("keep", ["last", "best", "mixture"])
def test_the_same_seed_gives_the_same_model(cls: type, keep: str) -> None:
    problems = recurring()
    models = [cls(2, keep=keep, random_state=3).fit(problems) for _ in range(2)]
    assert state_of(models[0]) == state_of(models[1])
    assert models[0].predict(problems) == models[1].predict(problems)


def test_a_generator_can_be_passed() -> None:
    problems = recurring()
    one = lw.SCP(2, random_state=np.random.default_rng(3)).fit(problems)
    other = lw.SCP(2, random_state=3).fit(problems)
    np.testing.assert_array_equal(one.policy_.weights, other.policy_.weights)


# Context-free


def test_context_free_lists_are_drawn_with_replacement_from_the_distribution() -> None:
    problems = recurring(400)
    model = lw.ContextFreeSCP(4, random_state=0).fit(problems)
    lists = model.predict(problems)
    assert any(len(set(items)) < 4 for items in lists)
    shares = np.bincount(np.concatenate(list(lists)), minlength=8) / (4 * 400)
    np.testing.assert_allclose(shares, model.probabilities_, atol=0.05)
    assert model.probabilities_.sum() == pytest.approx(1)


def test_the_best_fixed_list_beats_the_draws_where_items_complement_each_other() -> None:
    # In every state one of four items succeeds; two pairs cover the states.
    rng = np.random.default_rng(0)
    best = rng.choice(4, size=500, p=[0.45, 0.45, 0.05, 0.05])
    problems = lw.Problems.from_arrays(np.zeros((500, 4, 1)), reward=lw.rewards.AnySuccess(np.eye(4)[best]))
    model = lw.ContextFreeSCP(2, random_state=0).fit(problems)
    fixed = model.predict(problems, best_list=True)
    assert {*fixed[0]} == {0, 1}
    assert all((items == fixed[0]).all() for items in fixed)
    assert list_values(fixed, problems).mean() > model.score(problems)
    assert model.predict(problems, best_list=True, length=1).lengths.max() == 1


def test_the_best_fixed_list_keeps_to_a_budget() -> None:
    problems = sized(catalogue=np.arange(8))
    model = lw.ContextFreeSCP(4, random_state=0).fit(problems)
    free = model.predict(problems, best_list=True)
    lists = model.predict(problems, best_list=True, budget=3.0)
    assert (lists.lengths < free.lengths).any()
    for whole, rows in zip(free.rows, lists.rows, strict=True):
        room, fit = 3.0, []
        for row in whole[whole >= 0]:
            if problems.sizes[row] <= room:
                room -= problems.sizes[row]
                fit.append(row)
        assert rows[rows >= 0].tolist() == fit
    assert (model.predict(problems, best_list=True, length=1, budget=100.0).lengths == 1).all()
    with pytest.raises(InputError, match="budget must be above 0"):
        model.predict(problems, best_list=True, budget=-1)


def test_the_best_fixed_list_leaves_out_what_a_problem_does_not_offer() -> None:
    problems = recurring()
    model = lw.ContextFreeSCP(2, random_state=0).fit(problems)
    wanted = model.best_list_
    offered = np.setdiff1d(np.arange(8), wanted[:1])
    partial = lw.Problems.from_arrays(np.zeros((1, 7, 4)), catalogue=offered)
    got = model.predict(partial, best_list=True)
    assert offered[got[0]].tolist() == wanted[1:].tolist()


def test_the_kept_distribution_is_the_one_shown() -> None:
    model = lw.ContextFreeSCP(2, keep="best", random_state=0).fit(recurring(100))
    np.testing.assert_array_equal(model.probabilities_, model.policy_.probabilities)


def test_without_a_catalogue_the_position_is_the_item() -> None:
    model = lw.ContextFreeSCP(2, random_state=0).fit(make_problems())
    assert len(model.probabilities_) == 8
    ragged = lw.Problems.from_arrays(np.zeros((5, 1)), offsets=[0, 2, 5], reward=lw.rewards.AnySuccess(np.ones(5)))
    with pytest.raises(InputError, match="need a catalogue"):
        lw.ContextFreeSCP(2).fit(ragged)


# Bad input: one clear error each, and the fitted state stays


def without(problems: lw.Problems, *, columns: slice = slice(None), **given: Any) -> lw.Problems:
    """The same problems with some columns, or with other data."""
    return lw.Problems.from_arrays(problems.features[:, columns], offsets=problems.offsets, **given)


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("use", ["fit", "partial_fit"])
def test_wrong_parameters_are_named_and_nothing_is_lost(cls: type, use: str) -> None:
    problems = sized(catalogue=np.arange(8))
    model = cls(3, random_state=0).fit(problems)
    before, lists = state_of(model), model.predict(problems)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"length": 0}, r"length must be at least 1. Got 0."),
        ({"length": 2.5}, r"length must be a whole number of at least 1. Got 2.5."),
        ({"length": True}, r"length must be a whole number of at least 1. Got True."),
        ({"rival_length": 0}, r"rival_length must be at least 1. Got 0."),
        ({"n_passes": 0}, r"n_passes must be at least 1. Got 0."),
        ({"batch_size": -1}, r"batch_size must be at least 1. Got -1."),
        ({"keep": "all"}, r"keep must be one of last, best, mixture. Got 'all'."),
        ({"random_state": "seed"}, r"random_state must be an integer, a numpy Generator or None. Got 'seed'."),
    ]
    if cls is not lw.ContextFreeSCP:
        wrong += [
            ({"budget": 0}, r"budget must be above 0"),
            ({"budget": -2.0}, r"budget must be above 0"),
            ({"budget": float("nan")}, r"budget must be above 0"),
            ({"budget": [3.0] * 60}, r"The budget to learn with is one number"),
            ({"budget": "much"}, r"budget must be an array of numbers"),
            ({"per_size": "yes"}, r"per_size must be True, False or \"auto\". Got 'yes'."),
        ]
    if use == "fit":
        wrong += [
            ({"weighting": "late"}, r"weighting must be one of discounted, min_sum, uniform. Got 'late'."),
            ({"learner": "rigde"}, r"learner must be one of ridge, gradient.*Got 'rigde'."),
        ]
        if cls is not lw.ContextFreeSCP:
            wrong.append(({"features": "papers"}, r"features must be \"auto\" or come from listwright.features"))
        else:
            wrong.append(({"learner": "ridge"}, r"one over items, such as majority. Got 'ridge'."))
    good = model.get_params()
    for change, message in wrong:
        model.set_params(**change)
        with pytest.raises(InputError, match=message):
            getattr(model, use)(problems)
        model.set_params(**good)
        assert state_of(model) == before
    assert model.predict(problems) == lists


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("use", ["fit", "partial_fit", "score"])
def test_learning_needs_a_reward(cls: type, use: str) -> None:
    problems = recurring()
    model = cls(2, random_state=0).fit(problems)
    before = state_of(model)
    with pytest.raises(
        InputError, match=r"needs a reward, but these problems have none\. Rewards may only be missing in"
    ):
        getattr(model, use)(problems.without_reward())
    assert state_of(model) == before


@pytest.mark.parametrize("cls", BOTH)
def test_too_few_candidates_are_named_and_short_lists_accepted_when_asked_for(cls: type) -> None:
    few = make_problems(5, 2, problem_ids=list("abcde"))
    message = r"Problem a has 2 candidates but length=3. Pass short_lists=True to accept shorter lists."
    with pytest.raises(InputError, match=message):
        cls(3).fit(few)
    model = cls(3).fit(make_problems())
    with pytest.raises(InputError, match=message):
        model.predict(few)
    assert (model.predict(few, short_lists=True).lengths == 2).all()
    assert (model.predict(few, length=2).lengths == 2).all()
    assert (cls(3, short_lists=True).fit(few).predict(few).lengths == 2).all()


@pytest.mark.parametrize("cls", BOTH)
def test_wrong_arguments_of_predict_are_named(cls: type) -> None:
    problems = sized()
    model = cls(3).fit(problems)
    for given, message in (
        ({"length": 0}, "length must be at least 1. Got 0."),
        ({"length": 1.0}, "length must be a whole number of at least 1. Got 1.0."),
        ({"budget": 0}, "budget must be above 0"),
        ({"budget": [1.0, 2.0]}, r"budget must be above 0: one number, or one per problem \(60\)"),
    ):
        with pytest.raises(InputError, match=message):
            model.predict(problems, **given)
    with pytest.raises(InputError, match="A budget needs sizes, but these problems have none"):
        model.predict(make_problems(), budget=3)
    with pytest.raises(InputError, match="A budget needs sizes"):
        cls(budget=3).fit(make_problems())
    with pytest.raises(InputError, match="per_size=True needs sizes"):
        cls(per_size=True).fit(make_problems())


def test_other_features_than_trained_are_named() -> None:
    names = ["a", "b", "c", "quality"]
    problems = make_problems(feature_names=names)
    model = lw.SCP(2).fit(problems)
    before = state_of(model)
    for given, message in (
        (without(problems, columns=slice(3), feature_names=names[:3]), r"missing: quality"),
        (without(problems, feature_names=["a", "b", "x", "y"]), r"missing: c, quality; not known: x, y"),
        (without(problems, feature_names=names[::-1]), "they come in another order"),
        (without(problems, columns=slice(3)), r"trained on 4 features. Got 3."),
        (without(problems, context=np.zeros((60, 2))), r"no context columns. Got 2."),
        (without(problems, vectors=np.zeros((480, 2))), r"no vector columns. Got 2."),
    ):
        for use in (model.predict, model.partial_fit):
            with pytest.raises(InputError, match=message):
                use(given.with_reward(problems.reward))
    assert state_of(model) == before
    assert len(model.predict(without(problems))) == 60  # without names, the number of columns has to do


@pytest.mark.parametrize("cls", ALL)
def test_another_catalogue_than_trained_is_refused(cls: type) -> None:
    problems = recurring()
    model = cls(2, random_state=0).fit(problems)
    before = state_of(model)
    larger = without(problems, catalogue=np.tile(np.arange(1, 9), 60), reward=problems.reward)
    for use in ("partial_fit", "predict"):
        with pytest.raises(InputError, match=f"{use}: catalogue item 8 is new; the model was trained on items 0 to 7"):
            getattr(model, use)(larger)
    if cls is not lw.ContextFreeSCP:  # which takes the position for the item
        with pytest.raises(InputError, match=r"trained with a catalogue of 8. Got none."):
            model.partial_fit(make_problems())
    else:
        with pytest.raises(InputError, match="catalogue item 8 is new"):
            model.predict(larger, best_list=True)
    assert state_of(model) == before
    fewer = without(problems, catalogue=np.tile(np.arange(8)[::-1], 60), reward=problems.reward)
    assert len(model.predict(fewer)) == 60  # the same items in another order are the same catalogue


class FailsLater(lw.rewards.Reward):
    """Breaks down in the second half of a fit."""

    def __init__(self, inner: Any, calls: list[int]) -> None:
        self.inner, self.calls = inner, calls

    def bind(self, offsets: Any) -> FailsLater:
        return FailsLater(self.inner.bind(offsets), self.calls)

    def take(self, which: Any) -> FailsLater:
        return FailsLater(self.inner.take(which), self.calls)

    def start(self, problems: Any) -> Any:
        self.calls.append(1)
        if len(self.calls) > 3:
            raise RuntimeError("the simulator went away")
        return self.inner.start(problems)

    def gains(self, state: Any) -> Any:
        return self.inner.gains(state)

    def add(self, state: Any, picks: Any) -> Any:
        return self.inner.add(state, picks)

    def value(self, state: Any) -> Any:
        return self.inner.value(state)


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("use", ["fit", "partial_fit"])
@pytest.mark.parametrize("keep", ["last", "mixture"])
def test_an_error_in_the_middle_of_learning_leaves_the_fitted_state(cls: type, use: str, keep: str) -> None:
    problems = recurring()
    model = cls(2, keep=keep, batch_size=7, random_state=0).fit(problems)
    before, lists = state_of(model), model.predict(problems)
    breaking = problems.with_reward(FailsLater(problems.reward, []))
    with pytest.raises(RuntimeError, match="the simulator went away"):
        getattr(model, use)(breaking)
    assert state_of(model) == before
    assert model.predict(problems) == lists


def test_a_first_fit_that_fails_leaves_no_half_fitted_model() -> None:
    problems = recurring()
    for cls in ALL:
        model = cls(2, batch_size=7)
        with pytest.raises(RuntimeError):
            model.fit(problems.with_reward(FailsLater(problems.reward, [])))
        assert not [name for name in vars(model) if name.endswith("_")]


def test_two_crossed_features_are_refused() -> None:
    with pytest.raises(InputError, match="Only one part"):
        lw.SCP(2, features=Identity() + Identity(("list",))).fit(recurring())


def test_sizes_that_add_up_but_for_rounding_fit_the_budget() -> None:
    problems = make_problems(sizes=np.full((60, 8), 0.1))  # 0.3 - 0.1 - 0.1 is less than 0.1 in binary
    model = lw.SCP(budget=0.3, random_state=0).fit(problems)
    assert (model.predict(problems).lengths == 3).all()
    assert (lw.baselines.TopK().fit(problems).predict(problems, budget=0.3).lengths == 3).all()
    assert lw.greedy(problems, budget=0.3).lengths.max() == 3
