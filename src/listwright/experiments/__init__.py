"""The paper's experiments, by name, and the demo.

Each is a module: `run(seeds=, jobs=, ...)` returns records, `section` makes a part of a report of them, and `findings`
a paragraph.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Experiment:
    name: str  # its name on the command line
    about: str  # one line on what it shows
    module: str  # the module, imported only when it is needed
    reads: tuple[str, ...] = ()  # what a data folder holds that it can read, as patterns
    takes_parts: bool = False  # whether folders to train and to test on can be named apart

    def load(self) -> Any:
        return import_module(self.module)

    def finds(self, data: Path) -> bool:
        return any(next(data.glob(pattern), None) is not None for pattern in self.reads)


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "trajectory",
            "robot arm: failure against the number of training environments (figure a)",
            "listwright.experiments.trajectory",
            reads=("scp_trajectory.npz", "traj_train.txt"),
        ),
        Experiment(
            "news",
            "news readers: failure against the number of recommendations (figure b)",
            "listwright.experiments.news",
        ),
        Experiment(
            "summaries",
            "reports: ROUGE of summaries against other methods and training clusters (table 1, figure c)",
            "listwright.experiments.summaries",
            reads=("*.jsonl", "*.jsonl.gz", "*/"),
            takes_parts=True,
        ),
    )
}
