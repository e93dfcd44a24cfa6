"""What experiments share: repetitions in processes, records of results, and tables of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any, TypedDict, TypeVar

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.progress import progress_to, report_progress
from listwright._internal.threads import one_thread
from listwright.errors import InputError
from listwright.evaluation.intervals import SHARES, Bounds, estimate
from listwright.report import ReportTable
from listwright.report.charts import LineStyle, line_styles
from listwright.text.readers import ReadingNote

Result = TypeVar("Result")


def repeat(work: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], *, jobs: int) -> list[Result]:
    """Call `work(*task)` for every task."""
    if jobs < 1:
        raise InputError(f"jobs must be at least 1. Got {jobs}.")
    results: list[Result] = []
    for result in _stream(work, tasks, jobs):
        results.append(result)
        report_progress("repetitions", len(results), len(tasks))
    return results


def _stream(work: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], jobs: int) -> Iterator[Result]:
    """Yield results in order, from this process or from freshly spawned ones."""
    if jobs == 1:
        for task in tasks:
            with progress_to(False):
                result = work(*task)
            yield result
        return
    # Fresh processes: a fork would copy the locks of threads that it does not copy.
    with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=get_context("spawn")) as pool:
        yield from pool.map(partial(_on_one_thread, work), tasks)


def _on_one_thread(work: Callable[..., Result], task: tuple[Any, ...]) -> Result:
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingNote)  # the main process has read the same files and said so
        return work(*task)


def check_repetitions(seeds: int) -> None:
    """Raise unless there is at least one repetition."""
    if seeds < 1:
        raise InputError(f"seeds must be at least 1. Got {seeds}.")


FAILURE = "failure"
EXCESS = "excess_over_scp"  # how much more often a method fails than SCP does on the same problems
PAIRED_WITH = "SCP"


class Record(TypedDict):
    """One point of one curve: a mean, and its 95 % interval where there is one."""

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
    interval = estimate(values, bounds=bounds)
    assert interval is not None
    return Record(
        experiment=experiment,
        method=method,
        n_train=n_train,
        length=length,
        metric=metric,
        mean=round(interval.mean, 6),
        low=None if interval.low is None else round(interval.low, 6),
        high=None if interval.high is None else round(interval.high, 6),
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

    records = of(FAILURE, methods, failures, SHARES)
    if PAIRED_WITH not in methods:
        return records
    own = methods.index(PAIRED_WITH)
    others = [name for name in methods if name != PAIRED_WITH]
    return records + of(EXCESS, others, np.delete(failures - failures[own], own, axis=0), None)


def point(records: Iterable[Record], method: str, *, n_train: int, length: int, metric: str = FAILURE) -> Record:
    """Return the record of one method, training size, length and metric; raise `InputError` if there is none."""
    wanted = (method, n_train, length, metric)
    for record in records:
        if (record["method"], record["n_train"], record["length"], record["metric"]) == wanted:
            return record
    raise InputError(f"There is no record of {method!r} with n_train={n_train}, length={length}, metric={metric!r}.")


def methods_of(records: Iterable[Record]) -> list[str]:
    """Return the methods in the order in which they first occur."""
    return list(dict.fromkeys(record["method"] for record in records))


REFERENCES = ("Random", "Oracle")  # no rivals: what no knowledge and all knowledge give
DRAWN = ("SCP", "ConSeqOpt", "Regression", "Static list", "SCP, paper's features", "Random", "Oracle")


def chart_records(records: Sequence[Record]) -> tuple[list[Record], dict[str, LineStyle]]:
    """Return the records that charts show, and how each method is drawn, with the same colour in all charts."""
    # Random lists, and an oracle that never fails, are left out, as they would squeeze the other curves together.
    known = line_styles(DRAWN, dashed=REFERENCES)
    failing = [record for record in records if record["metric"] == FAILURE]
    perfect = not any(record["mean"] for record in failing if record["method"] == "Oracle")
    hidden = REFERENCES if perfect else ("Random",)
    kept = [record for record in failing if record["method"] in known and record["method"] not in hidden]
    present = methods_of(kept)
    return kept, {name: known[name] for name in known if name in present}


def failure_table(records: Sequence[Record], methods: Sequence[str], *, n_train: int, caption: str) -> ReportTable:
    """Return failure in per cent, with one row per method and one column per length; SCP is in bold."""
    lengths = lengths_of(records)
    rows = [
        [method, *(per_cent(point(records, method, n_train=n_train, length=length)["mean"]) for length in lengths)]
        for method in methods
    ]
    emphasis = [index for index, row in enumerate(rows) if row[0].startswith("SCP")]
    return ReportTable(["method", *(str(length) for length in lengths)], rows, caption, emphasis)


def excess_table(
    records: Sequence[Record], methods: Sequence[str], *, n_train: int, lengths: Sequence[int], caption: str
) -> ReportTable:
    """Return how many points more often each method fails than SCP."""
    rows = [
        [method, *(points(point(records, method, n_train=n_train, length=length, metric=EXCESS)) for length in lengths)]
        for method in methods
        if method not in (*REFERENCES, PAIRED_WITH)
    ]
    return ReportTable(["method", *(f"length {length}" for length in lengths)], rows, caption)


def describe_failures(records: Sequence[Record], methods: Sequence[str], *, n_train: int, length: int) -> str:
    """Return methods with their failures in words, best first; references are left out."""
    failures = {
        method: point(records, method, n_train=n_train, length=length)["mean"]
        for method in methods
        if method not in REFERENCES
    }
    return ", ".join(
        f"{name} {per_cent(failures[name])}%" for name in sorted(failures, key=lambda name: failures[name])
    )


def lengths_of(records: Sequence[Record]) -> list[int]:
    """Return the lengths at which failure was measured, in ascending order."""
    return sorted({record["length"] for record in records if record["metric"] == FAILURE})


def per_cent(share: float) -> str:
    return f"{100 * share:.1f}"


def points(record: Record, sign: str = "+") -> str:
    """Return a difference in percentage points, with half the width of its interval where there is one."""
    mean = f"{100 * record['mean']:{sign}.1f}"
    if record["low"] is None or record["high"] is None:
        return mean
    return f"{mean} ± {50 * (record['high'] - record['low']):.1f}"
