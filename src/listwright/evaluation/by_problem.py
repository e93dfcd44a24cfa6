"""Metrics of lists problem by problem: in memory, or over the shards of a scan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats
from listwright._internal.threads import one_thread
from listwright.engines.streamed import StreamedLists
from listwright.engines.tasks import Build
from listwright.errors import InputError
from listwright.evaluation.distance import intra_list_distance
from listwright.evaluation.topics import alpha_ndcg, err_ia, has_topics, subtopic_recall
from listwright.evaluation.values import earned, failures, measured
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.tables import Scan


def per_problem(lists: Lists, problems: Problems) -> dict[str, Floats]:
    """Return the metrics that apply to these problems, by name, for lists that are already measured."""
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
    """The metrics of some lists, problem by problem."""

    metrics: dict[str, Floats]  # by name, one number per problem
    earned: Floats  # the value of each list up to each position
    bounded: bool  # whether values are shares of 1


def measurements(lists: Lists, problems: Problems) -> Measurements:
    """Return all metrics of lists that are already measured."""
    return Measurements(per_problem(lists, problems), earned(lists), reward_of(problems).bounded)


@dataclass(frozen=True)
class Measure:
    """A task for an engine: builds and measures the lists of a shard."""

    build: Build

    def __call__(self, blocks: Iterator[Problems], shard: int) -> Measurements:
        """Return the measurements of all blocks of the shard, one after the other."""
        rng = np.random.default_rng([self.build.seed, shard])
        lists = ((measured(self.build.lists(block.without_reward(), rng), block), block) for block in blocks)
        return _joined([measurements(one, block) for one, block in lists])


def measured_scan(lists: StreamedLists, scan: Scan) -> Measurements:
    """Measure the lists of all shards of a scan, on the engine of the model that builds them."""
    if scan.reward is None:
        raise InputError("evaluate needs a reward, but this scan has none. Pass reward to scan.")
    with one_thread(), lists.engine.crew(scan) as crew:
        return _joined(list(crew.each(Measure(lists.build), [shard.number for shard in scan.shards])))


def streamed_lists_of(model_or_lists: Any, scan: Scan, length: int | None, budget: ArrayLike | None) -> StreamedLists:
    """Return lists of a scan: those that a model predicts, or the given ones."""
    if isinstance(model_or_lists, Lists):
        raise InputError("These lists are for problems in memory. Pass the model, or what it predicts for the scan.")
    found = model_or_lists
    if not isinstance(found, StreamedLists):
        found = model_or_lists.predict(scan, length=length, budget=budget)
    assert isinstance(found, StreamedLists)
    return found


def _joined(parts: list[Measurements]) -> Measurements:
    """Join measurements; the earnings of shorter lists stay constant after their end."""
    width = max(part.earned.shape[1] for part in parts)
    wide = [np.pad(part.earned, ((0, 0), (0, width - part.earned.shape[1])), mode="edge") for part in parts]
    shared = [name for name in parts[0].metrics if all(name in part.metrics for part in parts)]
    metrics = {name: np.concatenate([part.metrics[name] for part in parts]) for name in shared}
    return Measurements(metrics, np.concatenate(wide), all(part.bounded for part in parts))
