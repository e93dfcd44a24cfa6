"""Populations of problems whose true mean values are known, with a learned policy, greedy and two rivals on each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import listwright as lw
from listwright.baselines import Random, TopK
from listwright.estimators.certification import as_certification
from listwright.guarantees.held_out import HeldOutValues

NAMES = (
    "any success, near 1",
    "any success, near 0",
    "coverage",
    "probabilistic coverage",
    "coverage, near 0",
    "concave coverage",
    "alpha coverage",
    "facility location",
    "log det",
    "weighted sum",
    "sums, one problem in 500 worth 400 times as much",
    "coverage within a budget",
)
N_TRAINING, N_POPULATION, ITEMS, LENGTH = 300, 20_000, 12, 3


@dataclass(frozen=True)
class Population:
    """Values of lists on many problems. Samples are drawn with replacement, so their means are the truth."""

    name: str
    measured: HeldOutValues

    def sample(self, rows: np.ndarray) -> HeldOutValues:
        """What was measured on some of the problems."""
        whole = self.measured
        greedy = whole.greedy[rows]
        best = None if whole.best is None else greedy if whole.best is whole.greedy else whole.best[rows]
        rivals = {name: values[rows] for name, values in whole.rivals.items()}
        return replace(whole, values=whole.values[rows], greedy=greedy, rivals=rivals, best=best, keys=None)

    def truth(self) -> dict[str, float]:
        """The true value of each statement that is made."""
        whole = self.measured
        mean = whole.values.mean()
        true = {"value": mean}
        if whole.bounded:
            true |= {"share_of_greedy": mean / whole.greedy.mean()}
            true |= {f"ahead of {name}": mean - values.mean() for name, values in whole.rivals.items()}
        if whole.best is not None and whole.bounded:
            true["share_of_best"] = mean / np.minimum(whole.best, 1.0).mean()  # no list of a bounded reward passes 1
        return true


def populations(only: str | None = None) -> list[Population]:
    """Each kind of reward: 0 or 1 that nearly always and hardly ever succeeds, graded and unbounded; and a budget."""
    rng = np.random.default_rng(0)
    features = rng.random((N_TRAINING + N_POPULATION, ITEMS, 4)).astype(np.float32)
    relevance = features[..., 0] * features[..., 1]
    topics = rng.random((*relevance.shape, 6)) < 0.15 + 0.35 * features[..., 2:3]
    chances = np.clip(0.9 * topics * relevance[..., None], 0, 1).reshape(-1, 6)
    rare = topics & (rng.random(topics.shape) < 0.08)
    huge = relevance * np.where(rng.random((len(relevance), 1)) < 0.002, 400.0, 1.0)
    sizes = rng.integers(1, 6, size=relevance.shape).astype(float)
    near = 1 / (1 + 8 * ((features[:, :, None, :2] - features[:, None, :, :2]) ** 2).sum(axis=3))
    graded = lw.rewards.ProbabilisticCoverage(chances)
    rewards = {
        "any success, near 1": lw.rewards.AnySuccess(relevance + 0.5 * rng.random(relevance.shape) > 0.45),
        "any success, near 0": lw.rewards.AnySuccess(relevance + 0.2 * rng.random(relevance.shape) > 1.03),
        "coverage": lw.rewards.Coverage(topics.reshape(-1, 6)),
        "probabilistic coverage": graded,
        "coverage, near 0": lw.rewards.Coverage(rare.reshape(-1, 6)),
        "concave coverage": lw.rewards.ConcaveCoverage(chances),
        "alpha coverage": lw.rewards.AlphaCoverage(topics.reshape(-1, 6)),
        "facility location": lw.rewards.FacilityLocation(near),
        "log det": lw.rewards.LogDet(features.reshape(-1, 4)),
        "weighted sum": lw.rewards.WeightedSum([lw.rewards.Coverage(topics.reshape(-1, 6)), graded], [1.0, 3.0]),
        "sums, one problem in 500 worth 400 times as much": lw.rewards.Total(huge),
    }
    made = {name: (reward, None) for name, reward in rewards.items()}
    made["coverage within a budget"] = rewards["coverage"], sizes
    return [population(name, features, *given) for name, given in made.items() if only in (None, name)]


def population(
    name: str, features: np.ndarray, reward: lw.rewards.Reward, sizes: np.ndarray | None = None
) -> Population:
    """A policy learned on the first problems, and what its lists, greedy's and the rivals' are worth on the others."""
    problems = lw.Problems.from_arrays(features, reward=reward, sizes=sizes)
    training, others = problems[:N_TRAINING], problems[N_TRAINING:]
    limits = {"length": LENGTH} if sizes is None else {"budget": 6.0}
    model = lw.SCP(**limits, effort="fast", random_state=0).fit(training)
    rivals = {"top_k": TopK(length=LENGTH).fit(training), "random": Random(length=LENGTH, random_state=0).fit(training)}
    return Population(name, as_certification(model, rivals).measure(others))
