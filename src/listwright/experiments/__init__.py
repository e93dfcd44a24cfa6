"""The paper's experiments, by name, and the demo.

Each experiment is a module with three functions: `run` turns settings into records (`records`), `section` turns records
into a section of a report, and `findings` sums them up in a paragraph. It is imported when it is run. To add one, write
the module, and name it here.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.experiments.records import Record
    from listwright.report import Section


class ExperimentModule(Protocol):
    """What the module of an experiment offers; `source` says where its data is from."""

    def run(self, *, seeds: int, jobs: int, **source: Any) -> list[Record]:
        """Repeat the experiment `seeds` times in `jobs` processes, and return its records."""
        ...

    def section(self, records: list[Record], **source: Any) -> Section:
        """Return a section of a report: how it was done, with tables and charts."""
        ...

    def findings(self, records: list[Record], **source: Any) -> str:
        """Return what was found, in a paragraph with numbers."""
        ...


@dataclass(frozen=True)
class Experiment:
    """An experiment's name, what it shows, and where its code is."""

    name: str  # its name on the command line
    about: str  # one line on what it shows
    module: str  # the module, imported only when it is needed
    reads: tuple[str, ...] = ()  # what a data folder holds that it can read, as patterns
    takes_parts: bool = False  # whether folders to train and to test on can be named apart

    def load(self) -> ExperimentModule:
        return cast(ExperimentModule, import_module(self.module))

    def finds(self, data: Path) -> bool:
        return any(next(data.glob(pattern), None) is not None for pattern in self.reads)


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "trajectory",
            "robot arm: failure against the number of training environments (figure a)",
            "listwright.experiments.trajectory",
            reads=("scp_trajectory.npz",),
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


def experiment(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise InputError(f"There is no experiment {name!r}. Choose one of {', '.join(EXPERIMENTS)}.")
    return EXPERIMENTS[name]
