"""The methods that are compared, by the name that results have them under."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import listwright as lw
from listwright.baselines import ForestCover, NearestCover, StaticList, TopK
from listwright.lab.datasets import TrainTest

# Problems of one catalogue, such as a portfolio of solvers: a model for each item, or a kernel over past states.
METHODS: dict[str, Any] = {
    "SCP best": lw.SCP(effort="best"),
    "SCP fast": lw.SCP(),
    "ConSeqOpt": lw.ConSeqOpt(),
    "static": StaticList(),
    "ridge top-k": TopK("ridge"),
    "kNN cover": NearestCover(),
    "forest cover": ForestCover(),
    "extra-trees top-k": TopK("extra_trees"),
    "boosting top-k": TopK("boosting"),
}


def rows(name: str, part: str, comparison: lw.Comparison) -> list[dict[str, Any]]:
    """The values of a comparison, as rows of a job."""
    values = comparison.values
    columns = ("method", "train_size", "seed", "length", "problem", "value")
    return [
        {
            "set": name,
            "part": part,
            "method": str(method),
            "train": str(size),
            "seed": int(seed),
            "at": str(length),
            "problem": str(problem),
            "value": float(value),
        }
        for method, size, seed, length, problem, value in zip(*(values[c].tolist() for c in columns), strict=True)
    ]


def compared(
    name: str,
    part: str,
    method: str,
    split: TrainTest,
    *,
    lengths: Sequence[int],
    sizes: Sequence[float],
    seeds: int = 1,
) -> list[dict[str, Any]]:
    """Fits one method on parts of the training problems and tests its lists."""
    train, test = split
    found = lw.compare({method: METHODS[method]}, train, test=test, lengths=lengths, train_sizes=sizes, seeds=seeds)
    return rows(name, part, found)
