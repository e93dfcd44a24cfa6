"""Guarantees: formulas against the paper, inverses, and whole runs whose true values are known."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.features import Candidate, Identity
from listwright.guarantees import (
    approximation_ratio,
    certify,
    confidence_terms,
    list_length_for,
    regret_bound,
    rounds_for,
)
from listwright.learners import Exp3, FollowLeader, FollowPerturbedLeader, RidgeFTRL, WeightedMajority
from listwright.learners.examples import position_weights
from listwright.training.round import Training


def test_the_ratios_that_the_paper_names():
    assert approximation_ratio(7) == pytest.approx(1 - 1 / np.e)
    assert approximation_ratio(30, 10) == pytest.approx(0.95, abs=0.001)  # "95 % of the best list of k/3"
    assert approximation_ratio(70, 10) == pytest.approx(0.999, abs=0.0005)  # "99.9 % of the best list of k/7"


@pytest.mark.parametrize("comparator_length", [1, 3, 10, 1000])
@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.5, 1 - 1 / np.e, 0.95, 0.999])
def test_list_length_is_the_smallest_that_reaches_the_ratio(ratio, comparator_length):
    length = list_length_for(ratio, comparator_length)
    assert approximation_ratio(length, comparator_length) >= ratio
    assert length == 1 or approximation_ratio(length - 1, comparator_length) < ratio


def test_regret_bound_term_by_term():
    # k' = 4, N = e^2, T = 400, delta' = 0.1 / 2: 4*4*2/400 + 2 sqrt(8/400) + 2^(9/4) 0.01^(3/4) ln(20)^(1/4) sqrt(2).
    terms = (0.08, 2 * np.sqrt(0.02), 2**2.25 * 0.01**0.75 * np.log(20) ** 0.25 * np.sqrt(2))
    n_policies = np.exp(2)  # not a whole number, so that its logarithm is
    assert regret_bound(400, n_policies, length=4, delta=0.1) == pytest.approx(sum(terms))
    assert regret_bound(400, n_policies, length=9, comparator_length=4, delta=0.1) == pytest.approx(sum(terms))
    assert regret_bound(400, 1, length=4) == 0


def test_regret_bound_is_led_by_the_square_root():
    many = 10**12
    assert regret_bound(many, 50, length=5) == pytest.approx(2 * np.sqrt(5 * np.log(50) / many), rel=0.01)


def test_confidence_terms_have_the_exact_ranges():
    states, picks = confidence_terms(1000, length=6, comparator_length=3, delta=0.1)
    unit = np.sqrt(np.log(20) / 2000)
    assert states == pytest.approx((2 - (2 / 3) ** 6) * unit)
    assert picks == pytest.approx(np.sqrt(sum((4 / 9) ** i for i in range(6))) * unit)
    only = confidence_terms(1000, length=6, comparator_length=3, delta=0.1, randomized=False)
    assert only == (pytest.approx((2 - (2 / 3) ** 6) * np.sqrt(np.log(10) / 2000)), 0.0)


def test_confidence_terms_are_smaller_than_the_printed_ones():
    states, picks = confidence_terms(1000, length=3, delta=0.1)
    assert 2 * np.sqrt(2 * np.log(20) / 1000) / states > 2.3
    assert np.sqrt(2 * 3 * np.log(20) / 1000) / picks == pytest.approx(2.7, abs=0.01)


def test_the_exact_ratio_is_that_of_lemma_2():
    assert approximation_ratio(3, exact=True) == pytest.approx(1 - (2 / 3) ** 3)
    assert approximation_ratio(1, exact=True) == 1.0
    assert all(approximation_ratio(m, k, exact=True) >= approximation_ratio(m, k) for m in (1, 3, 9) for k in (1, 2, 7))


@pytest.mark.parametrize("accuracy", [0.01, 0.1, 0.5, 50.0])
@pytest.mark.parametrize(("n_policies", "length", "comparator_length"), [(2, 1, 1), (30, 5, None), (1000, 10, 3)])
def test_rounds_for_is_the_smallest_number_that_does(accuracy, n_policies, length, comparator_length):
    lengths = {"length": length, "comparator_length": comparator_length}

    def slack(rounds):
        return regret_bound(rounds, n_policies, **lengths) + sum(confidence_terms(rounds, **lengths))

    rounds = rounds_for(accuracy, n_policies, **lengths)
    assert slack(rounds) <= accuracy
    assert rounds == 1 or slack(rounds - 1) > accuracy


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: approximation_ratio(0), "length must be at least 1. Got 0."),
        (lambda: approximation_ratio(3, 0), "comparator_length must be at least 1. Got 0."),
        (lambda: list_length_for(1.0, 3), "ratio must be from 0 to below 1. Got 1.0."),
        (lambda: regret_bound(0, 3, length=2), "rounds must be at least 1. Got 0."),
        (lambda: regret_bound(9, 0, length=2), "n_policies must be at least 1. Got 0."),
        (lambda: confidence_terms(9, length=2, delta=1.0), "delta must be between 0 and 1. Got 1.0."),
        (lambda: rounds_for(0.0, 3, length=2), "accuracy must be above 0. Got 0.0."),
        (lambda: certify(rounds=0, loss=0.0, value=0.0, length=2), "rounds must be at least 1. Got 0."),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_certificate_adds_up():
    certificate = certify(rounds=10_000, loss=500.0, value=6_000.0, length=6, comparator_length=3, delta=0.1)
    assert certificate.effective_length == 3
    assert certificate.approximation_ratio == pytest.approx(1 - (2 / 3) ** 6)
    assert certificate.regret_bound_used == pytest.approx(0.05)
    assert certificate.confidence_term == pytest.approx((2 - (2 / 3) ** 6) * np.sqrt(np.log(10) / 20_000))
    assert certificate.slack == pytest.approx(0.05 + certificate.confidence_term)
    assert certificate.lower_bound(0.9) == pytest.approx((1 - (2 / 3) ** 6) * 0.9 - certificate.slack)
    assert certificate.lower_bound_on_value == pytest.approx(0.6 - np.sqrt(np.log(10) / 20_000))
    assert certificate.assumptions_met


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"passes": 3}, "the same states were visited up to 3 times"),
        ({"bounded": False}, "the reward is not within"),
        ({"submodular": False}, "the reward is not submodular"),
        ({"discounted": False}, "positions were not weighted"),
        ({"budgeted": True}, "lists had a size budget"),
        ({"per_size": True}, "gains were learned per size"),
    ],
)
def test_what_the_theorem_does_not_cover_is_said_and_nothing_is_claimed(setting, words):
    certificate = certify(rounds=1000, loss=10.0, value=700.0, length=3, **setting)
    assert not certificate.assumptions_met
    assert str(certificate).startswith("No guarantee: ")
    assert words in str(certificate)
    assert "probability" not in str(certificate)


def exact(rounds, loss, value, **settings):
    """The certificate of a learner that knows its regret, which is the whole loss here."""
    learner = WeightedMajority()
    learner.start(2)
    learner.losses_, learner.expected_loss_, learner.loss_ = np.zeros(2), loss, loss
    return certify(learner, rounds=rounds, loss=loss, value=value, length=3, **settings)


def test_an_empty_claim_is_called_one():
    assert "it takes more states" in str(exact(50, 40.0, 20.0))
    assert "it takes more states" not in str(exact(50_000, 400.0, 20_000.0))


def test_rivals_are_named_only_where_that_says_more_than_the_value():
    assert "times the best list" in str(exact(50_000, 400.0, 20_000.0))
    assert "times the best list" not in str(certify(rounds=50_000, loss=400.0, value=20_000.0, length=3))


def test_no_printed_number_is_rounded_in_favour_of_the_claim():
    certificate = exact(50_000, 400.0, 20_000.0)
    assert "at least 0.703 times the best list" in str(certificate), "19/27 is 0.7037"
    slack = float(str(certificate).split(", less ")[1].split(". ")[0])
    assert slack - 0.001 < certificate.slack <= slack
    low = float(str(certificate).split("worth at least ")[1].split(". ")[0])
    assert low <= certificate.lower_bound_on_value < low + 0.001
    assert "regret was at most 0.009." in str(certify(rounds=50_000, loss=401.0, value=20_000.0, length=3))


def test_the_sentence_says_which_policy_it_is_about():
    sums = {"rounds": 50_000, "loss": 400.0, "value": 20_000.0, "length": 3}
    assert "predict" not in str(certify(**sums))
    assert "not about what predict uses, the last round's policy" in str(certify(**sums, keep="last"))


def test_visits_and_exact_numbers_are_worded_as_such():
    assert "Over 2,000 visits to 200 states" in str(
        certify(rounds=2000, loss=100.0, value=900.0, length=3, passes=10, states=200)
    )
    assert "regret was 0.008." in str(exact(50_000, 400.0, 20_000.0))
    assert "regret was at most 0.008." in str(certify(rounds=50_000, loss=400.0, value=20_000.0, length=3))


def test_a_bound_below_zero_is_zero():
    certificate = certify(rounds=10, loss=5.0, value=0.5, length=3)
    assert certificate.lower_bound_on_value == 0.0
    assert certificate.lower_bound(0.1) == 0.0


N_KINDS, CHANCES = 4, np.array([0.4, 0.3, 0.2, 0.1])


def states(n_states, rng):
    """State x wants one kind of item; two of the six items serve each of the first two kinds."""
    wants = rng.choice(N_KINDS, size=n_states, p=CHANCES)
    serves = np.array([0, 0, 1, 1, 2, 3])
    success = wants[:, None] == serves
    features = np.ones((n_states, 6, 1), np.float32)
    return lw.Problems.from_arrays(features, catalogue=np.arange(6), reward=lw.rewards.AnySuccess(success))


SERVED = np.array([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]])


def true_value(probabilities, length):
    """F(p, m) exactly: a list misses a kind with chance (1 - p(items that serve it))^m."""
    return float(CHANCES @ (1 - (1 - SERVED @ probabilities) ** length))


def best_value(length):
    """F of the best list."""
    lists = combinations_with_replacement(range(6), length)
    return max(float(CHANCES @ SERVED[:, list(items)].any(axis=1)) for items in lists)


def run(learner, problems, length, seed, features=None, repeats=True):
    """A pass, one state a round, with the true value of the distribution of every round."""
    training = Training(
        features=(features or Identity()).fit(problems),
        learner=learner,
        policy=learner.first_policy(),
        weights=position_weights(length),
        per_size=False,
        repeats=repeats,
        skip_saturated=True,
    )
    rng, true = np.random.default_rng(seed), []
    for batch in problems:
        true.append(true_value(getattr(learner, "probabilities_", np.full(6, 1 / 6)), length))
        training.consume_batch(batch, rng)
        training.update()
    return training.ledger, float(np.mean(true))


def certificate_of(learner, ledger, length, delta=0.05, **settings):
    sums = {"rounds": ledger.rounds, "loss": ledger.loss, "value": ledger.value}
    return certify(learner, **sums, length=length, delta=delta, **settings)


def test_the_theorem_holds_on_runs_whose_true_values_are_known():
    held, held_alone = 0, 0
    for seed in range(20):
        learner, problems = WeightedMajority(horizon=150), states(150, np.random.default_rng(seed))
        ledger, mixture = run(learner, problems, 2, seed)
        certificate = certificate_of(learner, ledger, 2, delta=0.25)
        held += mixture >= certificate.lower_bound(best_value(2))
        held_alone += mixture >= certificate.lower_bound_on_value
    assert held == 20  # the bound is far from tight
    assert held_alone >= 15  # of 20, each with probability 0.75 or more


def test_a_finite_class_is_certified_by_its_exact_regret():
    learner = WeightedMajority(horizon=300)
    ledger, _ = run(learner, states(300, np.random.default_rng(1)), 2, 1)
    certificate = certificate_of(learner, ledger, 2)
    expected, picked = learner.expected_regret(), learner.regret()
    assert (certificate.expected_regret, certificate.regret) == (expected, picked)
    by_states, by_picks = confidence_terms(300, length=2)
    assert certificate.slack == pytest.approx(min(expected / 300 + by_picks, picked / 300) + by_states)
    assert certificate.regret_bound_used < ledger.loss / 300


def test_of_two_bounds_the_smaller_enters():
    def with_regrets(expected, picked):
        learner = WeightedMajority()
        learner.start(2)
        learner.losses_, learner.expected_loss_, learner.loss_ = np.zeros(2), expected, picked
        return certify(learner, rounds=100, loss=90.0, value=50.0, length=2)

    by_states, by_picks = confidence_terms(100, length=2)
    lucky, unlucky = with_regrets(20.0, 15.0), with_regrets(20.0, 80.0)
    assert lucky.slack == pytest.approx(0.15 + by_states)
    assert unlucky.slack == pytest.approx(0.2 + by_states + by_picks)
    assert (lucky.notes, unlucky.notes) == (
        ("The regret of the lists that were drawn is exact.",),
        ("The expected regret is exact.",),
    )


def test_a_deterministic_finite_learner_has_one_regret():
    learner = FollowLeader()
    ledger, _ = run(learner, states(200, np.random.default_rng(2)), 2, 2, repeats=False)
    certificate = certificate_of(learner, ledger, 2)
    assert certificate.expected_regret == certificate.regret
    assert certificate.regret_bound_used == pytest.approx(learner.regret() / 200)


def test_the_plain_leader_keeps_its_regret_and_the_perturbed_one_loses_it():
    problems, average = states(1500, np.random.default_rng(6)), {}
    for learner in (FollowLeader(), FollowPerturbedLeader(), WeightedMajority(horizon=1500)):
        run(learner, problems, 3, 6)
        average[type(learner).__name__] = learner.expected_regret() / 1500
    assert average["FollowPerturbedLeader"] < 0.04
    assert average["WeightedMajority"] < 0.04
    assert average["FollowLeader"] > 0.1


def test_partial_feedback_falls_back_on_the_loss():
    learner = Exp3()
    ledger, _ = run(learner, states(50, np.random.default_rng(3)), 2, 3)
    certificate = certificate_of(learner, ledger, 2)
    assert certificate.expected_regret is None
    assert certificate.regret_bound_used == pytest.approx(ledger.loss / 50)


def test_surrogate_regret_and_gap_add_up_to_the_bound():
    learner = RidgeFTRL()
    ledger, _ = run(learner, states(60, np.random.default_rng(4)), 2, 4, features=Identity() + Candidate())
    certificate = certificate_of(learner, ledger, 2)
    assert certificate.surrogate_regret == pytest.approx(learner.surrogate_loss() - learner.best_surrogate_loss())
    split = certificate.surrogate_regret / 60 + certificate.surrogate_gap
    assert split == pytest.approx(certificate.regret_bound_used) == pytest.approx(ledger.loss / 60)
