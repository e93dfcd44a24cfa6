"""Table 1 and figure (c) of the paper: ROUGE of summaries, and ROUGE-1R against the number of training clusters.

The budget counts bytes with spaces; every method skips what no longer fits, until nothing fits. SCP and ConSeqOpt see
the paper's features and expected coverage; with the paper's features alone they use its reduction to ranking. The
parameters of SubMod, DPP and MMR are set on the training clusters. The table has each test cluster once: the official
test part, or five folds. Intervals are over test clusters in the table, and over random subsets of the training
clusters in the figure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright.baselines import MMR, LearnedDPP, Oracle, SubMod
from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.scp import SCP
from listwright.evaluation.values import list_values
from listwright.lab.experiments.choosing import Chosen
from listwright.lab.experiments.records import PAIRED_WITH, Record, interval
from listwright.lab.experiments.summaries_section import CURVE, LESS, findings, section
from listwright.lab.experiments.tasks import Tick, check_repetitions, quiet, repeat
from listwright.lab.simulate.corpus import corpus
from listwright.problems import Problems
from listwright.summarize.data import read_clusters, splits, usual_budget
from listwright.summarize.orders import Lead, LexRank
from listwright.summarize.problems import paper_features, room_of, summary_features, summary_problems
from listwright.summarize.scores import METRICS, summary_scores
from listwright.text.clusters import Cluster

__all__ = ["METHODS", "SIZES", "findings", "run", "section"]

NAME = "summaries"
SIZES = (3, 8, 20)  # and all there are
N_CLUSTERS = 60  # of the made-up corpus: 40 to train, 20 to test
DIVERSITIES = (0.1, 0.3, 0.5, 0.7)
PASSES = 4  # of SCP and ConSeqOpt over the training clusters, where they see expected coverage


def _mmr(room: float) -> Chosen:
    def option(diversity: float) -> Callable[[], Any]:
        return lambda: MMR(diversity)

    return Chosen({f"{diversity:g}": option(diversity) for diversity in DIVERSITIES}, room)


def _full(room: float) -> dict[str, Any]:
    return {"budget": room, "features": summary_features(), "n_passes": PASSES, "random_state": 0}


def _papers(room: float) -> dict[str, Any]:
    return {"budget": room, "features": paper_features(), "learner": "hinge_rank", "random_state": 0}


METHODS: dict[str, Callable[[float], Any]] = {
    "SCP": lambda room: SCP(**_full(room)),
    "ConSeqOpt": lambda room: ConSeqOpt(**_full(room), weighting="uniform"),
    "SCP, paper's features": lambda room: SCP(**_papers(room)),
    "ConSeqOpt, paper's features": lambda room: ConSeqOpt(**_papers(room), weighting="uniform"),
    "SubMod": lambda room: SubMod(budget=room),
    "DPP": lambda room: LearnedDPP(budget=room),
    "LexRank": lambda room: LexRank(budget=room),
    "MMR": _mmr,
    "Lead": lambda room: Lead(budget=room),
    "Greedy (Oracle)": lambda room: Oracle(),
}
LEARNED = ("SCP", "ConSeqOpt", "SubMod", "DPP")


def run(
    *,
    data: Path | None = None,
    seeds: int = 10,
    jobs: int = 1,
    tick: Tick = quiet,
    sizes: Sequence[int] = SIZES,
    methods: Sequence[str] = tuple(METHODS),
    n_clusters: int = N_CLUSTERS,
) -> list[Record]:
    """ROUGE of every method after all training clusters, and ROUGE-1R of the learned ones after a few of them."""
    check_repetitions(seeds)
    source = _Source(None if data is None else str(data), n_clusters)
    parts, n_train = source.parts, min(len(train) for train, _ in source.parts)
    rows = [(method, fold) for method in methods for fold in range(len(parts))]
    points = _points(sizes, n_train, seeds, len(parts))
    table = repeat(_one_row, [(source, *row) for row in rows], jobs=jobs, tick=_share(tick, rows, points))
    curved = [method for method in LEARNED if method in methods]
    tasks = [(source, size, seed, tuple(curved)) for size, seed in points]
    curve = repeat(_one_point, tasks, jobs=jobs, tick=_share(tick, rows, points, before=len(rows)))
    values = dict(zip(points, curve, strict=True))
    return [
        *_table_records(_by_method(dict(zip(rows, table, strict=True))), n_train, source.budget),
        *(
            _record(
                method, size, source.budget, CURVE, np.array([one[i] for (n, _), one in values.items() if n == size])
            )
            for size in dict.fromkeys(size for size, _ in points)
            for i, method in enumerate(curved)
        ),
    ]


def _points(sizes: Sequence[int], n_train: int, seeds: int, n_parts: int) -> list[tuple[int, int]]:
    """(size, seed) of each subset to train on. All clusters are the same subset again: once a fold says it all."""
    some = [(size, seed) for size in sorted(set(sizes)) if size < n_train for seed in range(seeds)]
    return some + [(n_train, seed) for seed in range(min(seeds, n_parts))]


@dataclass(frozen=True)
class _Source:
    """Where clusters are from. It is small, so that processes can be told; what it stands for is read once in each."""

    data: str | None
    n_clusters: int

    @property
    def clusters(self) -> list[Cluster]:
        return _clusters(self.data, self.n_clusters)

    @property
    def problems(self) -> Problems:
        return _problems(self.data, self.n_clusters)

    @property
    def parts(self) -> list[tuple[Ints, Ints]]:
        return splits(self.clusters)

    @property
    def budget(self) -> int:
        return usual_budget(self.clusters).amount

    @property
    def room(self) -> int:
        return room_of(usual_budget(self.clusters))


@cache
def _clusters(data: str | None, n_clusters: int) -> list[Cluster]:
    return corpus(n_clusters) if data is None else read_clusters(data, need_references=True)


@cache
def _problems(data: str | None, n_clusters: int) -> Problems:
    clusters = _clusters(data, n_clusters)
    return summary_problems(clusters, unit=usual_budget(clusters).unit, need_references=True)


def _one_row(source: _Source, method: str, fold: int) -> dict[str, Floats]:
    """Scores of the test clusters of one fold."""
    problems, (train, test) = source.problems, source.parts[fold]
    lists = METHODS[method](source.room).fit(problems[train]).predict(problems[test], budget=source.room)
    return summary_scores(lists, [source.clusters[index] for index in test])


def _one_point(source: _Source, size: int, seed: int, methods: Sequence[str]) -> list[float]:
    """Mean ROUGE-1R after training on one subset. Subsets of one seed are nested, and seeds take folds in turn."""
    problems, room = source.problems, source.room
    train, test = source.parts[seed % len(source.parts)]
    chosen = np.random.default_rng([seed, 7]).permutation(train)[:size]
    models = [METHODS[method](room).fit(problems[chosen]) for method in methods]
    return [float(list_values(model.predict(problems[test], budget=room), problems[test]).mean()) for model in models]


def _by_method(scores: dict[tuple[str, int], dict[str, Floats]]) -> dict[str, dict[str, Floats]]:
    """Folds one after the other, the same order for all methods."""
    return {
        method: {
            metric: np.concatenate([one[metric] for (name, _), one in scores.items() if name == method])
            for metric in METRICS
        }
        for method in dict.fromkeys(method for method, _ in scores)
    }


def _table_records(scores: dict[str, dict[str, Floats]], n_train: int, budget: int) -> list[Record]:
    found = [
        _record(method, n_train, budget, metric, values)
        for method, one in scores.items()
        for metric, values in one.items()
    ]
    if PAIRED_WITH not in scores:
        return found
    own = scores[PAIRED_WITH]["rouge1_r"]
    others = {method: one["rouge1_r"] for method, one in scores.items() if method != PAIRED_WITH}
    return found + [_record(method, n_train, budget, LESS, own - values) for method, values in others.items()]


def _record(method: str, n_train: int, budget: int, metric: str, values: Floats) -> Record:
    mean, low, high = (None if number is None else round(number, 6) for number in interval(values))
    assert mean is not None
    return Record(
        experiment=NAME, method=method, n_train=n_train, length=budget, metric=metric, mean=mean, low=low, high=high
    )


def _share(tick: Tick, rows: Sequence[Any], points: Sequence[Any], *, before: int = 0) -> Tick:
    """Counts the progress of the table or of the curve into the whole."""
    return lambda done, _: tick(before + done, len(rows) + len(points))
