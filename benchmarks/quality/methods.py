"""The methods that are compared, by the name that results have them under."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

import listwright as lw
from benchmarks.quality.rivals import SortedBy, TunedMMR
from listwright.baselines import ForestCover, NearestCover, StaticList, TopK
from listwright.errors import DataWarning
from listwright.evaluation.values import measure_lists

AUTO, FAST = "SCP", "SCP fast"
OWN: dict[str, Any] = {AUTO: lw.SCP(), FAST: lw.SCP(effort="fast")}
OURS = (*OWN, "ConSeqOpt")

# Problems of one catalogue, such as a portfolio of solvers: a model for each item, or a kernel over past states.
OF_CATALOGUES: dict[str, Any] = {
    **OWN,
    "ConSeqOpt": lw.ConSeqOpt(),
    "static": StaticList(),
    "ridge top-k": TopK("ridge"),
    "kNN cover": NearestCover(),
    "forest cover": ForestCover(),
    "extra-trees top-k": TopK("extra_trees"),
    "boosting top-k": TopK("boosting"),
}
# Candidates that are known by their features only.
OF_FEATURES: dict[str, Any] = {
    **OWN,
    "ConSeqOpt": lw.ConSeqOpt(),
    "best column": SortedBy(),
    "MMR": TunedMMR(),
    "ridge top-k": TopK("ridge"),
    "extra-trees top-k": TopK("extra_trees"),
    "boosting top-k": TopK("boosting"),
}


def fitted(method: Any, train: lw.Problems, *, length: int, seed: int) -> Any:
    """A clone for lists of this length, trained."""
    model = clone(method)
    wanted = {"length": length, "random_state": seed, "allow_short": True}
    model.set_params(**{name: value for name, value in wanted.items() if name in model.get_params()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # lists as long as a small portfolio
        return model.fit(train)


def lists_of(model: Any, test: lw.Problems, **limits: Any) -> lw.Lists:
    """A model's lists; only an oracle sees what they are worth."""
    return model.predict(test if getattr(model, "needs_reward", False) else test.without_reward(), **limits)


def measured_rows(
    method: str, model: Any, test: lw.Problems, lengths: Sequence[int], labels: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """One row per test problem and length: what the list up to there is worth."""
    gains = measure_lists(lists_of(model, test, length=max(lengths), allow_short=True), test).picked_gains
    assert gains is not None
    values = np.cumsum(gains, axis=1)
    by_length = {str(length): values[:, min(length, values.shape[1]) - 1] for length in lengths}
    return [row for at, values in by_length.items() for row in rows(method, at, test.problem_ids, values, labels)]


def rows(
    method: str, at: str, problems: Sequence[Any], values: Sequence[float], labels: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Values as rows of a job."""
    pairs = zip(problems, values, strict=True)
    return [dict(labels) | {"method": method, "at": at, "problem": str(p), "value": float(v)} for p, v in pairs]


def part_of(problems: lw.Problems, size: float, seed: int) -> lw.Problems:
    """A share (up to 1.0) or a number of the problems, drawn by the seed; smaller parts are within larger ones."""
    count = len(problems) if size == 1.0 else int(size * len(problems)) if size < 1.0 else int(size)
    order = np.random.default_rng([seed, 1]).permutation(len(problems))
    return problems[np.sort(order[:count])]
