"""Surrogate regret against the best in hindsight: what learners report, against a solver that sees all examples."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

import listwright as lw
from listwright.features import Candidate, Identity
from listwright.learners import Aggregate, GradientDescent, Learner, RidgeFTRL, SoftmaxLeader, WeightedMajority
from listwright.learners.examples import Examples
from listwright.learners.losses import LOSSES

pytestmark = pytest.mark.filterwarnings("ignore::listwright.errors.UnsavableWarning")  # classes in functions


def make_problems(n: int, seed: int = 0) -> lw.Problems:
    """Of noisy labels, so that no weights are right about all of them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6, 3))
    good = x @ np.array([1.0, -0.5, 0.2]) + rng.normal(size=(n, 6)) > 0.8
    return lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(good), catalogue=np.arange(6))


class Seen:
    """Examples of a run, as rows written out: crossed columns become one block an item."""

    def __init__(self) -> None:
        self.parts: list[tuple[Any, ...]] = []

    def take(self, examples: Examples) -> None:
        rows, offsets = examples.used_rows
        if not len(rows):
            return
        table = examples.rows.table.astype(float)
        crossed = examples.rows.crossed
        if crossed is not None:
            blocks = np.zeros((len(table), crossed.n_items, crossed.states.shape[1]))
            blocks[np.arange(len(table)), crossed.items] = crossed.states[examples.rows.owners]
            table = np.concatenate([table, blocks.reshape(len(table), -1)], axis=1)
        self.parts.append((table[rows], examples.costs[rows], examples.gains[rows], offsets, examples.weight))

    def loss(self, name: str, weights: np.ndarray) -> tuple[float, np.ndarray]:
        total, slope = 0.0, np.zeros_like(weights)
        for table, costs, _, offsets, weight in self.parts:
            losses, slopes = LOSSES[name](table @ weights, costs, offsets)
            total += weight * losses.sum()
            slope += weight * (table.T @ slopes)
        return total, slope

    def softmax(self, weights: np.ndarray) -> float:
        total = 0.0
        for table, _, gains, offsets, weight in self.parts:
            for start, end in pairwise(offsets):
                scores = table[start:end] @ weights
                shares = gains[start:end] / gains[start:end].sum()
                total -= weight * float(shares @ (scores - np.logaddexp.reduce(scores)))
        return total

    def best(self, name: str, radius: float) -> float:
        """The least loss of weights within a ball, by a solver that sees all examples."""
        start = np.full(self.parts[0][0].shape[1], 1e-3)
        inside = {"type": "ineq", "fun": lambda w: radius**2 - w @ w, "jac": lambda w: -2 * w}
        whole = self.joined()
        solved = minimize(lambda w: whole.loss(name, w), start, jac=True, method="SLSQP", constraints=[inside])
        inner = solved.x * min(1.0, radius / np.linalg.norm(solved.x))
        return whole.loss(name, inner)[0]

    def joined(self) -> Seen:
        """The same examples in one part for each weight."""
        seen = Seen()
        for weight in sorted({part[4] for part in self.parts}):
            mine = [part for part in self.parts if part[4] == weight]
            table, costs, gains = (np.concatenate([part[i] for part in mine]) for i in range(3))
            counts = np.concatenate([np.diff(part[3]) for part in mine])
            seen.parts.append((table, costs, gains, np.concatenate([[0], np.cumsum(counts)]), weight))
        return seen


def watched(learner: Learner, seen: Seen) -> Learner:
    """The learner, whose examples are also kept by `seen`."""

    class Watched(type(learner)):  # type: ignore[misc]
        def learn(self, examples: Examples) -> None:
            seen.take(examples)
            super().learn(examples)

    return Watched(**learner.get_params(deep=False))


def run(learner: Learner, n: int = 60, features: Any = None, **settings: Any) -> tuple[lw.SCP, Seen]:
    seen = Seen()
    features = Candidate() if features is None else features
    settings = {"n_passes": 1, "batch_size": 1, "random_state": 0} | settings
    return lw.SCP(2, learner=watched(learner, seen), features=features, **settings).fit(make_problems(n)), seen


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("batch_size", [1, 7])
def test_gradient_descent_bounds_its_regret_against_the_best_within_reach(
    loss: str, crossed: bool, batch_size: int
) -> None:
    features = Candidate() + Identity() if crossed else Candidate()
    model, seen = run(GradientDescent(loss, penalty=0.01), features=features, batch_size=batch_size)
    learner, certificate = model.training_.learner, model.online_certificate()
    best = seen.best(loss, learner.reach_)
    true = learner.surrogate_loss() - best
    assert true > 0
    assert true <= certificate.surrogate_regret + 1e-9 * best
    assert certificate.surrogate_regret < learner.surrogate_loss()  # the bound says more than that losses are positive


@pytest.mark.parametrize("loss", LOSSES)
def test_the_bound_is_near_the_regret_in_longer_runs(loss: str) -> None:
    average = []
    for n in (100, 800):
        model, seen = run(GradientDescent(loss), n)
        learner, bound = model.training_.learner, model.online_certificate().surrogate_regret
        regret = learner.surrogate_loss() - seen.best(loss, learner.reach_)
        assert regret <= bound < 4 * regret
        average.append(bound / n)
    assert average[1] < 0.5 * average[0]


def test_the_reach_is_that_of_the_longest_weights() -> None:
    model, _ = run(GradientDescent(), keep="mixture")
    lengths = [np.linalg.norm(policy.weights) for policy in model.policy_.policies[1:]]
    last = np.linalg.norm(model.training_.policy.weights)
    assert model.training_.learner.reach_ == pytest.approx(max(*lengths, last))
    assert f"length up to {model.training_.learner.reach_:.3g}" in model.online_certificate().notes[1]


def test_ridge_is_exact() -> None:
    model, seen = run(RidgeFTRL(1.0, target="cost", center=False))
    tables = np.concatenate([np.sqrt(part[4]) * part[0] for part in seen.parts])
    costs = np.concatenate([np.sqrt(part[4]) * part[1] for part in seen.parts])
    weights = np.linalg.lstsq(tables, -costs)[0]
    learner, best = model.training_.learner, seen.loss("squared", weights)[0]
    assert model.online_certificate().surrogate_regret == pytest.approx(learner.surrogate_loss() - best, rel=1e-5)
    assert "exact" in model.online_certificate().notes[1]


def test_softmax_is_solved_on_what_it_keeps() -> None:
    model, seen = run(SoftmaxLeader(), batch_size=7)
    best = minimize(seen.softmax, np.zeros(3), method="BFGS", options={"gtol": 1e-8}).fun
    learner = model.training_.learner
    assert learner.best_surrogate_loss() == pytest.approx(best, rel=1e-3)
    assert learner.best_surrogate_loss() <= best + 1e-9
    assert model.online_certificate().surrogate_regret > 0
    again, _ = run(SoftmaxLeader(), batch_size=7, keep="mixture")
    in_use = [np.zeros(3), *(policy.weights for policy in again.policy_.policies[::7])]  # the first has not learned
    used = 0.0
    for number, part in enumerate(seen.parts):  # two positions a round
        one = Seen()
        one.parts = [part]
        used += one.softmax(in_use[number // 2])
    assert learner.surrogate_loss() == pytest.approx(used)


def test_each_position_of_conseqopt_has_its_own_best() -> None:
    model = lw.ConSeqOpt(2, learner=GradientDescent(), features=Candidate(), n_passes=1, random_state=0)
    certificate = model.fit(make_problems(80)).online_certificate()
    parts = model.training_.learner.learners_
    total = sum(part.surrogate_loss() - part.best_surrogate_loss() for part in parts)
    assert len(parts) == 2
    assert certificate.surrogate_regret == pytest.approx(total)
    assert certificate.notes[1].endswith("Each position has its own best.")


def test_an_estimator_says_why_there_is_none() -> None:
    certificate = lw.SCP(2, learner=Ridge(), n_passes=1, random_state=0).fit(make_problems(20)).online_certificate()
    assert certificate.surrogate_regret is None
    assert "not convex" in certificate.notes[1]
    assert "best policy in hindsight" not in str(certificate)


def test_a_learner_of_ones_own_that_counts_nothing_says_so() -> None:
    class Mine(Learner):
        def learn(self, examples: Examples) -> None:
            pass

        def policy(self) -> Any:
            return self.first_policy()

    assert "does not count" in lw.SCP(2, learner=Mine()).fit(make_problems(5)).online_certificate().notes[1]
    assert WeightedMajority().hindsight() == ""


@pytest.mark.parametrize("learner", [RidgeFTRL(), GradientDescent("hinge_rank"), SoftmaxLeader(), Aggregate(Ridge())])
@pytest.mark.parametrize("slim", [False, True])
def test_a_certificate_stays_the_same_in_a_file(learner: Learner, slim: bool, tmp_path: Any) -> None:
    model = lw.SCP(2, learner=learner, features=Candidate(), n_passes=1, random_state=0).fit(make_problems(20))
    model.save(tmp_path / "model", slim=slim)
    assert lw.load(tmp_path / "model").online_certificate() == model.online_certificate()


def test_the_split_of_the_regret_adds_up_for_every_convex_learner() -> None:
    for learner in (GradientDescent("hinge_rank"), RidgeFTRL(), SoftmaxLeader()):
        certificate = run(learner)[0].online_certificate()
        split = certificate.surrogate_regret / certificate.rounds + certificate.surrogate_gap
        assert split == pytest.approx(certificate.regret_bound_used)
