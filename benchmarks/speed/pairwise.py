"""A fit with the full pairwise hinge, 30 states x 300 candidates x 60 features."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

import listwright as lw
from benchmarks.speed.timing import Record, compare, must
from listwright.learners.losses import hinge_rank

STATES, ROWS, D, C = 30, 300, 60, 1e-3
OFFSETS = np.arange(STATES + 1) * ROWS


def data() -> tuple[Any, Any]:
    """Features, and costs on ten levels."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(STATES * ROWS, D))
    costs = table @ rng.normal(size=D) / np.sqrt(D) + rng.normal(size=STATES * ROWS)
    return table, np.clip(np.floor(2 * (costs - costs.min())), 0, 9) / 9


def objective(weights: Any, table: Any, costs: Any) -> float:
    """|h|^2 / 2 + C * sum over pairs of (difference in cost) * hinge."""
    return 0.5 * float(weights @ weights) + C * float(hinge_rank(table @ weights, costs, OFFSETS)[0].sum())


def problems_of(table: Any, costs: Any) -> lw.Problems:
    """One pick per state, which gains what it does not cost."""
    reward = lw.rewards.AnySuccess((1.0 - costs).reshape(STATES, ROWS))
    return lw.Problems.from_arrays(table.reshape(STATES, ROWS, D), reward=reward)


def ours(problems: lw.Problems) -> Any:
    """A whole fit: all pairs count, and none is listed."""
    model = lw.SCP(
        1, features=lw.features.Candidate(standardize=False), learner=lw.learners.HingeLeader(1 / C), n_passes=1
    )
    return model.fit(problems).policy_.weights


def peer(table: Any, costs: Any) -> Any:
    """LinearSVC on the differences of all pairs with different costs, both ways round in turn."""
    parts, weights = [], []
    for start in OFFSETS[:-1]:
        a, b = np.triu_indices(ROWS, 1)
        gap = costs[start + b] - costs[start + a]
        a, b, gap = a[gap != 0], b[gap != 0], gap[gap != 0]
        parts.append((table[start + a] - table[start + b]) * np.sign(gap)[:, None])
        weights.append(np.abs(gap))
    pairs, weight = np.concatenate(parts), np.concatenate(weights)
    sign = np.where(np.arange(len(pairs)) % 2, 1.0, -1.0)
    model = LinearSVC(C=C, loss="hinge", fit_intercept=False, max_iter=1000, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(pairs * sign[:, None], sign, sample_weight=weight).coef_[0]


def records() -> list[Record]:
    """One line."""
    table, costs = data()
    problems = problems_of(table, costs)
    mine, theirs = (objective(weights, table, costs) for weights in (ours(problems), peer(table, costs)))
    must(mine <= theirs * (1 + 1e-6), f"pairwise hinge, {mine} against {theirs}")
    return [
        compare(
            "SCP fit with the full pairwise hinge, 30 x 300 x 60",
            "scikit-learn LinearSVC on explicit pairs",
            ours=lambda: ours(problems),
            theirs=lambda: peer(table, costs),
            at_least=50,
            repeats=3,
        )
    ]
