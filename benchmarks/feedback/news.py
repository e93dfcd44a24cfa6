"""News readers: learning from first clicks against learning from everything."""

from __future__ import annotations

from typing import Any

import numpy as np

import listwright as lw
from benchmarks.feedback.playing import play
from listwright.evaluation.values import list_values
from listwright.experiments.records import CandidateByContext
from listwright.features import Candidate, Distance, Features, Position
from listwright.feedback.bandit import ListBandit
from listwright.simulate.news import News, news

LENGTH = 5


def features() -> Features:
    """What the news experiment of the paper uses."""
    return Candidate() + CandidateByContext() + Distance() + Position()


def stream(world: News, count: int, seed: int) -> tuple[lw.Problems, lw.Problems]:
    """Visits of all readers in a random order: with drawn clicks, and with their probabilities."""
    each = -(-count // world.n_users)
    order = np.random.default_rng([seed, 1]).permutation(each * world.n_users)[:count]
    readers = np.arange(world.n_users)
    drawn, valued = (
        world.visits(readers, per_user=each, sampled=sampled, random_state=np.random.default_rng([seed, 2]))[order]
        for sampled in (True, False)
    )
    return drawn, valued


def learners(seed: int) -> dict[str, ListBandit]:
    """Everybody sees the first click alone."""
    own: dict[str, Any] = {"cascade": True, "random_state": seed}
    return {
        "OnlineSCP, inverse gap weighting": lw.OnlineSCP(LENGTH, features=features(), **own),
        "OnlineSCP, one slot explores": lw.OnlineSCP(LENGTH, features=features(), slots="one", **own),
        "OnlineSCP, epsilon": lw.OnlineSCP(LENGTH, features=features(), explore="epsilon", **own),
        "OnlineSCP, exp3": lw.OnlineSCP(LENGTH, explore="exp3", **own),
        "LSBGreedy": lw.feedback.LSBGreedy(LENGTH, **own),
        "ranked bandits": lw.feedback.RankedBandits(LENGTH, **own),
    }


def failures(seed: int, *, visits: int = 2000, tested: int = 1500) -> dict[str, dict[str, float]]:
    """How often there is no click after so many visits: on new visits without exploration, and as played at the end."""
    world = news(random_state=seed)
    drawn, valued = stream(world, visits, seed)
    test = stream(world, tested, seed + 1000)[1]
    full = lw.SCP(LENGTH, features=features(), effort="fast", random_state=seed).fit(drawn)
    static = lw.baselines.StaticList(LENGTH).fit(drawn)
    rates = {
        "SCP, full information": {"tested": 1.0 - full.score(test)},
        "static list in hindsight": {"tested": 1.0 - static.score(test)},
    }
    for name, learner in learners(seed).items():
        played = play(learner, drawn, valued)[-visits // 4 :]
        tested_value = list_values(learner.predict(test), test).mean()
        rates[name] = {"tested": 1.0 - float(tested_value), "played": 1.0 - float(played.mean())}
    return rates


def regret(seed: int, *, visits: int = 20_000) -> dict[str, Any]:
    """Cumulative regret against SCP with full information of all the visits, and its slope on log-log axes."""
    world = news(random_state=seed)
    drawn, valued = stream(world, visits, seed)
    rival = lw.SCP(LENGTH, features=features(), effort="fast", n_passes=3, random_state=seed).fit(drawn)
    learner = lw.OnlineSCP(LENGTH, features=features(), cascade=True, random_state=seed)
    lost = list_values(rival.predict(valued), valued) - play(learner, drawn, valued)
    total = np.cumsum(lost)
    marks = [visits // 2**k for k in range(5, -1, -1)]
    halves = [float(np.log2(total[mark - 1] / total[mark // 2 - 1])) for mark in marks[-3:]]
    later = np.arange(visits // 10, visits)
    return {
        "visits": marks,
        "regret": [float(total[mark - 1]) for mark in marks],
        "regret per visit": [float(total[mark - 1] / mark) for mark in marks],
        "slope of the last three doublings": halves,
        "slope from a tenth on": float(np.polyfit(np.log(later + 1), np.log(total[later]), 1)[0]),
    }
