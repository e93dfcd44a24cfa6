"""Figure (a) of the paper: how often no trajectory in the list works, against the number of training environments.

All methods see the same nested subsets of the training environments, one chain of subsets per seed. SCP learns one
policy for lists of a given length, so it is fitted for every length; the others are fitted once. At the largest size,
SCP is also taken apart: from the algorithm as printed to SCP with effort="fast", one change at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats
from listwright.baselines import Oracle, Random, StaticList
from listwright.datasets import read_trajectory
from listwright.datasets._fetch import locate
from listwright.errors import InputError
from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.scp import SCP
from listwright.evaluation import compare
from listwright.experiments.records import (
    Record,
    Regression,
    chart_records,
    check_repetitions,
    describe_failures,
    excess_table,
    failure_table,
    lengths_of,
    methods_of,
    per_cent,
    point,
    points,
    record,
    records_of,
    repeat,
)
from listwright.features import FirstPosition
from listwright.features.auto import paper_features
from listwright.learners import RidgeFTRL
from listwright.problems import Problems
from listwright.report import Figure, ReportTable, Section
from listwright.report.charts import Axis, curves
from listwright.simulate import trajectory

__all__ = ["METHODS", "SIZES", "STEPS", "findings", "problems", "run", "section"]

NAME = "trajectory"
FILES = ("scp_trajectory.npz", "traj_train.txt")  # as converted, or as published
SIZES = (10, 20, 30, 50, 70, 100, 150, 200, 250, 310)
LENGTHS = (1, 2, 3, 4, 5, 8)
PASSES = 3  # of SCP and ConSeqOpt over the training environments
WHOLE = 3  # repetitions where all training environments are used: only the order of the states differs between them

FAST: dict[str, Any] = {"effort": "fast", "n_passes": PASSES}
PAPER: dict[str, Any] = {"features": paper_features()}
# ConSeqOpt's learners share nothing, so that weights between positions have no meaning.
SEPARATE: dict[str, Any] = {"n_passes": PASSES, "weighting": "uniform"}
# Algorithm 2 as printed: one pass, an update after every state, and the squared loss on the costs themselves.
PRINTED: dict[str, Any] = {**PAPER, **FAST, "n_passes": 1, "batch_size": 1, "skip_saturated": False}
ON_COSTS: dict[str, Any] = {**PRINTED, "learner": RidgeFTRL(center=False, target="cost")}
RANKING: dict[str, Any] = {**PRINTED, "learner": "hinge_rank"}

METHODS: dict[str, Any] = {
    "SCP": SCP(**FAST),
    "ConSeqOpt": ConSeqOpt(**SEPARATE),
    "SCP, paper's features": SCP(**PAPER, **FAST),
    "ConSeqOpt, paper's features": ConSeqOpt(**PAPER, **SEPARATE),
    "Regression": Regression(),
    "Static list": StaticList(),
    "Random": Random(),
    "Oracle": Oracle(),
}


class AblationStep(NamedTuple):
    base: str | None  # the row that it changes
    method: Any  # the method with the change


STEPS: dict[str, AblationStep] = {
    "SCP as printed": AblationStep(None, SCP(**ON_COSTS)),
    "as printed, best round": AblationStep("SCP as printed", SCP(**ON_COSTS, keep="best")),
    "hinge ranking": AblationStep("SCP as printed", SCP(**RANKING)),
    "hinge, best round": AblationStep("hinge ranking", SCP(**RANKING, keep="best")),
    "+ centring": AblationStep("SCP as printed", SCP(**PRINTED)),
    "+ batches": AblationStep("+ centring", SCP(**{**PRINTED, "batch_size": "auto"})),
    "+ three passes": AblationStep("+ batches", SCP(**{**PRINTED, "batch_size": "auto", "n_passes": PASSES})),
    "+ solved states skipped": AblationStep("+ three passes", METHODS["SCP, paper's features"]),
    "+ first position crossed": AblationStep(
        "+ solved states skipped", SCP(features=paper_features() + FirstPosition(), **FAST)
    ),
    "+ identity (SCP above)": AblationStep("+ solved states skipped", METHODS["SCP"]),
    "ConSeqOpt, paper's features": AblationStep("+ solved states skipped", METHODS["ConSeqOpt, paper's features"]),
}


def problems(folder: Path | None = None) -> tuple[Problems, Problems]:
    if folder is None:
        return trajectory.problems()
    folder = locate(folder)
    for place in (folder, folder / "scp_trajectory"):
        if any((place / name).is_file() for name in FILES):
            return read_trajectory(place)
    raise InputError(f"There is no {' or '.join(FILES)} in {folder}. Leave --data out to use the simulated arm.")


def run(
    *,
    data: Path | None = None,
    seeds: int = 10,
    jobs: int = 1,
    sizes: Sequence[int] = SIZES,
    lengths: Sequence[int] = LENGTHS,
    methods: Sequence[str] = tuple(METHODS),
    steps: Sequence[str] = tuple(STEPS),
) -> list[Record]:
    """Measure the failure of every method at every training size and length, and of every step at the largest size."""
    check_repetitions(seeds)
    train, test = problems(data)
    if not sizes or min(sizes) < 1 or max(sizes) > len(train):
        raise InputError(f"sizes must be between 1 and {len(train)}, the training environments. Got {list(sizes)}.")
    sizes = sorted(sizes)
    wanted = {size: [*methods, *(steps if size == sizes[-1] else ())] for size in sizes}
    repetitions = {size: min(seeds, WHOLE) if size == len(train) else seeds for size in sizes}
    tasks = [
        (train, test, size, seed, tuple(lengths), name)
        for size in sizes
        for name in dict.fromkeys(wanted[size])
        for seed in range(repetitions[size])
    ]
    results = repeat(_run_method, tasks, jobs=jobs)
    by_task = {(task[2], task[5], task[3]): result for task, result in zip(tasks, results, strict=True)}

    def failures(size: int, names: Sequence[str]) -> Floats:
        seeds = range(repetitions[size])
        return np.array([np.mean([by_task[size, name, seed] for seed in seeds], 0) for name in names])

    records: list[Record] = []
    new = [name for name in steps if name not in methods]
    for size, names in [*((size, methods) for size in sizes), (sizes[-1], new)]:
        records += records_of(NAME, names, size, lengths, failures(size, names)) if names else []
    return records + (_changes(steps, sizes[-1], lengths, failures(sizes[-1], steps)) if steps else [])


def _run_method(train: Problems, test: Problems, size: int, seed: int, lengths: Sequence[int], name: str) -> Floats:
    method = METHODS[name] if name in METHODS else STEPS[name].method
    comparison = compare(
        {name: method},
        train,
        test=test,
        lengths=lengths,
        train_sizes=[size],
        seeds=[seed],
        refit_lengths=isinstance(method, SCP),
    )
    return 1.0 - comparison.values["value"].reshape(len(lengths), len(test))


def _changes(steps: Sequence[str], n_train: int, lengths: Sequence[int], failures: Floats) -> list[Record]:
    """Return what each step changes, compared with its base row, averaged over the lengths of `STARVED`."""
    chosen = [index for index, length in enumerate(lengths) if length in STARVED]
    means = dict(zip(steps, failures[:, chosen].mean(axis=1), strict=True)) if chosen else {}
    return [
        record(NAME, name, n_train=n_train, length=0, metric=CHANGE, values=means[name] - means[base])
        for name, base in ((name, STEPS[name].base) for name in means)
        if base in means
    ]


CHANGE = "change_from_the_step_before"
STARVED = (2, 3, 4)  # the lengths at which ConSeqOpt is ahead of SCP with the paper's features
AXIS = Axis("mean", "failure", ".0%")
BY_LENGTH, BY_SIZE = Axis("length", "list length"), Axis("n_train", "training environments", log=True)
SHOWN_LENGTH = 3  # the length that the text and the first chart speak of
FEW = 30  # a small training set that the text speaks of

SETUP = (
    "A robot arm has to reach a target among obstacles. A planner can start from thirty trajectories, and has time for "
    "a few: which ones, in which order? A good list does not repeat a trajectory that fails for the same reason as the "
    "one before. Methods learn from environments where the outcome of every start is known, and list starts for "
    "environments where nothing has been tried. SCP and ConSeqOpt see the paper's features and which of the thirty a "
    "trajectory is, which makes every fixed list one of their choices; beside them, the same with the paper's features "
    "alone, and a regression on the seventeen features, sorted."
)


def section(records: list[Record], *, data: Path | None = None) -> Section:
    steps, rivals = _steps_and_rivals(records)
    sizes = sorted({record["n_train"] for record in records})
    parts: list[ReportTable | Figure] = [
        failure_table(records, rivals, n_train=sizes[-1], caption=_FAILURE_CAPTION.format(n=sizes[-1])),
        Figure("trajectory-length", _chart(records, BY_LENGTH, BY_SIZE), _LENGTH_CAPTION),
    ]
    if len(sizes) > 1:
        by_size = _chart(records, BY_SIZE, BY_LENGTH, at=SHOWN_LENGTH)
        parts.insert(0, Figure("trajectory-training", by_size, _SIZE_CAPTION))
        lengths, few = sorted({1, 3, 5, 8} & set(lengths_of(records))), _small_size(sizes)
        caption = _EXCESS_CAPTION.format(n=few)
        parts.insert(2, excess_table(records, rivals, n_train=few, lengths=lengths, caption=caption))
    if steps:
        parts.append(_ablation_table(records, steps, sizes[-1]))
    return Section("Robot arm: which starting trajectories to try", SETUP, parts)


def findings(records: Sequence[Record], *, data: Path | None = None) -> str:
    """Return one paragraph: the failure of each method after a few and after all training environments."""
    _, rivals = _steps_and_rivals(records)
    sizes, lengths = sorted({record["n_train"] for record in records}), lengths_of(records)
    length = SHOWN_LENGTH if SHOWN_LENGTH in lengths else lengths[-1]
    source = "Simulated arm" if data is None else "The paper's trajectory data"
    text = [f"{source}: the share of test environments where none of {length} starting trajectories works."]
    text += [
        f"After {size} training environments: {describe_failures(records, rivals, n_train=size, length=length)}."
        for size in sorted({_small_size(sizes), sizes[-1]})
    ]
    return " ".join(text)


def _steps_and_rivals(records: Sequence[Record]) -> tuple[list[str], list[str]]:
    names = methods_of(records)
    steps = names[names.index("SCP as printed") :] if "SCP as printed" in names else []
    changed = [record["method"] for record in records if record["metric"] == CHANGE]
    rivals = [name for name in names if name not in steps]
    return steps + [name for name in dict.fromkeys(changed) if name not in steps], rivals


def _small_size(sizes: Sequence[int]) -> int:
    return min((size for size in sizes if size >= FEW), default=sizes[-1])


def _ablation_table(records: Sequence[Record], steps: Sequence[str], n_train: int) -> ReportTable:
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
    return ReportTable(["step", *map(str, lengths), "change"], rows, _STEPS_CAPTION.format(n=n_train))


def _chart(records: Sequence[Record], x: Axis, slider: Axis, **at: int) -> Any:
    shown, line_styles = chart_records(records)
    return curves(shown, x=x, y=AXIS, methods=line_styles, slider=slider, **at)


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
