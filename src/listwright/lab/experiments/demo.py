"""The short form of the trajectory experiment, with pictures: what `listwright demo` shows."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Ints
from listwright.estimators.scp import SCP
from listwright.evaluation.values import measured
from listwright.lab.experiments import trajectory
from listwright.lab.experiments.arm_picture import environment_chart
from listwright.lab.experiments.records import Record
from listwright.lab.experiments.tasks import Tick, quiet
from listwright.lab.report import Figure, Gallery, Report, Section
from listwright.lab.simulate import trajectory as simulated
from listwright.lists import Lists
from listwright.problems import Problems

SIZES = (10, 30, 100, 310)
SEEDS = 3
TRIES = (0, 1, 2)  # pictures of lists whose first, second, third try works

TITLE = "listwright: lists that are relevant and not redundant"


def run(*, tick: Tick = quiet) -> list[Record]:
    """Failure of all methods for a few sizes of the training set."""
    return trajectory.run(seeds=SEEDS, sizes=SIZES, tick=tick)


def report(records: list[Record]) -> Report:
    """Charts, a table, and pictures of three environments with the lists that SCP picked."""
    return Report(TITLE, trajectory.findings(records), [trajectory.section(records), pictures()])


def pictures() -> Section:
    """Three test environments in which the first, the second and the third try works."""
    train, test = simulated.problems()
    lists = SCP(trajectory.LENGTH, random_state=0).fit(train).predict(test)
    data = simulated.load()
    figures = [
        Figure(
            f"environment-{index}",
            environment_chart(data, len(train) + index, lists[index].tolist()),
            _caption(lists, index),
        )
        for index in _chosen(lists, test)
    ]
    return Section("Lists at work", _EXPLAINED, [Gallery(figures)])


def _chosen(lists: Lists, test: Problems) -> Ints:
    """The first environment for each number of tries."""
    gains = measured(lists, test).picked_gains
    assert gains is not None
    works = np.where(gains.any(axis=1), gains.argmax(axis=1), -1)
    return np.array([int(np.flatnonzero(works == tries)[0]) for tries in TRIES if (works == tries).any()])


def _caption(lists: Lists, index: int) -> str:
    items = ", ".join(str(item) for item in lists[index][:4])
    return f"{str(lists.problems.problem_ids[index]).capitalize()}. The list: seeds {items}, ..."


_EXPLAINED = (
    "Ways of the hand from start to goal. Grey: the thirty starting trajectories. Numbered: those tried, in the order "
    "of the list, after the planner has bent them around obstacles; red ones still collide, the green one is free."
)
