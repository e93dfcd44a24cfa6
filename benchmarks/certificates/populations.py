"""Populations of problems whose true mean values are known, with a learned policy, greedy and two rivals on each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import listwright as lw
from listwright.baselines import Random, TopK
from listwright.evaluation import list_values

N_TRAINING, N_POPULATION, ITEMS, LENGTH = 300, 20_000, 12, 3


@dataclass(frozen=True)
class Population:
    """Values of lists on many problems. Samples are drawn with replacement, so their means are the truth."""

    name: str
    binary: bool
    budget: float | None
    values: np.ndarray
    greedy: np.ndarray
    rivals: dict[str, np.ndarray]


def populations() -> list[Population]:
    """Rewards of 0 and 1 that nearly always and hardly ever succeed, graded ones, and lists within a budget."""
    rng = np.random.default_rng(0)
    features = rng.random((N_TRAINING + N_POPULATION, ITEMS, 4)).astype(np.float32)
    relevance = features[..., 0] * features[..., 1]
    topics = rng.random((*relevance.shape, 6)) < 0.15 + 0.35 * features[..., 2:3]
    any_success = {
        "any success, near 1": relevance + 0.5 * rng.random(relevance.shape) > 0.45,
        "any success, near 0": relevance + 0.2 * rng.random(relevance.shape) > 1.03,
    }
    found = [population(name, features, lw.rewards.AnySuccess(clicked)) for name, clicked in any_success.items()]
    found.append(population("coverage", features, lw.rewards.Coverage(topics.reshape(-1, 6))))
    chances = np.clip(0.9 * topics * relevance[..., None], 0, 1).reshape(-1, 6)
    found.append(population("probabilistic coverage", features, lw.rewards.ProbabilisticCoverage(chances)))
    rare = topics & (rng.random(topics.shape) < 0.08)
    found.append(population("coverage, near 0", features, lw.rewards.Coverage(rare.reshape(-1, 6))))
    sizes = rng.integers(1, 6, size=relevance.shape).astype(float)
    found.append(population("coverage within a budget", features, lw.rewards.Coverage(topics.reshape(-1, 6)), sizes))
    return found


def population(
    name: str, features: np.ndarray, reward: lw.rewards.Reward, sizes: np.ndarray | None = None
) -> Population:
    """A policy learned on the first problems, and what its lists, greedy's and the rivals' are worth on the others."""
    problems = lw.Problems.from_arrays(features, reward=reward, sizes=sizes)
    training, others = problems[:N_TRAINING], problems[N_TRAINING:]
    limits = {"length": LENGTH} if sizes is None else {"budget": 6.0}
    model = lw.SCP(**limits, effort="fast", random_state=0).fit(training)
    rivals = {"top_k": TopK(length=LENGTH).fit(training), "random": Random(length=LENGTH, random_state=0).fit(training)}
    return Population(
        name,
        isinstance(reward, lw.rewards.AnySuccess),
        limits.get("budget"),
        list_values(model.predict(others), others),
        lw.greedy(others, **limits).values,
        {name: list_values(rival.predict(others, **limits), others) for name, rival in rivals.items()},
    )
