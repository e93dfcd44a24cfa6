"""What experiments hand on: plain records, ready for JSON and for charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats
from listwright.evaluation.intervals import SHARES, Bounds, means, none_if_nan

FAILURE = "failure"
EXCESS = "excess_over_scp"  # how much more a method fails than SCP does in the same repetition
PAIRED_WITH = "SCP"


class Record(TypedDict):
    """One point of one curve: the mean over repetitions, and its 95 % interval where there are at least two."""

    experiment: str
    method: str
    n_train: int
    length: int
    metric: str
    mean: float
    low: float | None
    high: float | None


def interval(values: ArrayLike, *, bounds: Bounds | None = None) -> tuple[float, float | None, float | None]:
    """Mean of repetitions and its 95 % interval, within bounds where there are any.

    >>> [round(number, 3) for number in interval([0.4, 0.5, 0.6])]
    [0.5, 0.252, 0.748]
    >>> interval([0.5])
    (0.5, None, None)
    """
    mean, _, low, high = means(np.asarray(values, dtype=np.float64), bounds=bounds)
    return float(mean), none_if_nan(float(low)), none_if_nan(float(high))


def records_of(experiment: str, methods: Sequence[str], n_train: int, repeated: Floats) -> list[Record]:
    """Failure of each method, and its excess over SCP's, from (repetitions, methods, lengths).

    >>> records = records_of("news", ["SCP", "Random"], 40, np.array([[[0.1], [0.5]], [[0.2], [0.6]]]))
    >>> [(record["method"], record["metric"], record["mean"]) for record in records]
    [('SCP', 'failure', 0.15), ('Random', 'failure', 0.55), ('Random', 'excess_over_scp', 0.4)]
    """
    found = [
        _record(experiment, method, n_train, length, FAILURE, repeated[:, column, length])
        for column, method in enumerate(methods)
        for length in range(repeated.shape[2])
    ]
    if PAIRED_WITH not in methods:
        return found
    excess = repeated - repeated[:, [methods.index(PAIRED_WITH)]]
    return found + [
        _record(experiment, method, n_train, length, EXCESS, excess[:, column, length])
        for column, method in enumerate(methods)
        for length in range(repeated.shape[2])
        if method != PAIRED_WITH
    ]


def _record(experiment: str, method: str, n_train: int, length: int, metric: str, values: Floats) -> Record:
    mean, low, high = interval(values, bounds=SHARES if metric == FAILURE else (-1.0, 1.0))
    return Record(
        experiment=experiment,
        method=method,
        n_train=n_train,
        length=length + 1,
        metric=metric,
        mean=round(mean, 6),
        low=None if low is None else round(low, 6),
        high=None if high is None else round(high, 6),
    )


def point(records: Iterable[Record], method: str, *, n_train: int, length: int, metric: str = FAILURE) -> Record:
    """The record of one point."""
    wanted = (method, n_train, length, metric)
    return next(one for one in records if (one["method"], one["n_train"], one["length"], one["metric"]) == wanted)


def methods_of(records: Iterable[Record]) -> list[str]:
    """The methods in the order they come."""
    return list(dict.fromkeys(record["method"] for record in records))
