"""Planned trials against simulated ones: after how many lists the sequential test ends, and after how many `plan` says.

Settings are drawn at random: visitors, how often they click, both models, how the log was drawn, and the share of the
candidate. A log of today's policy is all that `plan` sees, once with the true difference named, once without. Trials
show whole lists of the candidate to its share of the visitors and look at the test after every fifth list.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

import listwright as lw
from benchmarks.feedback.world import Array, Visitors, visitors
from listwright.features.auto import paper_features
from listwright.feedback import EvidenceWarning, Log, plan
from listwright.feedback.explore import Epsilon
from listwright.feedback.planning import SequentialTest

SETTINGS = 40
TRIALS = 25  # of each setting
LISTS = 10_000  # of the log
MOST = 15_000  # planned lists of the settings that are tried
LATE = 3  # times the plan, after which a trial is given up
LOOK = 5  # lists between two looks at the test
FACTOR = 1.5


def compare_plans(settings: int = SETTINGS) -> dict[str, Any]:
    """One entry per setting that was tried, and how many were drawn."""
    planned, drawn = [], 0
    while len(planned) < settings:
        record = setting(drawn)
        drawn += 1
        planned += [record] if record else []
    return {"settings": planned, "drawn": drawn, "trials": TRIALS, "lists": LISTS}


def setting(seed: int) -> dict[str, Any] | None:
    """The plan of one setting and its trials; None if the plan is too long to try, or for no number of lists."""
    rng = np.random.default_rng([seed, 35])
    length, candidates = int(rng.choice([1, 3, 5])), int(rng.choice([10, 30]))
    clicks, scale = str(rng.choice(["position", "cascade"])), float(np.exp(rng.uniform(np.log(0.1), 0.0)))
    drawn = visitors(4000, candidates, rng)
    people = replace(drawn, appeal=scale * drawn.appeal)
    old, new = (_model(length, candidates, int(rng.choice([20, 60, 400])), rng) for _ in range(2))
    explore = Epsilon(float(rng.choice([0.3, 1.0])))
    today = lw.OnlineSCP.from_model(old, explore=explore, random_state=seed, memory=0, cascade=clicks == "cascade")
    which = rng.integers(len(people.problems), size=LISTS)
    log, shown = _log(people.take(which), today, clicks, rng)
    chances = _chances(people, new.predict(people.problems).rows, clicks)
    pools = _chances(people.take(which), shown, clicks), chances
    worth = [float(_clicks(pool, clicks, None).mean()) for pool in pools]
    share = float(rng.uniform(0.1, 0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        named = plan(log, new, loss_budget=share * worth[0], difference=worth[1] - worth[0])
        guessed = plan(log, new, loss_budget=share * worth[0])
    if named.n_lists is None or named.n_lists > MOST:
        return None
    trials = [_trial(pools, clicks, named.share, LATE * named.n_lists, rng) for _ in range(TRIALS)]
    better = "roll out" if worth[1] > worth[0] else "do not roll out"
    return {
        "setting": f"{length} of {candidates}, {explore!r}, {clicks}, {scale:.2f}",
        "today": worth[0],
        "candidate": worth[1],
        "share": named.share,
        "planned": named.n_lists,
        "planned without the difference": guessed.n_lists,
        "seen": float(np.quantile([lists for lists, _ in trials], 0.8)),
        "right": sum(verdict == better for _, verdict in trials),
        "wrong": sum(verdict not in (better, "cannot tell") for _, verdict in trials),
    }


def _model(length: int, candidates: int, problems: int, rng: np.random.Generator) -> lw.SCP:
    seen = visitors(problems, candidates, rng)
    reward = lw.rewards.AnySuccess((rng.random(seen.appeal.shape) < seen.appeal).astype(float))
    model = lw.SCP(length, features=paper_features(), effort="fast", random_state=0)
    return model.fit(seen.problems.with_reward(reward))


def _chances(people: Visitors, rows: Any, clicks: str) -> Array:
    """(lists, positions): the chance of each click, had nothing before it been clicked."""
    return people.chances(rows, clicks)


def _clicks(chances: Array, clicks: str, rng: np.random.Generator | None) -> Array:
    """What came back for lists, by list; without a generator what is to be expected."""
    if rng is None:
        return chances.sum(axis=1) if clicks == "position" else 1.0 - np.prod(1.0 - chances, axis=1)
    drawn = rng.random(chances.shape) < chances
    return drawn.sum(axis=1).astype(float) if clicks == "position" else drawn.any(axis=1).astype(float)


def _log(people: Visitors, policy: lw.OnlineSCP, clicks: str, rng: np.random.Generator) -> tuple[Log, Any]:
    lists = policy.recommend(people.problems, list_ids=[str(i) for i in range(len(people.problems))])
    outcomes = (rng.random(lists.rows.shape) < people.chances(lists.rows, clicks)).astype(float)
    if clicks == "cascade":
        outcomes *= np.cumsum(outcomes, axis=1) == 1
    log = Log(cascade=clicks == "cascade")
    log.append(lists)
    log.feedback(lists.list_ids, outcomes)
    return log, lists.rows


def _trial(
    pools: tuple[Array, Array], clicks: str, share: float, most: int, rng: np.random.Generator
) -> tuple[int, str]:
    """After how many lists a trial ended, and how."""
    candidate = rng.random(most) < share
    old, new = (_clicks(pool[rng.integers(len(pool), size=most)], clicks, rng) for pool in pools)
    test, values = SequentialTest(), np.where(candidate, new, old)
    weights = (candidate / share - 1.0) / (1.0 - share)
    for i in range(most):
        test.add(weights[i : i + 1], values[i : i + 1], unit=i)
        if i % LOOK == 0 and test.verdict != "cannot tell":
            return i + 1, test.verdict
    return most, "cannot tell"


def within(planned: float | None, seen: float) -> bool:
    """Whether a plan foretold what was seen."""
    return planned is not None and planned / FACTOR <= seen <= FACTOR * planned
