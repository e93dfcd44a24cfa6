"""A small example of every reward, for any law: `EXAMPLES[name](rng, counts)` for problems with `counts` candidates.

Numbers come from a coarse grid, so that ties, zeros and repeated items are common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

import listwright as lw
from listwright.rewards import Reward

Counts = Sequence[int]
Builder = Callable[[np.random.Generator, Counts], Reward]
WORDS = ("river", "rivers", "rose", "rises", "town", "towns", "flooded", "flooding", "the")


def grid(rng: np.random.Generator, *shape: int) -> np.ndarray[Any, Any]:
    """Multiples of a quarter from 0 to 1."""
    return rng.integers(5, size=shape) / 4


def labels(rng: np.random.Generator, *shape: int) -> np.ndarray[Any, Any]:
    return (rng.random(shape) < 0.4).astype(float)


def similarities(rng: np.random.Generator, counts: Counts) -> list[np.ndarray[Any, Any]]:
    return [grid(rng, n, n) - 0.25 for n in counts]


def words(rng: np.random.Generator, shortest: int = 0) -> list[str]:
    return [WORDS[i] for i in rng.integers(len(WORDS), size=rng.integers(shortest, 9))]


def rouge(rng: np.random.Generator, counts: Counts, *, references: int = 1, **options: Any) -> Reward:
    candidates = [words(rng) for _ in range(sum(counts))]
    return lw.rewards.Rouge(candidates, [[words(rng, 3) for _ in range(references)] for _ in counts], **options)


def mixture(rng: np.random.Generator, counts: Counts) -> Reward:
    parts = [lw.rewards.AnySuccess(labels(rng, sum(counts))), lw.rewards.LogDet(grid(rng, sum(counts), 2))]
    return lw.rewards.WeightedSum([*parts, lw.rewards.Function(three_kinds)], [3, 1, 0.5])


def three_kinds(problem: lw.Problems, items: list[int]) -> float:
    return len({item % 3 for item in items}) / 3


EXAMPLES: dict[str, Builder] = {
    "alpha coverage": lambda rng, counts: lw.rewards.AlphaCoverage(labels(rng, sum(counts), 4)),
    "alpha coverage, ideal": lambda rng, counts: lw.rewards.AlphaCoverage(
        labels(rng, sum(counts), 4), 0.25, ideal=np.cumsum(grid(rng, len(counts), 3) + 0.25, axis=1)
    ),
    "any success, labels": lambda rng, counts: lw.rewards.AnySuccess(labels(rng, sum(counts))),
    "any success, probabilities": lambda rng, counts: lw.rewards.AnySuccess(grid(rng, sum(counts))),
    "any success, weighted problems": lambda rng, counts: lw.rewards.WeightedProblems(
        lw.rewards.AnySuccess(labels(rng, sum(counts))), grid(rng, len(counts)) + 0.25
    ),
    "coverage": lambda rng, counts: lw.rewards.Coverage(labels(rng, sum(counts), 6)),
    "coverage, weights": lambda rng, counts: lw.rewards.Coverage(labels(rng, sum(counts), 6), grid(rng, 6)),
    "coverage, sparse": lambda rng, counts: lw.rewards.Coverage(sparse.csr_array(labels(rng, sum(counts), 6))),
    "coverage, sum": lambda rng, counts: lw.rewards.Coverage(labels(rng, sum(counts), 6), normalize=False),
    "probabilistic coverage": lambda rng, counts: lw.rewards.ProbabilisticCoverage(
        grid(rng, sum(counts), 4), grid(rng, len(counts), 4)
    ),
    "concave coverage, sqrt": lambda rng, counts: lw.rewards.ConcaveCoverage(grid(rng, sum(counts), 4)),
    "concave coverage, log": lambda rng, counts: lw.rewards.ConcaveCoverage(
        grid(rng, sum(counts), 4), "log", normalize=False
    ),
    "concave coverage, cap": lambda rng, counts: lw.rewards.ConcaveCoverage(
        sparse.csr_matrix(grid(rng, sum(counts), 4)), "cap", caps=0.6
    ),
    "facility location": lambda rng, counts: lw.rewards.FacilityLocation(similarities(rng, counts)),
    "facility location, sparse": lambda rng, counts: lw.rewards.FacilityLocation(
        sparse.block_diag([sparse.csr_array(block) for block in similarities(rng, counts)], format="csr")
    ),
    "facility location, sum": lambda rng, counts: lw.rewards.FacilityLocation(
        similarities(rng, counts), normalize=False
    ),
    "log det": lambda rng, counts: lw.rewards.LogDet(grid(rng, sum(counts), 3)),
    "log det, sum": lambda rng, counts: lw.rewards.LogDet(grid(rng, sum(counts), 3) - 0.5, scale=4, normalize=False),
    "rouge": rouge,
    "rouge, pairs of stems": lambda rng, counts: rouge(rng, counts, n=2, stem=True),
    "rouge, average reference": lambda rng, counts: rouge(rng, counts, references=3),
    "rouge, best reference": lambda rng, counts: rouge(rng, counts, references=3, best=True),
    "total": lambda rng, counts: lw.rewards.Total(grid(rng, sum(counts))),
    "total, cap": lambda rng, counts: lw.rewards.Total(grid(rng, sum(counts)), cap=1.3),
    "total, share": lambda rng, counts: lw.rewards.Total(grid(rng, sum(counts)), share=True),
    "total, share up to a cap": lambda rng, counts: lw.rewards.Total(grid(rng, sum(counts)), share=True, cap=0.8),
    "mixture": mixture,
    "function": lambda rng, counts: lw.rewards.Function(three_kinds),
}


def example(name: str, counts: Counts, seed: int = 0, **arrays: Any) -> lw.Problems:
    """Problems with `counts` candidates, measured by the example of that name."""
    offsets = np.concatenate([[0], np.cumsum(counts)])
    reward = EXAMPLES[name](np.random.default_rng(seed), counts)
    return lw.Problems.from_arrays(np.zeros((offsets[-1], 1)), offsets=offsets, reward=reward, **arrays)
