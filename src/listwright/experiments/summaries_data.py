"""Where the clusters of the summarization experiment are from, and what a report says of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from listwright._internal.arrays import Ints
from listwright.experiments.summaries_section import Told
from listwright.problems import Problems
from listwright.simulate.corpus import corpus
from listwright.summarize.data import PAPER_YEARS, read_clusters, read_parts, shortfalls, splits, usual_budget
from listwright.summarize.problems import room_of, summary_problems
from listwright.text.clusters import Cluster
from listwright.text.duc import duc_years
from listwright.text.duc_layout import Paths, is_duc

N_CLUSTERS = 60  # of the made-up corpus: 40 to train, 20 to test


@dataclass(frozen=True)
class Source:
    """Where the clusters are from.

    Small and hashable, so that it can be sent to processes, each of which reads the data once and caches it.
    """

    data: str | None = None  # a file or folder with all clusters
    train: tuple[str, ...] = ()  # folders with clusters for training and testing, instead of `data`
    test: tuple[str, ...] = ()
    task: int | None = None  # the task of DUC, if the folders hold several
    n_clusters: int = N_CLUSTERS  # number of made-up clusters, where no data is given

    @classmethod
    def of(
        cls, data: Path | str | None, train: Paths, test: Paths, task: int | None, n_clusters: int = N_CLUSTERS
    ) -> Source:
        """Return the source that the arguments of an experiment name."""
        return cls(None if data is None else str(data), _as_texts(train), _as_texts(test), task, n_clusters)

    @property
    def clusters(self) -> list[Cluster]:
        """All clusters."""
        return _clusters(self)

    @property
    def problems(self) -> Problems:
        """The clusters as problems, in the same order."""
        return _problems(self)

    @property
    def parts(self) -> list[tuple[Ints, Ints]]:
        """Training and test rows of each fold."""
        return splits(self.clusters)

    @property
    def budget(self) -> int:
        """The length of a summary, in the unit that is usual for the data."""
        return usual_budget(self.clusters).amount

    @property
    def room(self) -> int:
        """The budget as the sizes of the problems count it."""
        return room_of(usual_budget(self.clusters))


@cache
def _clusters(source: Source) -> list[Cluster]:
    """Read or makes the clusters, once per process."""
    if source.train or source.test:
        return read_parts(source.train, source.test, task=source.task)
    if source.data is not None:
        return read_clusters(source.data, task=source.task, need_references=True)
    return corpus(source.n_clusters)


@cache
def _problems(source: Source) -> Problems:
    """Make the problems, once per process."""
    return summary_problems(source.clusters, unit=usual_budget(source.clusters).unit, need_references=True)


def _years(source: Source) -> tuple[int | None, int | None]:
    """Return the years of DUC that the training and test clusters are from; None where the folders do not say."""
    if source.data is not None:
        years = duc_years(source.data) if Path(source.data).is_dir() and is_duc(Path(source.data)) else []
        return (years[0], years[1]) if tuple(years) == PAPER_YEARS else (None, None)
    found = [
        duc_years(paths) if all(Path(one).is_dir() for one in paths) else [] for paths in (source.train, source.test)
    ]
    train, test = (years[0] if len(years) == 1 else None for years in found)
    return train, test


def missing(source: Source) -> list[str]:
    """Return sentences on what the data lacks, compared with a complete year of DUC."""
    parts = zip(("train", "test"), _years(source), strict=True)
    return [
        told
        for name, year in parts
        for told in shortfalls([one for one in source.clusters if one.split == name], year, source.task)
    ]


def about(source: Source) -> Told:
    """Return what the report says about the data."""
    years = _years(source)
    if all(years):
        task = "" if source.task is None else f", task {source.task}"
        name = f"DUC {years[1]}{task}, after training on DUC {years[0]}"
        return Told(name, of_the_paper=years == PAPER_YEARS and source.task == 2, missing=missing(source))
    if source.data is None and not source.test:
        return Told("Made-up news reports")
    return Told(f"Clusters in {', '.join(Path(one).name for one in (source.data, *source.test) if one)}")


def _as_texts(paths: Paths) -> tuple[str, ...]:
    """Return paths as a tuple of strings."""
    return (str(paths),) if isinstance(paths, str | Path) else tuple(map(str, paths))
