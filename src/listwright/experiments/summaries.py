"""Table 1 and figure (c) of the paper: ROUGE of summaries, against other methods and against training clusters.

On DUC the paper trains on the clusters of 2003 and tests on those of 2004. Anyone who has the data can run that; the
made-up news reports take its place elsewhere. Data that names no parts is tested in five folds. All methods see the
same problems, and all skip what no longer fits the budget. The curve takes nested random subsets of the training
clusters, one chain of subsets per seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.parameters import clone
from listwright._internal.warn import warn
from listwright.baselines import MMR, LearnedDPP, Oracle, SubMod
from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.scp import SCP
from listwright.evaluation import compare
from listwright.experiments.methods import Tuned
from listwright.experiments.parallel import check_repetitions, repeat
from listwright.experiments.records import PAIRED_WITH, Record, record
from listwright.experiments.summaries_data import N_CLUSTERS, Source, about, missing
from listwright.experiments.summaries_section import CURVE, LESS, OFFICIAL, told_findings, told_section
from listwright.report import Section
from listwright.summarize.orders import Lead, LexRank
from listwright.summarize.problems import paper_summary_features, summary_features
from listwright.summarize.rouge155 import find_rouge, rouge_155
from listwright.summarize.scores import METRICS, summary_scores, summary_text
from listwright.text.duc_layout import Paths
from listwright.text.files import ReadingNote

__all__ = ["METHODS", "SIZES", "findings", "run", "section"]

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
    rouge: Path | str | None = None,
    seeds: int = 10,
    jobs: int = 1,
    sizes: Sequence[int] = SIZES,
    methods: Sequence[str] = tuple(METHODS),
    n_clusters: int = N_CLUSTERS,
) -> list[Record]:
    """Measure ROUGE of every method after all training clusters, and ROUGE-1R of the learned ones after a few of them.

    Parameters
    ----------
    data : path, optional
        A file or folder that holds all clusters; see `listwright.summarize.data.read_clusters`.
    train, test : path, or sequence of paths, optional
        Folders with the clusters to train and to test on, such as "DUC2003" and "DUC2004".
    task : int, optional
        The task of DUC, if the folders hold several. The paper's is 2.
    rouge : path, optional
        ROUGE-1.5.5, to score the same summaries with.
    seeds : int
        Repetitions of each point of the curve.
    jobs : int
        Number of processes.
    sizes : sequence of int
        Training sizes of the curve; the full size is added.
    methods : sequence of str
        Keys of `METHODS`.
    n_clusters : int
        Number of made-up clusters, where no data is given.

    Returns
    -------
    list of Record
        One per method and metric, differences from SCP, the points of the curve, and scores by ROUGE-1.5.5 if given.
    """
    check_repetitions(seeds)
    program = None if rouge is None else find_rouge(rouge)
    source = Source.of(data, train, test, task, n_clusters)
    for told in missing(source):
        warn(told, ReadingNote)
    parts, curved = source.parts, tuple(method for method in LEARNED if method in methods)
    n_train = min(len(part) for part, _ in parts)
    rows = [(source, method, fold) for method in methods for fold in range(len(parts))]
    points = _points(sizes, n_train, seeds, len(parts)) if curved else []
    table = repeat(_one_row, rows, jobs=jobs)
    tasks = [(source, size, seed, curved) for size, seed in points]
    curve = repeat(_one_point, tasks, jobs=jobs)
    by_method = {name: [one for row, one in zip(rows, table, strict=True) if row[1] == name] for name in methods}
    records = _table_records(by_method, n_train, source.budget)
    records += _curve_records(curved, points, np.array(curve), source.budget)
    return records if program is None else records + _official_records(program, source, by_method, n_train)


def section(
    records: Sequence[Record],
    *,
    data: Path | str | None = None,
    train: Paths = (),
    test: Paths = (),
    task: int | None = None,
    **others: Any,
) -> Section:
    """Return the section of a report, with the tables and the curve; the arguments are those of `run`."""
    return told_section(records, about(Source.of(data, train, test, task)))


def findings(
    records: Sequence[Record],
    *,
    data: Path | str | None = None,
    train: Paths = (),
    test: Paths = (),
    task: int | None = None,
    **others: Any,
) -> str:
    """Return one paragraph in numbers; the arguments are those of `run`."""
    return told_findings(records, about(Source.of(data, train, test, task)))


class Row(NamedTuple):
    """Summaries of the test clusters of one fold."""

    scores: dict[str, Floats]  # by metric, one score per cluster
    texts: list[str]  # the summaries


def _one_row(source: Source, method: str, fold: int) -> Row:
    """Train one method on one fold and scores its summaries of the fold's test clusters."""
    problems, (train, test) = source.problems, source.parts[fold]
    model = clone(METHODS[method])
    settings = {"budget": source.room, "random_state": 0}
    model.set_params(**{name: value for name, value in settings.items() if name in model.get_params()})
    lists = model.fit(problems[train]).predict(problems[test], budget=source.room)
    clusters = [source.clusters[index] for index in test]
    texts = [summary_text(cluster, items.tolist()) for cluster, items in zip(clusters, lists, strict=True)]
    return Row(summary_scores(lists, clusters), texts)


def _one_point(source: Source, size: int, seed: int, methods: Sequence[str]) -> list[float]:
    """Return the mean ROUGE-1R of some methods after training on one subset."""
    train, test = source.parts[seed % len(source.parts)]
    found = compare(
        {name: METHODS[name] for name in methods},
        source.problems[train],
        test=source.problems[test],
        budgets=[source.room],
        train_sizes=[size],
        seeds=[seed],
    )
    return found.table()["value"].tolist()


def _points(sizes: Sequence[int], n_train: int, seeds: int, n_parts: int) -> list[tuple[int, int]]:
    """Return (size, seed) for each subset to train on."""
    some = [(size, seed) for size in sorted(set(sizes)) if size < n_train for seed in range(seeds)]
    return some + [(n_train, seed) for seed in range(min(seeds, n_parts))]


def _table_records(rows: dict[str, list[Row]], n_train: int, budget: int) -> list[Record]:
    """Return one record per method and metric, and how far each method is below SCP on the same clusters."""

    def of(method: str, metric: str, values: Floats) -> Record:
        return record(NAME, method, n_train=n_train, length=budget, metric=metric, values=values)

    scores = {
        name: {metric: np.concatenate([row.scores[metric] for row in found]) for metric in METRICS}
        for name, found in rows.items()
    }
    found = [of(method, metric, values) for method, one in scores.items() for metric, values in one.items()]
    if PAIRED_WITH not in scores:
        return found
    own = scores[PAIRED_WITH]["rouge1_r"]
    return found + [of(name, LESS, own - one["rouge1_r"]) for name, one in scores.items() if name != PAIRED_WITH]


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


def _official_records(program: Path, source: Source, rows: dict[str, list[Row]], n_train: int) -> list[Record]:
    """Return records of the same summaries, scored by ROUGE-1.5.5 with its own intervals."""
    references = [source.clusters[index].references for _, test in source.parts for index in test]
    at = {"experiment": NAME, "n_train": n_train, "length": source.budget}
    records = []
    for method, found in rows.items():
        texts = [text for row in found for text in row.texts]
        scores = rouge_155(program, texts, references, n_bytes=source.budget)
        records += [
            Record(**at, method=method, metric=OFFICIAL[metric], mean=mean, low=low, high=high)  # type: ignore[typeddict-item]
            for metric, (mean, low, high) in scores.items()
        ]
    return records
