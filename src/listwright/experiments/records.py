"""What experiments share: methods and features of their own, repetitions in processes, records of results, tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any, Self, TypedDict, TypeVar

import numpy as np

from listwright._internal.arrays import Floats, Floats32
from listwright._internal.parameters import Parameters, clone
from listwright._internal.progress import progress_to, report_progress
from listwright._internal.threads import one_thread
from listwright.errors import InputError
from listwright.estimators.scp import SCP
from listwright.evaluation.compare import fold_numbers
from listwright.evaluation.intervals import SHARES, Bounds, estimate
from listwright.evaluation.values import best_of, list_values
from listwright.features import Candidate
from listwright.features.base import StaticFeatures, TableSeen
from listwright.features.scale import Scale
from listwright.learners import RidgeFTRL
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.report import ReportTable
from listwright.report.charts import LineStyle, line_styles
from listwright.text.readers import ReadingNote


class CandidateByContext(StaticFeatures):
    """Every feature of a candidate times every number of the context."""

    group = "relevance in this context"

    def __init__(self, *, standardize: bool = True) -> None:
        self.standardize = standardize

    def fit(self, problems: Problems) -> Self:
        self.scale_ = Scale.of(_products(problems), standardize=self.standardize)
        return self

    def start(self, problems: Problems) -> TableSeen:
        return TableSeen(problems, self.scale_.apply(_products(problems)))


def _products(problems: Problems) -> Floats32:
    if problems.context is None:
        raise InputError("Features are to be crossed with the context, but these problems have none.")
    products = problems.features[:, :, None] * problems.context[problems.owners][:, None, :]
    return np.ascontiguousarray(products.reshape(problems.n_rows, -1), dtype=np.float32)


FOLDS = 3


class Regression(Parameters):
    """Ridge regression of success on a candidate's own features, sorted: a rival that looks at relevance only."""

    def __init__(self, length: int = 5, *, features: Any = None, penalty: float = 1.0) -> None:
        self.length = length
        self.features = features
        self.penalty = penalty

    def fit(self, problems: Problems) -> Self:
        features, learner = Candidate() if self.features is None else self.features, RidgeFTRL(self.penalty)
        model = SCP(1, features=features, learner=learner, effort="fast", allow_short=True, random_state=0)
        self.model_ = model.fit(problems)
        return self

    def predict(self, problems: Problems, *, length: int | None = None, **limits: Any) -> Lists:
        return self.model_.predict(problems, length=self.length if length is None else length, **limits)


class Tuned(Parameters):
    """The one of several methods whose lists are worth most on problems that it was not fitted to."""

    def __init__(
        self,
        options: Mapping[str, Any],
        *,
        length: int = 5,
        budget: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.options = options
        self.length = length
        self.budget = budget
        self.random_state = random_state

    def fit(self, problems: Problems) -> Self:
        self.name_, *others = names = list(self.options)
        if others and len(problems) >= FOLDS:
            self.name_ = best_of(names, lambda name: self._worth(name, problems))
        self.method_ = self._fit_option(self.name_, problems)
        return self

    def predict(self, problems: Problems, **limits: Any) -> Lists:
        lists: Lists = self.method_.predict(problems, **(limits or self._limits()))
        return lists

    def _worth(self, name: str, problems: Problems) -> Floats:
        """Return the values of one option's lists on held-out problems: three folds joined."""
        fold = fold_numbers(FOLDS, len(problems), seed=0)
        values = []
        for held in range(FOLDS):
            model, test = self._fit_option(name, problems[fold != held]), problems[fold == held]
            lists = model.predict(test.without_reward(), allow_short=True, **self._limits())
            values.append(list_values(lists, test))
        return np.concatenate(values)

    def _fit_option(self, name: str, problems: Problems) -> Any:
        method = clone(self.options[name])
        known, wanted = method.get_params(), {**self._limits(), "random_state": self.random_state}
        return method.set_params(**{key: value for key, value in wanted.items() if key in known}).fit(problems)

    def _limits(self) -> dict[str, Any]:
        return {"length": self.length} if self.budget is None else {"budget": self.budget}


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
    interval = estimate(values, bounds=bounds)
    assert interval is not None
    low, high = (None if bound is None else round(bound, 6) for bound in (interval.low, interval.high))
    return {
        "experiment": experiment,
        "method": method,
        "n_train": n_train,
        "length": length,
        "metric": metric,
        "mean": round(interval.mean, 6),
        "low": low,
        "high": high,
    }


def records_of(
    experiment: str, methods: Sequence[str], n_train: int, lengths: Sequence[int], failures: Floats
) -> list[Record]:
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
    wanted = (method, n_train, length, metric)
    for record in records:
        if (record["method"], record["n_train"], record["length"], record["metric"]) == wanted:
            return record
    raise InputError(f"There is no record of {method!r} with n_train={n_train}, length={length}, metric={metric!r}.")


def methods_of(records: Iterable[Record]) -> list[str]:
    return list(dict.fromkeys(record["method"] for record in records))


REFERENCES = ("Random", "Oracle")  # no rivals: what no knowledge and all knowledge give
DRAWN = ("SCP", "ConSeqOpt", "Regression", "Static list", "SCP, paper's features", "Random", "Oracle")


def chart_records(records: Sequence[Record]) -> tuple[list[Record], dict[str, LineStyle]]:
    # Random lists, and an oracle that never fails, are left out, as they would squeeze the other curves together.
    known = line_styles(DRAWN, dashed=REFERENCES)
    failing = [record for record in records if record["metric"] == FAILURE]
    perfect = not any(record["mean"] for record in failing if record["method"] == "Oracle")
    hidden = REFERENCES if perfect else ("Random",)
    kept = [record for record in failing if record["method"] in known and record["method"] not in hidden]
    present = methods_of(kept)
    return kept, {name: known[name] for name in known if name in present}


def point_table(
    records: Sequence[Record],
    methods: Sequence[str],
    columns: Mapping[str, Mapping[str, Any]],
    *,
    cell: Callable[[Record], str],
    caption: str = "",
    first: str = "method",
    bold: Sequence[str] = (),
) -> ReportTable:
    """Return a table with a row per method, some in bold, and by name a column per point: what `point` takes of it."""
    rows = [[name, *(cell(point(records, name, **at)) for at in columns.values())] for name in methods]
    emphasis = [index for index, name in enumerate(methods) if name in bold]
    return ReportTable([first, *columns], rows, caption, emphasis)


def failure_table(records: Sequence[Record], methods: Sequence[str], *, n_train: int, caption: str) -> ReportTable:
    columns = {str(length): {"n_train": n_train, "length": length} for length in lengths_of(records)}
    return point_table(records, methods, columns, cell=mean_of, caption=caption, bold=ours(methods))


def excess_table(
    records: Sequence[Record], methods: Sequence[str], *, n_train: int, lengths: Sequence[int], caption: str
) -> ReportTable:
    rivals = [method for method in methods if method not in (*REFERENCES, PAIRED_WITH)]
    at = {"n_train": n_train, "metric": EXCESS}
    columns = {f"length {length}": at | {"length": length} for length in lengths}
    return point_table(records, rivals, columns, cell=points, caption=caption)


def describe_failures(records: Sequence[Record], methods: Sequence[str], *, n_train: int, length: int) -> str:
    rivals = [method for method in methods if method not in REFERENCES]
    failures = {name: point(records, name, n_train=n_train, length=length)["mean"] for name in rivals}
    return ", ".join(f"{name} {per_cent(failures[name])}%" for name in sorted(rivals, key=failures.__getitem__))


def ours(methods: Iterable[str]) -> list[str]:
    return [name for name in methods if name.startswith("SCP")]


def mean_of(record: Record) -> str:
    return per_cent(record["mean"])


def lengths_of(records: Sequence[Record]) -> list[int]:
    return sorted({record["length"] for record in records if record["metric"] == FAILURE})


def per_cent(share: float) -> str:
    return f"{100 * share:.1f}"


def points(record: Record, sign: str = "+") -> str:
    """Return a difference in percentage points, with half the width of its interval where there is one."""
    mean = f"{100 * record['mean']:{sign}.1f}"
    if record["low"] is None or record["high"] is None:
        return mean
    return f"{mean} ± {50 * (record['high'] - record['low']):.1f}"
