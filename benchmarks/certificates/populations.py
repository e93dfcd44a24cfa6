"""Populations of problems whose true mean values are known, with a learned policy, greedy and two rivals on each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import listwright as lw
from listwright.baselines import Random, TopK
from listwright.estimators.certification import as_certification
from listwright.guarantees.held_out import HeldOutValues

N_TRAINING, N_POPULATION, ITEMS, LENGTH = 300, 20_000, 12, 3


@dataclass(frozen=True)
class Population:
    """Values of lists on many problems. Samples are drawn with replacement, so their means are the truth."""

    name: str
    measured: HeldOutValues

    def sample(self, rows: np.ndarray) -> HeldOutValues:
        """What was measured on some of the problems."""
        whole = self.measured
        best = None if whole.best is None else whole.best[rows]
        rivals = {name: values[rows] for name, values in whole.rivals.items()}
        return replace(whole, values=whole.values[rows], greedy=whole.greedy[rows], rivals=rivals, best=best)

    def truth(self) -> dict[str, float]:
        """The true value of each statement that is made."""
        whole = self.measured
        mean = whole.values.mean()
        true = {"value": mean}
        if whole.bounded:
            true |= {"share_of_greedy": mean / whole.greedy.mean()}
            true |= {f"ahead of {name}": mean - values.mean() for name, values in whole.rivals.items()}
        if whole.best is not None and whole.bounded:
            true["share_of_best"] = mean / whole.best.mean()
        return true


def populations() -> list[Population]:
    """Rewards of 0 and 1 that nearly always and hardly ever succeed, graded and unbounded ones, and a budget."""
    rng = np.random.default_rng(0)
    features = rng.random((N_TRAINING + N_POPULATION, ITEMS, 4)).astype(np.float32)
    relevance = features[..., 0] * features[..., 1]
    topics = rng.random((*relevance.shape, 6)) < 0.15 + 0.35 * features[..., 2:3]
    chances = np.clip(0.9 * topics * relevance[..., None], 0, 1).reshape(-1, 6)
    rare = topics & (rng.random(topics.shape) < 0.08)
    huge = relevance * np.where(rng.random((len(relevance), 1)) < 0.002, 400.0, 1.0)
    sizes = rng.integers(1, 6, size=relevance.shape).astype(float)
    rewards = {
        "any success, near 1": lw.rewards.AnySuccess(relevance + 0.5 * rng.random(relevance.shape) > 0.45),
        "any success, near 0": lw.rewards.AnySuccess(relevance + 0.2 * rng.random(relevance.shape) > 1.03),
        "coverage": lw.rewards.Coverage(topics.reshape(-1, 6)),
        "probabilistic coverage": lw.rewards.ProbabilisticCoverage(chances),
        "coverage, near 0": lw.rewards.Coverage(rare.reshape(-1, 6)),
        "sums, one problem in 500 worth 400 times as much": lw.rewards.Total(huge),
    }
    made = [population(name, features, reward) for name, reward in rewards.items()]
    return [*made, population("coverage within a budget", features, rewards["coverage"], sizes)]


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
