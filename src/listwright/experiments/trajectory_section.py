"""The report on the trajectory experiment: charts, tables, and pictures of the simulated arm."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from listwright.estimators.scp import SCP
from listwright.evaluation.values import measured
from listwright.experiments.arm_picture import environment_chart
from listwright.experiments.records import Record, methods_of, point
from listwright.experiments.tables import (
    compared,
    drawn,
    excess_table,
    failure_table,
    lengths_of,
    per_cent,
    points,
)
from listwright.report import Figure, Gallery, Section, Table
from listwright.report.charts import Axis, curves
from listwright.simulate import trajectory

CHANGE = "change_from_the_step_before"
STARVED = (2, 3, 4)  # the lengths at which ConSeqOpt is ahead of SCP with the paper's features
AXIS = Axis("mean", "failure", ".0%")
SHOWN_LENGTH = 3  # the length that the text and the first chart speak of
FEW = 30  # a small training set that the text speaks of
TRIES = (0, 1, 2)  # pictures of lists whose first, second, third try works

SETUP = (
    "A robot arm has to reach a target among obstacles. A planner can start from thirty trajectories, and has time for "
    "a few: which ones, in which order? A good list does not repeat a trajectory that fails for the same reason as the "
    "one before. Methods learn from environments where the outcome of every start is known, and list starts for "
    "environments where nothing has been tried. SCP and ConSeqOpt see the paper's features and which of the thirty a "
    "trajectory is, which makes every fixed list one of their choices; beside them, the same with the paper's features "
    "alone, and a regression on the seventeen features, sorted."
)


def section(records: list[Record], *, data: Path | None = None) -> Section:
    """Return the section of a report."""
    steps, rivals = _steps_and_rivals(records)
    sizes = sorted({record["n_train"] for record in records})
    parts: list[Table | Figure | Gallery] = [
        failure_table(records, rivals, n_train=sizes[-1], caption=_FAILURE_CAPTION.format(n=sizes[-1])),
        Figure("trajectory-length", _by_length(records), _LENGTH_CAPTION),
    ]
    if len(sizes) > 1:
        parts.insert(0, Figure("trajectory-training", _by_size(records), _SIZE_CAPTION))
        parts.insert(2, _excess(records, rivals, _few(sizes)))
    if steps:
        parts.append(_taken_apart(records, steps, sizes[-1]))
    if data is None:
        parts.append(Gallery(_pictures(), _PICTURES_CAPTION))
    return Section("Robot arm: which starting trajectories to try", SETUP, parts)


def findings(records: Sequence[Record], *, data: Path | None = None) -> str:
    """Return one paragraph: the failure of each method after a few and after all training environments."""
    _, rivals = _steps_and_rivals(records)
    sizes, lengths = sorted({record["n_train"] for record in records}), lengths_of(records)
    length = SHOWN_LENGTH if SHOWN_LENGTH in lengths else lengths[-1]
    source = "Simulated arm" if data is None else "The paper's trajectory data"
    text = [f"{source}: the share of test environments where none of {length} starting trajectories works."]
    text += [
        f"After {size} training environments: {compared(records, rivals, n_train=size, length=length)}."
        for size in sorted({_few(sizes), sizes[-1]})
    ]
    return " ".join(text)


def _steps_and_rivals(records: Sequence[Record]) -> tuple[list[str], list[str]]:
    """Return the rows of the table of steps, and those of the other tables."""
    names = methods_of(records)
    steps = names[names.index("SCP as printed") :] if "SCP as printed" in names else []
    changed = [record["method"] for record in records if record["metric"] == CHANGE]
    rivals = [name for name in names if name not in steps]
    return steps + [name for name in dict.fromkeys(changed) if name not in steps], rivals


def _few(sizes: Sequence[int]) -> int:
    """Return the small training size that the text looks at closely."""
    return min((size for size in sizes if size >= FEW), default=sizes[-1])


def _excess(records: Sequence[Record], rivals: Sequence[str], n_train: int) -> Table:
    """Return the table of excess over SCP at one training size."""
    lengths = [length for length in (1, 3, 5, 8) if length in lengths_of(records)]
    caption = _EXCESS_CAPTION.format(n=n_train)
    return excess_table(records, rivals, n_train=n_train, lengths=lengths, caption=caption)


def _taken_apart(records: Sequence[Record], steps: Sequence[str], n_train: int) -> Table:
    """Return one row per step: its failure by length, and what the step changed."""
    lengths = lengths_of(records)
    changes = {record["method"]: points(record) for record in records if record["metric"] == CHANGE}
    rows = [
        [
            name,
            *(per_cent(point(records, name, n_train=n_train, length=length)["mean"]) for length in lengths),
            changes.get(name, ""),
        ]
        for name in steps
    ]
    return Table(["step", *map(str, lengths), "change"], rows, _STEPS_CAPTION.format(n=n_train))


def _by_size(records: Sequence[Record]) -> Any:
    """Return the chart of failure against training environments, with a slider for the length."""
    shown, looks = drawn(records)
    x = Axis("n_train", "training environments", log=True)
    return curves(shown, x=x, y=AXIS, methods=looks, slider=Axis("length", "List length"), at=SHOWN_LENGTH)


def _by_length(records: Sequence[Record]) -> Any:
    """Return the chart of failure against length, with a slider for the training environments."""
    shown, looks = drawn(records)
    x = Axis("length", "list length")
    return curves(shown, x=x, y=AXIS, methods=looks, slider=Axis("n_train", "Training environments"))


def _pictures() -> list[Figure]:
    """Return pictures of three test environments in which the first, the second and the third try works."""
    train, test = trajectory.problems()
    lists = SCP(8, effort="fast", random_state=0).fit(train).predict(test)
    gains = measured(lists, test).picked_gains
    assert gains is not None
    works = np.where(gains.any(axis=1), gains.argmax(axis=1), -1)
    chosen = [int(np.flatnonzero(works == tries)[0]) for tries in TRIES if (works == tries).any()]
    data = trajectory.load()
    return [
        Figure(
            f"environment-{index}",
            environment_chart(data, len(train) + index, lists[index].tolist()),
            f"Test environment {index}. The list: seeds {', '.join(map(str, lists[index][:4]))}, ...",
        )
        for index in chosen
    ]


_FAILURE_CAPTION = (
    "Failure in per cent by length of the list, after {n} training environments. Oracle knows the outcomes; "
    "environments that no start solves were left out."
)
_EXCESS_CAPTION = (
    "How much more often a method fails than SCP after {n} training environments, in points, with the 95 % interval "
    "of the difference over test environments; random subsets are averaged first."
)
_SIZE_CAPTION = (
    "Mean over random subsets of the training environments, with the 95 % interval over test environments, which are "
    "the same for all. Slide to another list length; click a name to pick it out."
)
_LENGTH_CAPTION = (
    "The same results against the length of the list. SCP is fitted for each length; the other methods are fitted "
    "once, and short lists are the beginnings of long ones."
)
_STEPS_CAPTION = (
    "From the algorithm as printed to SCP above, after {n} training environments: failure in per cent by length of "
    "the list, and the change over lengths 2 to 4 in points, with its 95 % interval over test environments. As "
    "printed: the paper's features, one pass, an update after every state, a regression of the costs; the last policy, "
    "or the best round on a fifth of the training environments. A step with a + is added to the step before it; the "
    "last three are each added to the row with solved states skipped. First position crossed: the seventeen features "
    "also times the first-position indicator, in the one policy. ConSeqOpt: one policy for each position instead."
)
_PICTURES_CAPTION = (
    "Ways of the hand from start to goal. Grey: the thirty starting trajectories. Numbered: those tried, in the order "
    "of the list, after the planner has bent them around obstacles; red ones still collide, the green one is free."
)
