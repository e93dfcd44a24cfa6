"""What a model says of its own lists: `report_`, `measured_` and `score` agree at the length or budget asked for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import listwright as lw
from listwright.baselines import StaticList
from listwright.estimators.measurement import limits_of, out_of_fold_values, rival_values
from listwright.estimators.search import auto_methods
from listwright.evaluation import list_values
from listwright.evaluation.intervals import SHARES, estimate
from listwright.evaluation.values import values_of_choice

TRUE = 0.1875  # of each method where all are worth the same


def readers(n: int, seed: int) -> lw.Problems:
    """Each reader wants one of three kinds of article."""
    rng = np.random.default_rng(seed)
    kind, quality = rng.integers(3, size=(n, 12)), rng.random((n, 12))
    wanted = rng.integers(3, size=(n, 1))
    features = np.concatenate([np.eye(3)[kind], quality[..., None]], axis=2)
    return lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess((kind == wanted) & (quality > 0.5)))


def curved(n: int, seed: int) -> lw.Problems:
    """Middling values of a column are the good ones."""
    features = np.random.default_rng(seed).random((n, 10, 3))
    return lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(np.abs(features[..., 0] - 0.5) < 0.05))


def one_score(n: int, seed: int) -> lw.Problems:
    """A score says nearly all."""
    rng = np.random.default_rng(seed)
    features = rng.random((n, 10, 4))
    success = features[..., 0] + 0.1 * rng.normal(size=(n, 10)) > 0.9
    return lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(success))


def portfolio(n: int, seed: int) -> lw.Problems:
    """Six solvers, which work in one half of the instances or in the other."""
    rng = np.random.default_rng(seed)
    context = rng.normal(size=(n, 3))
    chances = np.array([[0.9, 0.8, 0.2, 0.1, 0.3, 0.3], [0.1, 0.2, 0.9, 0.7, 0.3, 0.3]])
    success = rng.random((n, 6)) < chances[(context[:, 0] > 0).astype(int)]
    reward = lw.rewards.AnySuccess(success)
    return lw.Problems.from_arrays(np.zeros((n, 6, 0)), context=context, catalogue=np.arange(6), reward=reward)


def topics(n: int, seed: int) -> lw.Problems:
    """A list is worth the share of four topics that it covers."""
    rng = np.random.default_rng(seed)
    topic, quality = rng.integers(4, size=(n, 10)), rng.random((n, 10))
    features = np.concatenate([np.eye(4)[topic], quality[..., None]], axis=2)
    covers = np.eye(4)[topic] * (quality > 0.4)[..., None]
    return lw.Problems.from_arrays(features, reward=lw.rewards.Coverage(covers.reshape(-1, 4)))


def sized(n: int, seed: int) -> lw.Problems:
    """Readers again, with articles of different sizes."""
    problems = readers(n, seed)
    sizes = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], size=(n, 12))
    table = problems.features.reshape(n, 12, 4)
    return lw.Problems.from_arrays(table, sizes=sizes, reward=problems.reward)


CASES: list[tuple[Callable[[int, int], lw.Problems], dict[str, float]]] = [
    (readers, {"length": 3}),
    (curved, {"length": 2}),
    (one_score, {"length": 2}),
    (portfolio, {"length": 2}),
    (topics, {"length": 3}),
    (sized, {"budget": 2.5}),
]


@pytest.mark.parametrize(("make", "limit"), CASES, ids=[make.__name__ for make, _ in CASES])
def test_report_measurement_and_score_agree(make: Callable[[int, int], lw.Problems], limit: dict[str, float]) -> None:
    model = lw.SCP(random_state=0, **limit).fit(make(120, 0))
    report = model.report_
    assert report.measured is model.measured_
    margin = 0.02  # the score has an error of its own
    assert report.measured.low - margin <= model.score(make(1000, 1)) <= report.measured.high + margin
    names = [rival.name for rival in report.measured.rivals]
    assert ("static list" in names) == (make is portfolio)
    assert "sorting by trees" in names
    text = " ".join(str(report).split())
    assert f"Chosen: {report.chosen}. Lists of " in text
    assert f"worth {report.value:.3f} (" in text


def test_the_value_of_the_best_of_many_is_not_its_luck() -> None:
    """Twelve methods that are all worth the same: the best of them seems better, and is not."""
    wrong, best, errors = 0, [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        hard = rng.random(80)
        values = [(0.6 * hard + 0.4 * rng.random(80) < 0.3).astype(float) for _ in range(12)]
        measured = estimate(values_of_choice(values), bounds=SHARES)
        assert measured is not None
        wrong += not measured.low <= TRUE <= measured.high
        errors.append(measured.mean - TRUE)
        best.append(max(map(np.mean, values)) - TRUE)
    assert np.mean(best) > 0.05
    assert abs(np.mean(errors)) < 0.02
    assert wrong <= 12  # of 100


def test_the_static_list_is_the_real_one() -> None:
    problems = portfolio(90, 0)
    plain = lw.SCP(2, effort="fast", random_state=0)
    static = next(method for method in auto_methods(problems, plain) if method.name == "static list")

    def real(learned: lw.Problems, held: lw.Problems) -> np.ndarray:
        return list_values(StaticList(2).fit(learned).predict(held.without_reward()), held)

    values = out_of_fold_values(problems, real)
    np.testing.assert_array_equal(static.values(problems)[:, -1], values)
    np.testing.assert_array_equal(rival_values(problems, limits_of(plain))["static list"], values)
    model = lw.SCP(2, effort="fast", random_state=0)
    chosen = static.plan(problems)
    fitted = model.set_params(features=chosen.features, learner=chosen.learner, n_passes=1).fit(problems)
    assert fitted.predict(problems) == StaticList(2).fit(problems).predict(problems)


def slices(n: int, seed: int) -> lw.Problems:
    """Short slices of every solver do little, and seem much by their size; one long slice solves."""
    rng = np.random.default_rng(seed)
    sizes = np.tile([1.0, 1.0, 1.0, 8.0, 8.0, 8.0], (n, 1))
    good = rng.random((n, 3))
    success = np.concatenate([good > 0.85, good > 0.4], axis=1)
    features = np.concatenate([np.tile(good, 2)[..., None], sizes[..., None]], axis=2)
    return lw.Problems.from_arrays(features, sizes=sizes, reward=lw.rewards.AnySuccess(success))


def test_gains_are_divided_by_sizes_only_where_that_pays() -> None:
    problems, new = slices(150, 0), slices(300, 1)
    chosen = lw.SCP(budget=8, effort="fast", random_state=0).fit(problems)
    assert chosen.per_size_ is False
    divided = lw.SCP(budget=8, effort="fast", per_size=True, random_state=0).fit(problems)
    assert chosen.score(new) > divided.score(new) + 0.05
    assert lw.SCP(budget=2.5, effort="fast", random_state=0).fit(sized(60, 0)).per_size_ is True
    assert not hasattr(lw.SCP(2, effort="fast", random_state=0).fit(problems), "per_size_")
