"""Off-policy estimates where clicks are rare: coverage, width and verdicts by click rate, logging policy and list size.

Every list has the same items, each with an appeal of its own, scaled so that a shown item is clicked at the rate of the
cell. The policy asked about draws half of its slots as the log does, and half in proportion to what it likes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import listwright as lw
from listwright.feedback import EvidenceWarning, Log, evaluate
from listwright.feedback.answered import AnsweredLists
from listwright.feedback.off_policy.targets import OwnLists, Target

RATES = (0.002, 0.01, 0.05, 0.2)
LOGGERS = ("uniform", "plackett-luce", "epsilon")
SIZES = ((3, 10), (5, 50))
LISTS = 1000
LOGS = 200
LOW, AGAIN = 0.93, 5
EPSILON = 0.25
DRAWS = 10  # lists of the policy per visitor
Array = NDArray[np.float64]


def rare_events(
    keep: Callable[[list[dict[str, Any]]], None], known: list[dict[str, Any]], logs: int = LOGS, workers: int = 2
) -> list[dict[str, Any]]:
    """One entry per cell: by estimator coverage and width of the intervals given, and the verdicts of `switch`.

    `keep` is called after each cell, and cells that are `known` are not computed again. Cells in which an estimator
    covers less than `LOW` are measured once more with five times as many logs, to tell chance from a fault. Cells
    of older code (`"older"`) are computed again one by one, and stay in the table until then.
    """
    there = {(record["rate"], record["logger"], (record["length"], record["items"])): record for record in known}
    wanted = [(rate, logger, size) for size, logger, rate in product(SIZES, LOGGERS, RATES)]
    with ProcessPoolExecutor(workers) as pool:
        missing = [which for which in wanted if which not in there or there[which].get("older")]
        futures = {which: pool.submit(cell, *which, LISTS, logs) for which in missing}
        for which, future in futures.items():
            there[which] = future.result()
            keep([there[key] for key in wanted if key in there])
        doubtful = {
            which: _below(record) for which, record in there.items() if _below(record) and "again" not in record
        }
        futures = {which: pool.submit(cell, *which, LISTS, AGAIN * logs) for which in doubtful}
        for which, future in futures.items():
            estimators = future.result()["estimators"]
            there[which]["again"] = {name: estimators[name]["coverage"] for name in doubtful[which]}
            keep([there[key] for key in wanted])
    return [there[which] for which in wanted]


def _below(record: dict[str, Any]) -> list[str]:
    covered = {name: estimate["coverage"] for name, estimate in record["estimators"].items()}
    return [name for name, share in covered.items() if share is not None and round(share, 3) < LOW]


def world(rate: float, logger: str, size: tuple[int, int]) -> tuple[Mixed, Mixed, Array]:
    """The logging policy, the one asked about, and how often each item is clicked."""
    length, items = size
    rng = np.random.default_rng([int(1000 * rate), LOGGERS.index(logger), items])
    appeal = rng.gamma(2.0, size=items)
    appeal = np.minimum(rate * appeal / appeal.mean(), 0.9)
    strength = np.exp(rng.normal(size=items) * 0.7)
    liked = strength * appeal / appeal.mean()  # what the old policy likes, and something of the truth
    shown = np.argsort(-strength)[:length] if logger == "epsilon" else strength
    return Mixed(logger, shown, None), Mixed(logger, shown, liked), appeal


def cell(rate: float, logger: str, size: tuple[int, int], n: int, logs: int) -> dict[str, Any]:
    """All estimators in one cell."""
    (length, items), (logging, target, appeal) = size, world(rate, logger, size)
    today, truth = (_worth(policy, appeal, length) for policy in (logging, target))
    rows: dict[str, list[tuple[float, float]]] = {}
    verdicts = {"right": 0, "wrong": 0, "undecided": 0}
    for number in range(logs):
        evaluation = _evaluate(_log(np.random.default_rng([number, 5]), logging, appeal, n, length), target)
        for name, estimate in evaluation.estimates.items():
            rows.setdefault(name, []).append((estimate.low, estimate.high))
        verdicts[_judge(evaluation.against_log.verdict, truth - today)] += 1
    estimators = {name: _summary(np.array(some), truth) for name, some in rows.items()}
    about = {"rate": rate, "logger": logger, "length": length, "items": items, "lists": n, "logs": logs}
    clicks = n * _matching(logging, target, appeal, length)
    return about | {"truth": truth, "today": today, "clicks": clicks, "estimators": estimators, "verdicts": verdicts}


@dataclass(frozen=True, eq=False)
class Mixed(Target):
    """The logging policy, or half of it and half in proportion to what is liked."""

    logger: str
    shown: Array  # the strength of each item to the logging policy, or the items of its best list
    liked: Array | None

    def at(self, open_items: NDArray[np.bool_]) -> Array:
        """The chance of each item, of shape (lists, items)."""
        own = _chances(self.logger, self.shown, open_items)
        return own if self.liked is None else 0.5 * own + 0.5 * _chances("plackett-luce", self.liked, open_items)

    def draw(self, rng: np.random.Generator, n: int, length: int, items: int) -> tuple[NDArray[np.int64], Array]:
        """Lists, and the chances of their items."""
        rows, chances = np.zeros((n, length), dtype=np.int64), np.zeros((n, length))
        open_items, lists = np.ones((n, items), dtype=bool), np.arange(n)
        for position in range(length):
            chance = self.at(open_items)
            cumulated = chance.cumsum(axis=1)
            rows[:, position] = (rng.random((n, 1)) * cumulated[:, -1:] >= cumulated).sum(axis=1)
            chances[:, position] = chance[lists, rows[:, position]]
            open_items[lists, rows[:, position]] = False
        return rows, chances

    def chances(self, logged: AnsweredLists) -> Iterator[Array]:
        n, length = logged.rows.shape
        open_items = np.ones((n, logged.problems.n_rows // n), dtype=bool)
        for position in range(length):
            yield self.at(open_items).ravel()
            open_items[np.arange(n), logged.rows[:, position] - logged.problems.offsets[:-1]] = False

    def lists(self, logged: AnsweredLists) -> OwnLists:
        n, length = logged.rows.shape
        rng, offsets = np.random.default_rng(0), logged.problems.offsets[:-1, None]
        drawn = [offsets + self.draw(rng, n, length, logged.problems.n_rows // n)[0] for _ in range(DRAWS)]
        return OwnLists.drawn(drawn, logged, self)


def _log(rng: np.random.Generator, policy: Mixed, appeal: Array, n: int, length: int) -> Log:
    """Lists drawn from the logging policy, with clicks."""
    rows, chances = policy.draw(rng, n, length, len(appeal))
    problems = lw.Problems.from_arrays(np.zeros((n, len(appeal), 0)), catalogue=np.arange(len(appeal)))
    log, ids = Log(), [str(i) for i in range(n)]
    log.append(lw.Lists(problems, problems.offsets[:-1, None] + rows), propensities=chances, list_ids=ids)
    log.feedback(ids, (rng.random(rows.shape) < appeal[rows]).astype(float))
    return log


def _chances(logger: str, shown: Array, open_items: NDArray[np.bool_]) -> Array:
    """The chance of each item at a position."""
    even = open_items / open_items.sum(axis=1, keepdims=True)
    if logger == "uniform":
        return even
    if logger == "plackett-luce":
        mass = open_items * shown
        return mass / mass.sum(axis=1, keepdims=True)
    best, order = np.zeros_like(even), open_items[:, shown]  # the first of its items that is still open
    best[np.arange(len(best)), np.asarray(shown)[order.argmax(axis=1)]] = 1.0
    return EPSILON * even + (1.0 - EPSILON) * np.where(order.any(axis=1)[:, None], best, even)


def _worth(policy: Mixed, appeal: Array, length: int) -> float:
    """The mean value of a policy's lists, over many drawn ones."""
    rng = np.random.default_rng(99)
    return float(np.mean([appeal[policy.draw(rng, 5_000, length, len(appeal))[0]].sum(1).mean() for _ in range(40)]))


def _matching(logging: Mixed, target: Mixed, appeal: Array, length: int) -> float:
    """The clicks of equal weight that one logged list holds of the policy asked about, to be expected."""
    rng, lists, first, second = np.random.default_rng(7), np.arange(5_000), 0.0, 0.0
    for _ in range(20):
        rows, chances = logging.draw(rng, len(lists), length, len(appeal))
        open_items, weights = np.ones((len(lists), len(appeal)), dtype=bool), np.ones(chances.shape)
        for position, picks in enumerate(rows.T):
            weights[:, position] = target.at(open_items)[lists, picks] / chances[:, position]
            open_items[lists, picks] = False
        weights = weights.cumprod(axis=1)
        first += float((weights * appeal[rows]).sum(axis=1).mean()) / 20
        second += float((weights**2 * appeal[rows]).sum(axis=1).mean()) / 20
    return first**2 / second


def _evaluate(log: Log, target: Mixed) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        return evaluate(log, target)


def _judge(verdict: str, ahead: float) -> str:
    if verdict == "cannot tell":
        return "undecided"
    return "right" if (verdict == "roll out") == (ahead > 0) else "wrong"


def _summary(rows: Array, truth: float) -> dict[str, float | None]:
    """Coverage and width of the intervals that are given."""
    low, high = rows.T
    given = ~np.isnan(low)
    if not given.any():
        return {"given": 0.0, "coverage": None, "width": None}
    covered = (low <= truth) & (truth <= high)
    return {
        "given": float(given.mean()),
        "coverage": float(covered[given].mean()),
        "width": float((high - low)[given].mean()),
    }
