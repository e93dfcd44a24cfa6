"""Populations of problems whose true mean values are known, with a learned policy, greedy and two rivals on each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

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
        weights = None if whole.weights is None else whole.weights[rows]
        return replace(whole, values=whole.values[rows], greedy=greedy, rivals=rivals, best=best, weights=weights)

    def weighed(self) -> Population:
        """The same problems, where those whose lists are worth less than the mean weigh four times as much."""
        values = self.measured.values
        weights = np.where(values < values.mean(), 4.0, 1.0)
        return replace(self, measured=replace(self.measured, weights=weights))

    def truth(self) -> dict[str, float]:
        """The true value of each statement that is made."""
        whole = self.measured
        mean = whole.average(whole.values)
        true = {"value": mean}
        if whole.bounded:
            true |= {"share_of_greedy": mean / whole.average(whole.greedy)}
            true |= {f"ahead of {name}": mean - whole.average(values) for name, values in whole.rivals.items()}
        if whole.best is not None and whole.bounded:
            true["share_of_best"] = mean / whole.average(np.minimum(whole.best, 1.0))  # no list is worth more than 1
        return true


@lru_cache(maxsize=1)
def stored(name: str, folder: Path) -> Population:
    """The population of that name, measured if its file is not there."""
    file = folder / f"{name}.npz"
    if not file.exists():
        measured = populations(name)[0].measured
        columns = {f"rival {name}": values for name, values in measured.rivals.items()}
        columns |= {"values": measured.values, "greedy": measured.greedy}
        columns |= {} if measured.best is None or measured.best is measured.greedy else {"best": measured.best}
        says = {"bounded": measured.bounded, "binary": measured.binary, "solved": measured.best is measured.greedy}
        np.savez(file.with_name(f"draft {file.name}"), **columns, **says)
        file.with_name(f"draft {file.name}").replace(file)
    with np.load(file) as kept:
        greedy = kept["greedy"]
        measured = HeldOutValues(
            kept["values"],
            greedy,
            {key.removeprefix("rival "): kept[key] for key in kept if key.startswith("rival ")},
            best=greedy if kept["solved"] else kept.get("best"),
            bounded=bool(kept["bounded"]),
            binary=bool(kept["binary"]),
        )
    return Population(name, measured)


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
