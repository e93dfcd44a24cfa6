"""Figure (b) of the paper: how often a reader clicks on nothing, against the number of recommendations.

Five folds of users: 15 to test, and of the others 40 to train and 20 to choose each learned method's penalty. Learned
methods are fitted, and their penalty is chosen, for each number of recommendations. Training
visits show drawn clicks; validation and testing use the probabilities themselves, which has less noise. A seed is a
population of its own: users, articles and visits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright.baselines import Oracle, Random, StaticList
from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.scp import SCP
from listwright.features import Candidate, Distance, Features, Position
from listwright.lab.experiments.crossed import CandidateByContext
from listwright.lab.experiments.curves import Method, failure_by_length, failures
from listwright.lab.experiments.records import Record, records_of
from listwright.lab.experiments.regression import Regression
from listwright.lab.experiments.tasks import Tick, check_repetitions, quiet, repeat
from listwright.lab.experiments.wording import compared, drawn, excess_table, failure_table
from listwright.lab.report import Figure, Section, Table
from listwright.lab.report.charts import Axis, curves
from listwright.lab.simulate.news import News, news
from listwright.learners import RidgeLeader
from listwright.lists import Lists
from listwright.problems import Problems

NAME = "news"
FOLDS, N_TRAIN, N_VALID, N_TEST = 5, 40, 20, 15
LENGTH = 5
LENGTHS = range(1, LENGTH + 1)
PENALTIES = (1.0, 10.0, 100.0, 1000.0)
PASSES = 3  # of SCP and ConSeqOpt over the training visits
VISITS = 3  # of each training user
CHECKED_VISITS = 20  # of each user for validation and for testing


def _features() -> Features:
    """The paper's list features, with the article's topics crossed with the context."""
    return Candidate() + CandidateByContext() + Distance() + Position()


def _settings(penalty: float) -> dict[str, Any]:
    return {"features": _features(), "learner": RidgeLeader(penalty), "n_passes": PASSES, "random_state": 0}


LEARNED: dict[str, Callable[[int, float], Method]] = {
    "SCP": lambda length, penalty: SCP(length, **_settings(penalty)),
    "ConSeqOpt": lambda length, penalty: ConSeqOpt(length, weighting="uniform", **_settings(penalty)),
    "Regression": lambda length, penalty: Regression(length, Candidate() + CandidateByContext(), penalty),
}
OTHERS: dict[str, Callable[[int, int], Method]] = {
    "Static list": lambda seed, length: StaticList(length),
    "Random": lambda seed, length: Random(length, random_state=seed),
    "Oracle": lambda seed, length: Oracle(length),
}


def run(
    *, data: Path | None = None, seeds: int = 10, jobs: int = 1, tick: Tick = quiet, folds: int = FOLDS
) -> list[Record]:
    """Failure of every method for one to five recommendations; the interval is over folds of all populations."""
    check_repetitions(seeds)
    tasks = [(seed, fold) for seed in range(seeds) for fold in range(folds)]
    found = np.array(repeat(_one, tasks, jobs=jobs, tick=tick))
    return records_of(NAME, [*LEARNED, *OTHERS], N_TRAIN, found)


def _one(seed: int, fold: int) -> Floats:
    """(methods, lengths): failure on the test users of one fold."""
    world = news(n_users=FOLDS * N_TEST, random_state=seed)
    train, valid, test = _visits(world, seed, fold)
    learned = [failure_by_length(partial(_Validated, make, valid), LENGTHS, train, test) for make in LEARNED.values()]
    others = [failure_by_length(partial(make, seed), [LENGTH], train, test) for make in OTHERS.values()]
    return np.stack(learned + others)


@dataclass
class _Validated:
    """A learned method for lists of one length, with the penalty that fails least on the validation users."""

    make: Callable[[int, float], Method]
    valid: Problems
    length: int

    def fit(self, problems: Problems) -> Self:
        """Fits one for every penalty."""
        fitted = [self.make(self.length, penalty).fit(problems) for penalty in PENALTIES]
        self.method_ = min(fitted, key=lambda one: float(failures(one.predict(self.valid), self.valid).mean()))
        return self

    def predict(self, problems: Problems) -> Lists:
        """Of the one that was picked."""
        return self.method_.predict(problems)


def split(seed: int, fold: int) -> tuple[Ints, Ints, Ints]:
    """Users to train, to validate and to test. Over the folds every user is tested once.

    >>> [len(users) for users in split(0, 4)]
    [40, 20, 15]
    """
    order = np.random.default_rng([seed, 1]).permutation(FOLDS * N_TEST)
    test = order[fold * N_TEST : (fold + 1) * N_TEST]
    rest = order[~np.isin(order, test)]
    return rest[:N_TRAIN], rest[N_TRAIN : N_TRAIN + N_VALID], test


def _visits(world: News, seed: int, fold: int) -> tuple[Problems, Problems, Problems]:
    rng = np.random.default_rng([seed, fold, 2])
    train, valid, test = split(seed, fold)
    checked = [world.visits(users, per_user=CHECKED_VISITS, sampled=False, random_state=rng) for users in (valid, test)]
    return world.visits(train, per_user=VISITS, random_state=rng), checked[0], checked[1]


def section(records: list[Record], *, data: Path | None = None) -> Section:
    """A chart against the number of recommendations, and a table."""
    shown, looks = drawn(records)
    chart = curves(shown, x=Axis("length", "recommendations"), y=Axis("mean", "no click", ".0%"), methods=looks)
    parts: list[Figure | Table] = [
        Figure("news", chart, _CAPTION),
        failure_table(records, n_train=N_TRAIN, caption="No click, in per cent, by number of recommendations."),
        excess_table(records, n_train=N_TRAIN, lengths=(1, 3, LENGTH), caption=_EXCESS_CAPTION),
    ]
    return Section("News: which articles to recommend", SETUP, parts)


def findings(records: Sequence[Record], *, data: Path | None = None) -> str:
    """One paragraph in numbers."""
    length = max(record["length"] for record in records)
    return (
        f"Simulated readers: the probability of no click on any of {length} recommendations, after learning from "
        f"{N_TRAIN} other readers: "
        f"{compared(records, n_train=N_TRAIN, length=length)}."
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
_EXCESS_CAPTION = (
    "How much more often there is no click than with SCP, in points, with the 95 % interval of the difference over "
    "folds."
)
