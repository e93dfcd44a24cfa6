"""All metrics of some lists, with confidence intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from narwhals.typing import IntoFrame
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, RandomState, as_generator
from listwright._internal.threads import one_thread
from listwright.engines.base import Build, StreamedLists
from listwright.errors import InputError
from listwright.evaluation.intervals import SHARES, Bounds, Estimate, estimate
from listwright.evaluation.metrics import alpha_ndcg, err_ia, has_topics, intra_list_distance, subtopic_recall
from listwright.evaluation.values import cumulative_values, failures, measure_lists
from listwright.frames.frame import is_frame
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.tables import Scan
from listwright.walk.constraints import check_problems


class Metric(NamedTuple):
    name: str
    meaning: str
    bounds: Bounds | None = SHARES


METRICS = {
    "value": Metric("value", "what a list is worth"),
    "failure": Metric("failure", "share of lists that are worth nothing"),
    "alpha_ndcg": Metric("alpha-nDCG", "new topics early in the list, as a share of what is possible"),
    "err_ia": Metric("ERR-IA", "how early a reader finds what they look for: 1 if always at the first item"),
    "subtopic_recall": Metric("subtopic recall", "share of topics that the list covers"),
    "intra_list_distance": Metric(
        "intra-list distance", "how different the items of a list are: 1 - cosine similarity", (0.0, 2.0)
    ),
}


@dataclass(frozen=True)
class Evaluation:
    """Metrics of some lists: means over problems with 95 % confidence intervals. Made by `evaluate`.

    Printing it gives a table with the meaning of each metric. Use `per_problem` to compare two methods problem by
    problem, or `compare`, which does so.

    Attributes
    ----------
    metrics : dict of str to Estimate
        By name: "value", "failure" and those that apply of "alpha_ndcg", "err_ia", "subtopic_recall" and
        "intra_list_distance".
    by_position : tuple of Estimate
        The value of the first 1, 2, ... items.
    lists : Lists or None
        The lists that were measured; None if they came from a scan.
    per_problem : dict of str to ndarray of float
        The metrics problem by problem.

    See Also
    --------
    compare : Several methods on the same splits.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays(
    ...     np.zeros((2, 2, 0)), context=[[0.0], [1.0]], reward=lw.rewards.AnySuccess(np.eye(2))
    ... )
    >>> evaluation = evaluate(lw.greedy(problems, length=1), problems)
    >>> evaluation.n_problems, evaluation.metrics["value"].mean
    (2, 1.0)
    """

    metrics: dict[str, Estimate]
    by_position: tuple[Estimate, ...]
    lists: Lists | None = field(repr=False)
    per_problem: dict[str, Floats] = field(repr=False)

    @property
    def n_problems(self) -> int:
        """Number of lists that were measured."""
        return len(self.per_problem["value"])

    def to_dict(self) -> dict[str, Any]:
        """Return all estimates as plain numbers, for JSON."""
        return {
            "n_problems": self.n_problems,
            "metrics": {name: asdict(mean) for name, mean in self.metrics.items()},
            "value_by_position": [asdict(mean) for mean in self.by_position],
        }

    def __str__(self) -> str:
        rows = [(METRICS[name].name, str(mean), METRICS[name].meaning) for name, mean in self.metrics.items()]
        rows += [(f"value of the first {i}", str(mean), "") for i, mean in enumerate(self.by_position, start=1)]
        first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
        lines = [f"{name:<{first}}  {numbers:<{second}}  {meaning}".rstrip() for name, numbers, meaning in rows]
        many = f"{self.n_problems:,} problem" + ("" if self.n_problems == 1 else "s")
        return "\n".join([f"{many}: mean (95 % interval)", *lines])


def evaluate(
    model_or_lists: Any,
    problems: Problems | Scan | IntoFrame,
    *,
    length: int | None = None,
    budget: ArrayLike | None = None,
    interval: str = "normal",
    random_state: RandomState = 0,
) -> Evaluation:
    """Measure what lists are worth and how diverse they are, on problems with a reward.

    The metrics: value; failure (the share of lists that are worth nothing; where items succeed with a probability, the
    expected share); alpha-nDCG, ERR-IA and subtopic recall if the reward has topics; and intra-list distance if there
    are vectors or features. To compare methods use `compare`, which also handles the splits.

    Parameters
    ----------
    model_or_lists : estimator or Lists
        A fitted model, whose lists are built first, or lists for the same problems. The model does not see the reward.
    problems : Problems, Scan or frame
        Problems with a reward. A frame is read by the columns that the model was fitted with. A scan is measured block
        by block, and only a few numbers per problem are kept.
    length : int, optional
        Length of the lists to build; by default that of the model.
    budget : float or array-like, optional
        Budget of the lists to build; by default that of the model.
    interval : {"normal", "bootstrap"}, default "normal"
        How the 95 % intervals are computed; see `estimate`.
    random_state : int, numpy.random.Generator or None, default 0
        Draws the resamples of the bootstrap.

    Returns
    -------
    Evaluation
        The estimates; print it for a table. `evaluation.metrics["value"].mean` is the mean value of the lists.

    Raises
    ------
    InputError
        If the problems have no reward, or if the lists are for other problems.

    See Also
    --------
    compare : Fits and evaluates several methods on the same splits.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = lw.rewards.Coverage([[[1, 0], [0, 1], [1, 1]]] * 4)
    >>> problems = lw.Problems.from_arrays(np.eye(12).reshape(4, 3, 12), reward=reward)
    >>> print(evaluate(lw.greedy(problems, length=1), problems))
    4 problems: mean (95 % interval)
    value                 1.000 (0.510 to 1.000)  what a list is worth
    failure               0.000 (0.000 to 0.490)  share of lists that are worth nothing
    alpha-nDCG            1.000 (0.510 to 1.000)  new topics early in the list, as a share of what is possible
    ERR-IA                1.000 (0.510 to 1.000)  how early a reader finds what they look for: ...
    subtopic recall       1.000 (0.510 to 1.000)  share of topics that the list covers
    value of the first 1  1.000 (0.510 to 1.000)
    """
    rng = as_generator(random_state)
    given: Any = problems
    if is_frame(given):
        if not hasattr(model_or_lists, "_as_problems"):
            raise InputError("A frame goes with a model that was fitted on one. Read it with Problems.from_frame.")
        given = model_or_lists._as_problems(given, measured=True)
    if isinstance(given, Scan):
        streamed = _streamed_lists(model_or_lists, given, length, budget)
        return _evaluation(_measure_scan(streamed, given), None, interval, rng)
    check_problems(given)
    reward_of(given, "evaluate")
    lists = measure_lists(_lists(model_or_lists, given, length, budget), given)
    return _evaluation(measurements(lists, given), lists, interval, rng)


def _evaluation(measured: Measurements, lists: Lists | None, interval: str, rng: np.random.Generator) -> Evaluation:
    worth = SHARES if measured.bounded else None
    metrics = {}
    for name, values in measured.metrics.items():
        bounds = worth if name == "value" else METRICS[name].bounds
        if (mean := estimate(values, interval=interval, bounds=bounds, rng=rng)) is not None:
            metrics[name] = mean
    positions = [estimate(values, interval=interval, bounds=worth, rng=rng) for values in measured.cumulative_values.T]
    return Evaluation(metrics, tuple(mean for mean in positions if mean is not None), lists, measured.metrics)


def _lists(model_or_lists: Any, problems: Problems, length: int | None, budget: ArrayLike | None) -> Lists:
    if isinstance(model_or_lists, Lists):
        if length is not None or budget is not None:
            raise InputError("length and budget are for a model's lists. These lists are built already.")
        return model_or_lists
    if not hasattr(model_or_lists, "predict"):
        raise InputError(f"evaluate takes a fitted model, or lists. Got {type(model_or_lists).__name__}.")
    lists = model_or_lists.predict(problems.without_reward(), length=length, budget=budget)
    assert isinstance(lists, Lists)
    return lists


class Measurements(NamedTuple):
    metrics: dict[str, Floats]  # by name, one number per problem
    cumulative_values: Floats  # the value of each list up to each position
    bounded: bool  # whether values are shares of 1


def measurements(lists: Lists, problems: Problems) -> Measurements:
    """Return all metrics that apply to these problems, for lists that are already measured."""
    values, reward = lists.values, reward_of(problems)
    assert values is not None
    metrics = {"value": values, "failure": failures(values, reward)}
    if has_topics(problems):
        metrics["alpha_ndcg"] = alpha_ndcg(lists, problems)
        metrics["err_ia"] = err_ia(lists, problems)
        metrics["subtopic_recall"] = subtopic_recall(lists, problems)
    if problems.vectors is not None or problems.n_features:
        metrics["intra_list_distance"] = intra_list_distance(lists, problems)
    return Measurements(metrics, cumulative_values(lists), reward.bounded)


@dataclass(frozen=True)
class Measure:
    """A task for an engine: builds and measures the lists of a shard."""

    build: Build

    def __call__(self, blocks: Iterator[Problems], shard: int) -> Measurements:
        rng = np.random.default_rng([self.build.seed, shard])
        lists = ((measure_lists(self.build.lists(block.without_reward(), rng), block), block) for block in blocks)
        return _join([measurements(measured, block) for measured, block in lists])


def _measure_scan(lists: StreamedLists, scan: Scan) -> Measurements:
    if scan.reward is None:
        raise InputError("evaluate needs a reward, but this scan has none. Pass reward to scan.")
    with one_thread(), lists.engine.pool(scan) as crew:
        return _join(list(crew.each(Measure(lists.build), [shard.number for shard in scan.shards])))


def _streamed_lists(model_or_lists: Any, scan: Scan, length: int | None, budget: ArrayLike | None) -> StreamedLists:
    if isinstance(model_or_lists, Lists):
        raise InputError("These lists are for problems in memory. Pass the model, or what it predicts for the scan.")
    if isinstance(model_or_lists, StreamedLists):
        return model_or_lists
    lists = model_or_lists.predict(scan, length=length, budget=budget)
    assert isinstance(lists, StreamedLists)
    return lists


def _join(parts: list[Measurements]) -> Measurements:
    """Join measurements; the values of shorter lists stay constant after their end."""
    width = max(part.cumulative_values.shape[1] for part in parts)
    wide = [
        np.pad(part.cumulative_values, ((0, 0), (0, width - part.cumulative_values.shape[1])), mode="edge")
        for part in parts
    ]
    shared = [name for name in parts[0].metrics if all(name in part.metrics for part in parts)]
    metrics = {name: np.concatenate([part.metrics[name] for part in parts]) for name in shared}
    return Measurements(metrics, np.concatenate(wide), all(part.bounded for part in parts))
