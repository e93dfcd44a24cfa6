"""Figure (b) of the paper: how often a reader clicks on nothing, against the number of recommendations.

Five folds of users: 15 to test, and of the others 40 to train and 20 to choose each learned method's penalty, which is
chosen for each number of recommendations. SCP is also fitted for each of them. Training visits show drawn clicks;
validation and testing use the probabilities themselves, which has less noise. A seed is a population of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright.baselines import Oracle, Random, StaticList
from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.scp import SCP
from listwright.evaluation import compare
from listwright.evaluation.values import highest
from listwright.experiments.records import (
    CandidateByContext,
    Record,
    Regression,
    chart_records,
    check_repetitions,
    describe_failures,
    excess_table,
    failure_table,
    methods_of,
    records_of,
    repeat,
)
from listwright.features import Candidate, Distance, Position
from listwright.learners import RidgeFTRL
from listwright.problems import Problems
from listwright.report import Figure, ReportTable, Section
from listwright.report.charts import Axis, curves
from listwright.simulate.news import News, news

NAME = "news"
FOLDS, N_TRAIN, N_VALID, N_TEST = 5, 40, 20, 15
LENGTH = 5
LENGTHS = tuple(range(1, LENGTH + 1))
PENALTIES = (1.0, 10.0, 100.0, 1000.0)
PASSES = 3  # of SCP and ConSeqOpt over the training visits
VISITS = 3  # of each training user
CHECKED_VISITS = 20  # of each user for validation and for testing


def _learning_methods(penalty: float) -> dict[str, Any]:
    features = Candidate() + CandidateByContext() + Distance() + Position()
    settings: dict[str, Any] = {"features": features, "learner": RidgeFTRL(penalty), "n_passes": PASSES}
    return {
        "SCP": SCP(effort="fast", **settings),
        "ConSeqOpt": ConSeqOpt(weighting="uniform", **settings),
        "Regression": Regression(features=Candidate() + CandidateByContext(), penalty=penalty),
    }


OTHERS: dict[str, Any] = {"Static list": StaticList(), "Random": Random(), "Oracle": Oracle()}
METHODS = (*_learning_methods(1.0), *OTHERS)


def run(*, data: Path | None = None, seeds: int = 10, jobs: int = 1, folds: int = FOLDS) -> list[Record]:
    """Measure the failure of every method for one to five recommendations."""
    check_repetitions(seeds)
    tasks = [(seed, fold) for seed in range(seeds) for fold in range(folds)]
    failures = np.stack(repeat(_run_fold, tasks, jobs=jobs), axis=2)
    return records_of(NAME, METHODS, N_TRAIN, LENGTHS, failures)


def _run_fold(seed: int, fold: int) -> Floats:
    world = news(n_users=FOLDS * N_TEST, random_state=seed)
    train, valid, test = _visits(world, seed, fold)
    both = Problems.concat([valid, test])
    learned = []
    for name in _learning_methods(1.0):
        options = {f"{penalty:g}": _learning_methods(penalty)[name] for penalty in PENALTIES}
        worth = _worth(options, train, both, seed, refit_lengths=name == "SCP")
        best = [highest(list(worth[:, at, : len(valid)])) for at in range(LENGTH)]
        learned.append(worth[best, range(LENGTH), len(valid) :])
    return 1.0 - np.concatenate([learned, _worth(OTHERS, train, test, seed)]).mean(axis=2)


def _worth(
    methods: dict[str, Any], train: Problems, test: Problems, seed: int, *, refit_lengths: bool = False
) -> Floats:
    comparison = compare(methods, train, test=test, lengths=LENGTHS, seeds=[seed], refit_lengths=refit_lengths)
    return comparison.values["value"].reshape(len(methods), LENGTH, len(test))


def split(seed: int, fold: int) -> tuple[Ints, Ints, Ints]:
    """Return the users for training, validation and testing. Over the folds every user is tested once."""
    order = np.random.default_rng([seed, 1]).permutation(FOLDS * N_TEST)
    test = order[fold * N_TEST : (fold + 1) * N_TEST]
    rest = order[~np.isin(order, test)]
    return rest[:N_TRAIN], rest[N_TRAIN : N_TRAIN + N_VALID], test


def _visits(world: News, seed: int, fold: int) -> tuple[Problems, Problems, Problems]:
    """Return the visits for training (drawn clicks), validation and testing (click probabilities) as problems."""
    rng = np.random.default_rng([seed, fold, 2])
    train, valid, test = split(seed, fold)
    checked = [world.visits(users, per_user=CHECKED_VISITS, sampled=False, random_state=rng) for users in (valid, test)]
    return world.visits(train, per_user=VISITS, random_state=rng), checked[0], checked[1]


def section(records: list[Record], *, data: Path | None = None) -> Section:
    shown, line_styles = chart_records(records)
    chart = curves(shown, x=Axis("length", "recommendations"), y=Axis("mean", "no click", ".0%"), methods=line_styles)
    parts: list[Figure | ReportTable] = [
        Figure("news", chart, _CAPTION),
        failure_table(records, METHODS, n_train=N_TRAIN, caption=_FAILURE_CAPTION),
        excess_table(records, METHODS, n_train=N_TRAIN, lengths=(1, 3, LENGTH), caption=_EXCESS_CAPTION),
    ]
    return Section("News: which articles to recommend", SETUP, parts)


def findings(records: Sequence[Record], *, data: Path | None = None) -> str:
    length = max(record["length"] for record in records)
    failures = describe_failures(records, methods_of(records), n_train=N_TRAIN, length=length)
    return (
        f"Simulated readers: the probability of no click on any of {length} recommendations, after learning from "
        f"{N_TRAIN} other readers: {failures}."
    )


SETUP = (
    "Each reader has a linear preference over the topics of articles, and all that is known of a visitor is a "
    "corrupted membership in groups of like-minded readers; so a good list hedges between what the visitor may like. "
    f"Methods learn from the clicks in {VISITS} visits of each of {N_TRAIN} readers, and recommend articles to readers "
    "that they have never met."
)
_CAPTION = (
    "Mean over five folds of each population, with the 95 % interval of that mean. Learned methods are fitted for each "
    "number of recommendations, with the penalty that does best on validation users. Oracle knows the click "
    "probabilities. How far apart the methods are depends on how much of the context is noise: here half."
)
_FAILURE_CAPTION = "No click, in per cent, by number of recommendations."
_EXCESS_CAPTION = (
    "How much more often there is no click than with SCP, in points, with the 95 % interval of the difference over "
    "folds."
)
