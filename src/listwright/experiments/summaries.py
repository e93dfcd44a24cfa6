"""Table 1 and figure (c) of the paper: ROUGE of summaries, against other methods and against training clusters.

On DUC the paper trains on the clusters of 2003 and tests on those of 2004. Anyone who has the data can run that; the
made-up news reports take its place elsewhere. Data that names no parts is tested in five folds. All methods see the
same problems, and all skip what no longer fits the budget. The curve takes nested random subsets of the training
clusters, one chain of subsets per seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.parameters import clone
from listwright._internal.warn import warn
from listwright.baselines import MMR, LearnedDPP, Oracle, SubMod
from listwright.datasets._fetch import locate
from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.scp import SCP
from listwright.evaluation import compare
from listwright.experiments.methods import Tuned
from listwright.experiments.records import PAIRED_WITH, Record, check_repetitions, record, repeat
from listwright.experiments.summaries_section import (
    CURVE,
    LESS,
    DataDescription,
    describe_findings,
    describe_section,
)
from listwright.problems import Problems
from listwright.report import Section
from listwright.simulate.corpus import corpus
from listwright.text.clusters import Cluster
from listwright.text.corpora import PAPER_YEARS, read_clusters, read_parts, shortfalls, splits, usual_budget
from listwright.text.duc import Paths, duc_years, is_duc
from listwright.text.readers import ReadingNote
from listwright.text.scores import METRICS, summary_scores
from listwright.text.summary_problems import (
    Lead,
    LexRank,
    paper_summary_features,
    room_of,
    summary_features,
    summary_problems,
)

N_CLUSTERS = 60  # of the made-up corpus: 40 to train, 20 to test


@dataclass(frozen=True)
class ClusterSource:
    """Where the clusters are from."""

    data: str | None = None  # a file or folder with all clusters
    train: tuple[str, ...] = ()  # folders with clusters for training and testing, instead of `data`
    test: tuple[str, ...] = ()
    task: int | None = None  # the task of DUC, if the folders hold several
    n_clusters: int = N_CLUSTERS  # number of made-up clusters, where no data is given

    @classmethod
    def of(
        cls, data: Path | str | None, train: Paths, test: Paths, task: int | None, n_clusters: int = N_CLUSTERS
    ) -> ClusterSource:
        """Return the source that the arguments of an experiment name."""
        return cls(None if data is None else str(locate(data)), _as_texts(train), _as_texts(test), task, n_clusters)

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
def _clusters(source: ClusterSource) -> list[Cluster]:
    """Read or makes the clusters, once per process."""
    if source.train or source.test:
        return read_parts(source.train, source.test, task=source.task)
    if source.data is not None:
        return read_clusters(source.data, task=source.task, need_references=True)
    return corpus(source.n_clusters)


@cache
def _problems(source: ClusterSource) -> Problems:
    """Make the problems, once per process."""
    return summary_problems(source.clusters, unit=usual_budget(source.clusters).unit, need_references=True)


def _years(source: ClusterSource) -> tuple[int | None, int | None]:
    """Return the years of DUC that the training and test clusters are from; None where the folders do not say."""
    if source.data is not None:
        years = duc_years(source.data) if Path(source.data).is_dir() and is_duc(Path(source.data)) else []
        return (years[0], years[1]) if tuple(years) == PAPER_YEARS else (None, None)
    train, test = (
        duc_years(paths) if all(Path(path).is_dir() for path in paths) else [] for paths in (source.train, source.test)
    )
    return train[0] if len(train) == 1 else None, test[0] if len(test) == 1 else None


def find_missing(source: ClusterSource) -> list[str]:
    """Return sentences on what the data lacks, compared with a complete year of DUC."""
    parts = zip(("train", "test"), _years(source), strict=True)
    return [
        sentence
        for name, year in parts
        for sentence in shortfalls([cluster for cluster in source.clusters if cluster.split == name], year, source.task)
    ]


def describe(source: ClusterSource) -> DataDescription:
    """Return what the report says about the data."""
    years = _years(source)
    if all(years):
        task = "" if source.task is None else f", task {source.task}"
        name = f"DUC {years[1]}{task}, after training on DUC {years[0]}"
        return DataDescription(
            name, of_the_paper=years == PAPER_YEARS and source.task == 2, missing=find_missing(source)
        )
    if source.data is None and not source.test:
        return DataDescription("Made-up news reports")
    return DataDescription(f"Clusters in {', '.join(Path(path).name for path in (source.data, *source.test) if path)}")


def _as_texts(paths: Paths) -> tuple[str, ...]:
    return (str(paths),) if isinstance(paths, str | Path) else tuple(map(str, paths))


NAME = "summaries"
SIZES = (3, 8, 20)  # and all there are
DIVERSITIES = (0.1, 0.3, 0.5, 0.7)
PASSES = 4  # of SCP and ConSeqOpt over the training clusters, where they see expected coverage

FULL: dict[str, Any] = {"features": summary_features(), "n_passes": PASSES}
PAPERS: dict[str, Any] = {"features": paper_summary_features(), "learner": "hinge_rank"}
METHODS: dict[str, Any] = {
    "SCP": SCP(effort="fast", **FULL),
    "ConSeqOpt": ConSeqOpt(**FULL, weighting="uniform"),
    "SCP, paper's features": SCP(effort="fast", **PAPERS),
    "ConSeqOpt, paper's features": ConSeqOpt(**PAPERS, weighting="uniform"),
    "SubMod": SubMod(),
    "DPP": LearnedDPP(),
    "LexRank": LexRank(),
    "MMR": Tuned({f"{diversity:g}": MMR(diversity) for diversity in DIVERSITIES}),
    "Lead": Lead(),
    "Greedy (Oracle)": Oracle(),
}
LEARNED = ("SCP", "ConSeqOpt", "SubMod", "DPP")


def run(
    *,
    data: Path | str | None = None,
    train: Paths = (),
    test: Paths = (),
    task: int | None = None,
    seeds: int = 10,
    jobs: int = 1,
    sizes: Sequence[int] = SIZES,
    methods: Sequence[str] = tuple(METHODS),
    n_clusters: int = N_CLUSTERS,
) -> list[Record]:
    """Measure ROUGE of every method after all training clusters, and ROUGE-1R of the learned ones after a few."""
    check_repetitions(seeds)
    source = ClusterSource.of(data, train, test, task, n_clusters)
    for sentence in find_missing(source):
        warn(sentence, ReadingNote)
    parts, curved = source.parts, tuple(method for method in LEARNED if method in methods)
    n_train = min(len(part) for part, _ in parts)
    rows = [(source, method, fold) for method in methods for fold in range(len(parts))]
    points = _points(sizes, n_train, seeds, len(parts)) if curved else []
    table = repeat(_score_fold, rows, jobs=jobs)
    tasks = [(source, size, seed, curved) for size, seed in points]
    curve = repeat(_score_subset, tasks, jobs=jobs)
    by_method = {name: [row for task, row in zip(rows, table, strict=True) if task[1] == name] for name in methods}
    records = _table_records(by_method, n_train, source.budget)
    records += _curve_records(curved, points, np.array(curve), source.budget)
    return records


def section(
    records: Sequence[Record],
    *,
    data: Path | str | None = None,
    train: Paths = (),
    test: Paths = (),
    task: int | None = None,
) -> Section:
    """Return the section of a report, with the tables and the curve; the arguments are those of `run`."""
    return describe_section(records, describe(ClusterSource.of(data, train, test, task)))


def findings(
    records: Sequence[Record],
    *,
    data: Path | str | None = None,
    train: Paths = (),
    test: Paths = (),
    task: int | None = None,
) -> str:
    """Return one paragraph in numbers; the arguments are those of `run`."""
    return describe_findings(records, describe(ClusterSource.of(data, train, test, task)))


def _score_fold(source: ClusterSource, method: str, fold: int) -> dict[str, Floats]:
    """Train one method on one fold and scores its summaries of the fold's test clusters."""
    problems, (train, test) = source.problems, source.parts[fold]
    model = clone(METHODS[method])
    settings = {"budget": source.room, "random_state": 0}
    model.set_params(**{name: value for name, value in settings.items() if name in model.get_params()})
    lists = model.fit(problems[train]).predict(problems[test], budget=source.room)
    return summary_scores(lists, [source.clusters[index] for index in test])


def _score_subset(source: ClusterSource, size: int, seed: int, methods: Sequence[str]) -> list[float]:
    """Return the mean ROUGE-1R of some methods after training on one subset."""
    train, test = source.parts[seed % len(source.parts)]
    comparison = compare(
        {name: METHODS[name] for name in methods},
        source.problems[train],
        test=source.problems[test],
        budgets=[source.room],
        train_sizes=[size],
        seeds=[seed],
    )
    return comparison.table()["value"].tolist()


def _points(sizes: Sequence[int], n_train: int, seeds: int, n_parts: int) -> list[tuple[int, int]]:
    """Return (size, seed) for each subset to train on."""
    points = [(size, seed) for size in sorted(set(sizes)) if size < n_train for seed in range(seeds)]
    return points + [(n_train, seed) for seed in range(min(seeds, n_parts))]


def _table_records(rows: dict[str, list[dict[str, Floats]]], n_train: int, budget: int) -> list[Record]:
    """Return one record per method and metric, and how far each method is below SCP on the same clusters."""

    def of(method: str, metric: str, values: Floats) -> Record:
        return record(NAME, method, n_train=n_train, length=budget, metric=metric, values=values)

    scores = {
        name: {metric: np.concatenate([row[metric] for row in folds]) for metric in METRICS}
        for name, folds in rows.items()
    }
    records = [of(name, metric, values) for name, scored in scores.items() for metric, values in scored.items()]
    if PAIRED_WITH not in scores:
        return records
    own = scores[PAIRED_WITH]["rouge1_r"]
    return records + [
        of(name, LESS, own - scored["rouge1_r"]) for name, scored in scores.items() if name != PAIRED_WITH
    ]


def _curve_records(
    methods: Sequence[str], points: Sequence[tuple[int, int]], values: Floats, budget: int
) -> list[Record]:
    """Return one record per size and method; intervals are over subsets."""
    of_size = {size: [index for index, (other, _) in enumerate(points) if other == size] for size, _ in points}
    return [
        record(NAME, method, n_train=size, length=budget, metric=CURVE, values=values[rows, column])
        for size, rows in of_size.items()
        for column, method in enumerate(methods)
    ]
