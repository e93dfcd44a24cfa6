"""What experiments hand on: plain records, ready for JSON and for charts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from listwright._arrays import Floats


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


def interval(values: ArrayLike) -> tuple[float, float | None, float | None]:
    """Mean of repetitions and its 95 % interval by Student's t, within 0 and 1.

    >>> [round(number, 3) for number in interval([0.1, 0.2, 0.3])]
    [0.2, 0.0, 0.448]
    >>> interval([0.5])
    (0.5, None, None)
    """
    repeated = np.asarray(values, dtype=np.float64)
    mean, count = float(repeated.mean()), len(repeated)
    if count < 2:
        return mean, None, None
    half = float(student.ppf(0.975, count - 1) * repeated.std(ddof=1) / np.sqrt(count))
    return mean, max(0.0, mean - half), min(1.0, mean + half)


def records_by_length(experiment: str, method: str, n_train: int, metric: str, repeated: Floats) -> list[Record]:
    """Records of one method, from (repetitions, lengths): column 0 is lists of one item."""
    found: list[Record] = []
    for index, values in enumerate(np.asarray(repeated).T):
        mean, low, high = (None if number is None else round(number, 6) for number in interval(values))
        assert mean is not None
        found.append(
            Record(
                experiment=experiment,
                method=method,
                n_train=n_train,
                length=index + 1,
                metric=metric,
                mean=mean,
                low=low,
                high=high,
            )
        )
    return found


def mean_of(records: Iterable[Record], method: str, *, n_train: int, length: int) -> float:
    """The mean of one point."""
    wanted = (method, n_train, length)
    return next(one["mean"] for one in records if (one["method"], one["n_train"], one["length"]) == wanted)


def methods_of(records: Iterable[Record]) -> list[str]:
    """The methods in the order they come."""
    return list(dict.fromkeys(record["method"] for record in records))
