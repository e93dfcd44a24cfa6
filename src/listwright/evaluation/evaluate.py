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


class Metric(NamedTuple):
    name: str
    meaning: str
    bounds: Bounds | None = SHARES


METRICS = {
    "value": Metric("value", "what a list is worth"),
    "failure": Metric("failure", "share of lists that earn nothing"),
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
            "metrics": {name: asdict(one) for name, one in self.metrics.items()},
            "value_by_position": [asdict(one) for one in self.by_position],
        }

    def __str__(self) -> str:
        rows = [(METRICS[name].name, str(one), METRICS[name].meaning) for name, one in self.metrics.items()]
        rows += [(f"value of the first {i}", str(one), "") for i, one in enumerate(self.by_position, start=1)]
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

    The metrics: value; failure (the share of lists that earn nothing; where items succeed with a probability, the
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
    failure               0.000 (0.000 to 0.490)  share of lists that earn nothing
    alpha-nDCG            1.000 (0.510 to 1.000)  new topics early in the list, as a share of what is possible
    ERR-IA                1.000 (0.510 to 1.000)  how early a reader finds what they look for: ...
    subtopic recall       1.000 (0.510 to 1.000)  share of topics that the list covers
    value of the first 1  1.000 (0.510 to 1.000)
    """
    rng = as_generator(random_state)
    problems = _problems_for(model_or_lists, problems)
    if isinstance(problems, Scan):
        lists = streamed_lists_of(model_or_lists, problems, length, budget)
        return _evaluation(measure_scan(lists, problems), None, interval, rng)
    reward_of(problems, "evaluate")
    found = measure_lists(_lists(model_or_lists, problems, length, budget), problems)
    return _evaluation(measurements(found, problems), found, interval, rng)


def _problems_for(model_or_lists: Any, given: Any) -> Problems | Scan:
    if is_frame(given):
        if not hasattr(model_or_lists, "_as_problems"):
            raise InputError("A frame goes with a model that was fitted on one. Read it with Problems.from_frame.")
        given = model_or_lists._as_problems(given, measured=True)
    problems: Problems | Scan = given
    return problems


def _evaluation(found: Measurements, lists: Lists | None, interval: str, rng: np.random.Generator) -> Evaluation:
    worth = SHARES if found.bounded else None
    bounds = {name: metric.bounds for name, metric in METRICS.items()} | {"value": worth}
    metrics = {
        name: estimate(values, interval=interval, bounds=bounds[name], rng=rng)
        for name, values in found.metrics.items()
    }
    positions = [estimate(values, interval=interval, bounds=worth, rng=rng) for values in found.earned.T]
    return Evaluation(
        {name: one for name, one in metrics.items() if one is not None},
        tuple(one for one in positions if one is not None),
        lists,
        found.metrics,
    )


def _lists(model_or_lists: Any, problems: Problems, length: int | None, budget: ArrayLike | None) -> Lists:
    if isinstance(model_or_lists, Lists):
        if length is not None or budget is not None:
            raise InputError("length and budget are for a model's lists. These lists are built already.")
        return model_or_lists
    if not hasattr(model_or_lists, "predict"):
        raise InputError(f"evaluate takes a fitted model, or lists. Got {type(model_or_lists).__name__}.")
    found = model_or_lists.predict(problems.without_reward(), length=length, budget=budget)
    assert isinstance(found, Lists)
    return found


def per_problem(lists: Lists, problems: Problems) -> dict[str, Floats]:
    values = lists.values
    assert values is not None
    found = {"value": values, "failure": failures(values, reward_of(problems))}
    if has_topics(problems):
        found["alpha_ndcg"] = alpha_ndcg(lists, problems)
        found["err_ia"] = err_ia(lists, problems)
        found["subtopic_recall"] = subtopic_recall(lists, problems)
    if problems.vectors is not None or problems.n_features:
        found["intra_list_distance"] = intra_list_distance(lists, problems)
    return found


class Measurements(NamedTuple):
    metrics: dict[str, Floats]  # by name, one number per problem
    earned: Floats  # the value of each list up to each position
    bounded: bool  # whether values are shares of 1


def measurements(lists: Lists, problems: Problems) -> Measurements:
    return Measurements(per_problem(lists, problems), cumulative_values(lists), reward_of(problems).bounded)


@dataclass(frozen=True)
class Measure:
    """A task for an engine: builds and measures the lists of a shard."""

    build: Build

    def __call__(self, blocks: Iterator[Problems], shard: int) -> Measurements:
        rng = np.random.default_rng([self.build.seed, shard])
        lists = ((measure_lists(self.build.lists(block.without_reward(), rng), block), block) for block in blocks)
        return _join([measurements(one, block) for one, block in lists])


def measure_scan(lists: StreamedLists, scan: Scan) -> Measurements:
    if scan.reward is None:
        raise InputError("evaluate needs a reward, but this scan has none. Pass reward to scan.")
    with one_thread(), lists.engine.pool(scan) as crew:
        return _join(list(crew.each(Measure(lists.build), [shard.number for shard in scan.shards])))


def streamed_lists_of(model_or_lists: Any, scan: Scan, length: int | None, budget: ArrayLike | None) -> StreamedLists:
    if isinstance(model_or_lists, Lists):
        raise InputError("These lists are for problems in memory. Pass the model, or what it predicts for the scan.")
    found = model_or_lists
    if not isinstance(found, StreamedLists):
        found = model_or_lists.predict(scan, length=length, budget=budget)
    assert isinstance(found, StreamedLists)
    return found


def _join(parts: list[Measurements]) -> Measurements:
    """Join measurements; the earnings of shorter lists stay constant after their end."""
    width = max(part.earned.shape[1] for part in parts)
    wide = [np.pad(part.earned, ((0, 0), (0, width - part.earned.shape[1])), mode="edge") for part in parts]
    shared = [name for name in parts[0].metrics if all(name in part.metrics for part in parts)]
    metrics = {name: np.concatenate([part.metrics[name] for part in parts]) for name in shared}
    return Measurements(metrics, np.concatenate(wide), all(part.bounded for part in parts))
