"""Table 1 and figure (c) of the paper: ROUGE of summaries, against other methods and against training clusters.

On DUC the paper trains on the clusters of 2003 and tests on those of 2004; the made-up news reports take its place
elsewhere. Data that names no parts is tested in five folds. The curve takes nested random subsets, a chain per seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.extras import warn
from listwright._internal.parameters import clone
from listwright.baselines import MMR, LearnedDPP, Oracle, SubMod, TopK
from listwright.datasets._fetch import locate
from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.scp import SCP
from listwright.evaluation import compare
from listwright.experiments.records import (
    PAIRED_WITH,
    Record,
    Tuned,
    check_repetitions,
    methods_of,
    per_cent,
    point,
    point_table,
    points,
    record,
    repeat,
)
from listwright.problems import Problems
from listwright.report import Figure, ReportTable, Section
from listwright.report.charts import Axis, curves, line_styles
from listwright.simulate.corpus import corpus
from listwright.text.clusters import Cluster
from listwright.text.corpora import PAPER_YEARS, read_clusters, read_parts, shortfalls, splits, usual_budget
from listwright.text.duc import Paths, duc_years, is_duc
from listwright.text.readers import ReadingNote
from listwright.text.scores import METRICS, summary_scores
from listwright.text.summary_problems import (
    paper_summary_features,
    size_limit,
    summary_features,
    summary_problems,
)

N_CLUSTERS = 60  # of the made-up corpus: 40 to train, 20 to test


@dataclass(frozen=True)
class ClusterSource:
    data: str | None = None  # a file or folder with all clusters
    train: tuple[str, ...] = ()  # folders with clusters for training and testing, instead of `data`
    test: tuple[str, ...] = ()
    task: int | None = None  # the task of DUC, if the folders hold several
    n_clusters: int = N_CLUSTERS  # number of made-up clusters, where no data is given

    @classmethod
    def of(
        cls,
        data: Path | str | None = None,
        train: Paths = (),
        test: Paths = (),
        task: int | None = None,
        n_clusters: int = N_CLUSTERS,
    ) -> ClusterSource:
        return cls(None if data is None else str(locate(data)), _as_texts(train), _as_texts(test), task, n_clusters)

    @property
    def clusters(self) -> list[Cluster]:
        return _clusters(self)

    @property
    def problems(self) -> Problems:
        """The clusters as problems, in the same order."""
        return _problems(self)

    @property
    def parts(self) -> list[tuple[Ints, Ints]]:
        return splits(self.clusters)

    @property
    def budget(self) -> int:
        """The length of a summary, in the unit that is usual for the data."""
        return usual_budget(self.clusters).amount

    @property
    def size_limit(self) -> int:
        return size_limit(usual_budget(self.clusters))


@cache
def _clusters(source: ClusterSource) -> list[Cluster]:
    if source.train or source.test:
        return read_parts(source.train, source.test, task=source.task)
    if source.data is not None:
        return read_clusters(source.data, task=source.task, need_references=True)
    return corpus(source.n_clusters)


@cache
def _problems(source: ClusterSource) -> Problems:
    return summary_problems(source.clusters, unit=usual_budget(source.clusters).unit, need_references=True)


def _years(source: ClusterSource) -> tuple[int | None, int | None]:
    """Return the years of DUC that the training and test clusters are from; None where the folders do not say."""
    if source.data is not None:
        years = duc_years(source.data) if Path(source.data).is_dir() and is_duc(Path(source.data)) else []
        return (years[0], years[1]) if tuple(years) == PAPER_YEARS else (None, None)
    parts = (source.train, source.test)
    train, test = (duc_years(paths) if all(Path(path).is_dir() for path in paths) else [] for paths in parts)
    return train[0] if len(train) == 1 else None, test[0] if len(test) == 1 else None


def find_missing(source: ClusterSource) -> list[str]:
    """Return sentences on what the data lacks, compared with a complete year of DUC."""
    sentences: list[str] = []
    for name, year in zip(("train", "test"), _years(source), strict=True):
        sentences += shortfalls([cluster for cluster in source.clusters if cluster.split == name], year, source.task)
    return sentences


def describe(source: ClusterSource) -> DataDescription:
    years = _years(source)
    if all(years):
        task = "" if source.task is None else f", task {source.task}"
        name = f"DUC {years[1]}{task}, after training on DUC {years[0]}"
        return DataDescription(name, years == PAPER_YEARS and source.task == 2, find_missing(source))
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
    "LexRank": TopK("lexrank"),
    "MMR": Tuned({f"{diversity:g}": MMR(diversity) for diversity in DIVERSITIES}),
    "Lead": TopK("inverse_position"),
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
    curve = repeat(_score_subset, [(source, size, seed, curved) for size, seed in points], jobs=jobs)
    by_method = {name: [row for task, row in zip(rows, table, strict=True) if task[1] == name] for name in methods}
    measured = _table_records(by_method, n_train, source.budget)
    return measured + _curve_records(curved, points, np.array(curve), source.budget)


def _score_fold(source: ClusterSource, method: str, fold: int) -> dict[str, Floats]:
    problems, (train, test) = source.problems, source.parts[fold]
    model = clone(METHODS[method])
    settings = {"budget": source.size_limit, "random_state": 0}
    model.set_params(**{name: value for name, value in settings.items() if name in model.get_params()})
    lists = model.fit(problems[train]).predict(problems[test], budget=source.size_limit)
    return summary_scores(lists, [source.clusters[index] for index in test])


def _score_subset(source: ClusterSource, size: int, seed: int, methods: Sequence[str]) -> list[float]:
    train, test = source.parts[seed % len(source.parts)]
    comparison = compare(
        {name: METHODS[name] for name in methods},
        source.problems[train],
        test=source.problems[test],
        budgets=[source.size_limit],
        train_sizes=[size],
        seeds=[seed],
    )
    return comparison.table()["value"].tolist()


def _points(sizes: Sequence[int], n_train: int, seeds: int, n_parts: int) -> list[tuple[int, int]]:
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
    of_size = {size: [index for index, (other, _) in enumerate(points) if other == size] for size, _ in points}
    return [
        record(NAME, method, n_train=size, length=budget, metric=CURVE, values=values[rows, column])
        for size, rows in of_size.items()
        for column, method in enumerate(methods)
    ]


CURVE = "rouge1_r_by_training_clusters"
LESS = "rouge1_r_below_scp"  # how much less a method covers than SCP does, cluster by cluster
ORACLE = "Greedy (Oracle)"
SHOWN = ("rouge1_f", "rouge1_p", "rouge1_r", "rouge2_r", "content_rouge1_r")
AVERAGED = ("rouge1_f", "rouge1_p", "rouge1_r")
POOLED = ("pooled_rouge1_f", "pooled_rouge1_p", "pooled_rouge1_r")

# Table 1 of the paper: ROUGE-1F, 1P, 1R on DUC 2004, and our row of the same method and features.
PAPER = {
    "SubMod": ("SubMod", "37.39", "36.86", "37.99"),
    "DPP": ("DPP", "38.27", "37.87", "38.71"),
    "ConSeqOpt": ("ConSeqOpt, paper's features", "39.02", "39.08", "39.00"),
    "SCP": ("SCP, paper's features", "39.15", "39.16", "39.17"),
    "Oracle": (ORACLE, "44.92", "45.14", "45.24"),
}


class DataDescription(NamedTuple):
    name: str
    of_the_paper: bool = False  # whether it is the paper's own, so that scores can be compared with its Table 1
    missing: Sequence[str] = ()  # sentences on what is missing from it


def section(records: Sequence[Record], **source: Any) -> Section:
    """Return the section of a report; the source is that of `run`."""
    described = describe(ClusterSource.of(**source))
    parts: list[Figure | ReportTable] = [_table(records)]
    if any(record["metric"] == LESS for record in records):
        parts.append(_differences(records))
    parts.append(_beside_the_paper(records, described))
    if len({record["n_train"] for record in records if record["metric"] == CURVE}) > 1:
        parts.append(Figure("summaries-training", _curve(records), _CURVE_CAPTION))
    return Section("Summaries: which sentences to take", _setup(records, described), parts)


def findings(records: Sequence[Record], **source: Any) -> str:
    """Return one paragraph: ROUGE-1R of each method, best first, then of the oracle; the source is that of `run`."""
    described = describe(ClusterSource.of(**source))
    n_train, budget = _at(records)
    scores = {
        method: point(records, method, n_train=n_train, length=budget, metric="rouge1_r")["mean"]
        for method in methods_of(records)
    }
    ranked = sorted((name for name in scores if name != ORACLE), key=lambda name: -scores[name])
    numbers = ", ".join(f"{name} {per_cent(scores[name])}" for name in ranked)
    oracle = f"; the oracle that sees the references reaches {per_cent(scores[ORACLE])}" if ORACLE in scores else ""
    return f"{described.name}: ROUGE-1R of {budget} bytes after {n_train} training clusters: {numbers}{oracle}."


def _table(records: Sequence[Record]) -> ReportTable:
    n_train, budget = _at(records)
    columns = {METRICS[metric]: {"n_train": n_train, "length": budget, "metric": metric} for metric in SHOWN}
    caption = _TABLE_CAPTION.format(budget=budget, n_train=n_train)
    show = partial(points, sign="")
    return point_table(records, methods_of(records), columns, cell=show, caption=caption, bold=[PAIRED_WITH])


def _differences(records: Sequence[Record]) -> ReportTable:
    n_train, budget = _at(records)
    rivals = [method for method in methods_of(records) if method not in (PAIRED_WITH, ORACLE)]
    columns = {"ROUGE-1R below SCP": {"n_train": n_train, "length": budget, "metric": LESS}}
    return point_table(records, rivals, columns, cell=points, caption=_LESS_CAPTION)


def _beside_the_paper(records: Sequence[Record], described: DataDescription) -> ReportTable:
    n_train, budget = _at(records)
    measured, rows = methods_of(records), []
    for name, (ours, *paper) in PAPER.items():
        if ours in measured:
            metrics = (*AVERAGED, *POOLED)
            means = [point(records, ours, n_train=n_train, length=budget, metric=metric)["mean"] for metric in metrics]
            rows.append([name, *(f"{100 * mean:.2f}" for mean in means), *paper])
    columns = [f"{kind}{letter}" for kind in ("", "pooled ", "paper ") for letter in ("F", "P", "R")]
    caption = _SAME_CAPTION if described.of_the_paper else _OTHER_CAPTION
    return ReportTable(["method", *columns], rows, caption + _HOW_CAPTION)


def _curve(records: Sequence[Record]) -> Any:
    shown = [record for record in records if record["metric"] == CURVE]
    x, y = Axis("n_train", "training clusters", log=True), Axis("mean", "ROUGE-1R", ".0%")
    return curves(shown, x=x, y=y, methods=line_styles(methods_of(shown)))


def _at(records: Sequence[Record]) -> tuple[int, int]:
    return max(record["n_train"] for record in records), records[0]["length"]


def _setup(records: Sequence[Record], described: DataDescription) -> str:
    n_train, budget = _at(records)
    missing = f" What was found is not all of it: {' '.join(described.missing)}" if described.missing else ""
    return (
        f"{described.name}. A summary takes whole sentences of a cluster of documents, {budget} bytes at most with "
        f"spaces; all methods skip what no longer fits. Methods learn from {n_train} clusters with summaries by people "
        "and are scored on others. SCP and ConSeqOpt see the paper's features and how many new words of a summary by "
        "people a sentence is expected to bring, which is learned from the training clusters too; beside them, the "
        "same with the paper's features alone and its reduction to ranking. The parameters of SubMod, DPP and MMR are "
        f"chosen on the training clusters.{missing}"
    )


_TABLE_CAPTION = (
    "ROUGE in per cent with stems, function words kept, averaged over references, {budget} bytes, {n_train} training "
    "clusters; the 95 % interval is over test clusters. Content: function words left out. The oracle sees the "
    "references."
)
_LESS_CAPTION = (
    "Points of ROUGE-1R below SCP on the same clusters, with the 95 % interval of the mean difference. Above 0, SCP "
    "covers more."
)
_SAME_CAPTION = "Table 1 of the paper, on the paper's own data: trained on DUC 2003, tested on DUC 2004, 665 bytes. "
_OTHER_CAPTION = (
    "Table 1 of the paper, which is on other data (trained on DUC 2003, tested on DUC 2004, 665 bytes), beside the "
    "same methods here: scores on different data cannot be compared. "
)
_HOW_CAPTION = (
    "ROUGE-1 F, P and R: averaged over references; pooled, which adds up the counts of all references but one and "
    "averages over which one that is (jackknife); and as the paper prints them, where SCP's have ± 0.15 and "
    "ConSeqOpt's ± 0.07 to 0.12. SCP and ConSeqOpt see the paper's features."
)
_CURVE_CAPTION = (
    "Mean over random subsets of the training clusters, with the 95 % interval of that mean. Click a name to pick it "
    "out."
)
