"""SubMod and the learned DPP: their definitions, their tuning, their manners."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize
from sklearn.base import clone

import listwright as lw
from listwright.baselines import LearnedDPP, SubMod
from listwright.baselines.learned_dpp import log_likelihood
from listwright.errors import InputError


def made(n=12, rows=7, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.random((n, rows, 3))
    covers = rng.random((n, rows, 5)) < 0.2 + 0.4 * features[..., :1]
    return lw.Problems.from_arrays(
        features,
        vectors=rng.random((n, rows, 4)),
        sizes=rng.integers(1, 5, (n, rows)).astype(float),
        reward=lw.rewards.Coverage(covers.astype(float)),
    )


def objective(vectors, chosen, redundancy):
    """f as Lin and Bilmes write it, over ordered pairs."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = units @ units.T
    inside = np.isin(np.arange(len(units)), chosen)
    within = cosines[np.ix_(inside, inside)]
    return cosines[np.ix_(~inside, inside)].sum() - redundancy * (within.sum() - np.trace(within))


def slow_submod(vectors, sizes, budget, redundancy, scaling):
    chosen, left = [], set(range(len(vectors)))
    best = {row: objective(vectors, [row], redundancy) for row in left if sizes[row] <= budget}
    while left:
        gain = {
            row: objective(vectors, [*chosen, row], redundancy) - objective(vectors, chosen, redundancy) for row in left
        }
        row = max(sorted(left), key=lambda one: gain[one] / sizes[one] ** scaling)
        if sizes[[*chosen, row]].sum() <= budget and gain[row] >= 0:
            chosen.append(row)
        left.remove(row)
    single = max(best, key=lambda row: best[row])
    return [single] if best[single] > objective(vectors, chosen, redundancy) else chosen


@pytest.mark.parametrize(("redundancy", "scaling"), [(0.0, 0.0), (1.0, 0.5), (4.0, 1.0)])
def test_submod_is_the_papers_algorithm(redundancy, scaling):
    problems = made()
    lists = SubMod(redundancy, scaling).fit(problems).predict(problems, budget=8.0)
    for i, items in enumerate(lists):
        rows = slice(problems.offsets[i], problems.offsets[i + 1])
        expected = slow_submod(
            np.asarray(problems.vectors[rows], float), problems.sizes[rows], 8.0, redundancy, scaling
        )
        assert items.tolist() == expected


def test_submod_tunes_on_the_training_problems():
    problems = made(30)
    tuned = SubMod(budget=8.0).fit(problems)
    fixed = [SubMod(one, other, budget=8.0).fit(problems).score(problems) for one, other in ((0.0, 0.0), (16.0, 1.0))]
    assert tuned.score(problems) >= max(fixed)
    assert SubMod(1.0, 0.3).fit(problems.without_reward()).redundancy_ == 1.0
    with pytest.raises(InputError, match="redundancy must be 0 or more"):
        SubMod(-1.0).fit(problems)


def test_likelihood_has_the_right_slope_and_adds_up():
    rng = np.random.default_rng(1)
    table, vectors, weights = rng.random((4, 2)), rng.random((4, 6)), rng.standard_normal(2)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines, chosen = vectors @ vectors.T, np.array([0, 2])
    slope = optimize.approx_fprime(weights, lambda w: log_likelihood(w, table, cosines, chosen)[0], 1e-6)
    assert np.allclose(slope, log_likelihood(weights, table, cosines, chosen)[1], atol=1e-4)
    subsets = [np.flatnonzero([bits >> i & 1 for i in range(4)]) for bits in range(16)]
    chances = [np.exp(log_likelihood(weights, table, cosines, subset)[0]) for subset in subsets]
    assert sum(chances) == pytest.approx(1.0, abs=1e-4)


def test_learned_dpp_finds_what_counts():
    problems = made(60)
    model = LearnedDPP(budget=6.0).fit(problems)
    assert model.weights_[0] > max(abs(model.weights_[1:3]))
    chance = lw.greedy(problems, budget=6.0).values.mean()
    assert 0.6 * chance < model.score(problems) <= chance + 1e-9


@pytest.mark.parametrize("rival", [SubMod(budget=5.0), LearnedDPP(budget=5.0)])
def test_budgets_hold(rival):
    problems = made()
    model = clone(rival).fit(problems)
    for budget in (None, 3.0):
        rows = model.predict(problems, budget=budget).rows
        spent = np.where(rows >= 0, problems.sizes[rows], 0.0).sum(axis=1)
        assert (spent <= (budget or 5.0)).all()
        assert spent.max() > 0
    assert model.predict(problems, length=2).rows.shape[1] <= 2
    assert (model.predict(problems, budget=0.5).lengths == 0).all()
    assert model.predict(problems).rows.tolist() == model.predict(problems.without_reward()).rows.tolist()


def test_dpp_parameters_are_checked():
    with pytest.raises(InputError, match="penalty must be above 0"):
        LearnedDPP(0.0).fit(made())
    with pytest.raises(InputError, match="scaling must be 0 or more"):
        LearnedDPP(scaling="most").fit(made())
