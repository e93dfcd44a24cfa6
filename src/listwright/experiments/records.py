"""What experiments return: plain records, ready for JSON and for charts.

A record is one point of one curve. `records_of` makes them from an array of failures; `point` finds one again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

import numpy as np

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.evaluation.intervals import SHARES, Bounds, estimate

FAILURE = "failure"
EXCESS = "excess_over_scp"  # how much more often a method fails than SCP does on the same problems
PAIRED_WITH = "SCP"


class Record(TypedDict):
    """One point of one curve: a mean, and its 95 % interval where there is one.

    Attributes
    ----------
    experiment, method : str
        Names.
    n_train : int
        Number of training problems.
    length : int
        Length of the lists, or their budget.
    metric : str
        What was measured, for example "failure".
    mean : float
        The mean over cases.
    low, high : float or None
        The 95 % interval of the mean; None where there are too few cases.
    """

    experiment: str
    method: str
    n_train: int
    length: int
    metric: str
    mean: float
    low: float | None
    high: float | None


def record(
    experiment: str,
    method: str,
    *,
    n_train: int,
    length: int,
    metric: str,
    values: Floats,
    bounds: Bounds | None = None,
) -> Record:
    """Return the mean of some values with its interval, rounded to six digits."""
    found = estimate(values, bounds=bounds)
    assert found is not None
    return Record(
        experiment=experiment,
        method=method,
        n_train=n_train,
        length=length,
        metric=metric,
        mean=round(found.mean, 6),
        low=None if found.low is None else round(found.low, 6),
        high=None if found.high is None else round(found.high, 6),
    )


def records_of(
    experiment: str, methods: Sequence[str], n_train: int, lengths: Sequence[int], failures: Floats
) -> list[Record]:
    """Failure of each method, and how much more often it fails than SCP."""

    def of(metric: str, rows: Sequence[str], values: Floats, bounds: Bounds | None) -> list[Record]:
        return [
            record(experiment, name, n_train=n_train, length=length, metric=metric, values=cases, bounds=bounds)
            for name, by_length in zip(rows, values, strict=True)
            for length, cases in zip(lengths, by_length, strict=True)
        ]

    found = of(FAILURE, methods, failures, SHARES)
    if PAIRED_WITH not in methods:
        return found
    own = methods.index(PAIRED_WITH)
    others = [name for name in methods if name != PAIRED_WITH]
    return found + of(EXCESS, others, np.delete(failures - failures[own], own, axis=0), None)


def point(records: Iterable[Record], method: str, *, n_train: int, length: int, metric: str = FAILURE) -> Record:
    """Return the record of one method, training size, length and metric; raise `InputError` if there is none."""
    wanted = (method, n_train, length, metric)
    for one in records:
        if (one["method"], one["n_train"], one["length"], one["metric"]) == wanted:
            return one
    raise InputError(f"There is no record of {method!r} with n_train={n_train}, length={length}, metric={metric!r}.")


def methods_of(records: Iterable[Record]) -> list[str]:
    """Return the methods in the order in which they first occur."""
    return list(dict.fromkeys(record["method"] for record in records))
