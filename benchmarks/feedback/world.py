"""Simulated visitors for the check of off-policy estimates, whose true clicks no model of the estimates can express."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

import listwright as lw
from benchmarks.feedback.settings import EPSILON, NEW, OLD, POPULATION, TEMPERATURE, Setting
from listwright.features.auto import paper_features
from listwright.feedback.explore import Epsilon, Exploration, Softmax

Array = NDArray[np.float64]
LOOKS = np.array([1.0, 0.72, 0.55, 0.44, 0.36])  # position bias
ALIKE = 0.4  # how much an item loses to one like it before it
DRAWS = 30  # lists per visitor that the true value is taken over


@dataclass(frozen=True, eq=False)
class Visitors:
    """Problems, and what happens to be clicked."""

    problems: lw.Problems
    appeal: Array  # (visitors, candidates): the chance of a click, alone and looked at
    vectors: Array  # (visitors, candidates, 4)

    def take(self, which: NDArray[np.int64]) -> Visitors:
        """Some of them, also more than once."""
        problems = self.problems[which]._with(problem_ids=np.arange(len(which)))
        return Visitors(problems, self.appeal[which], self.vectors[which])

    def chances(self, rows: NDArray[np.int64], clicks: str) -> Array:
        """(visitors, positions): the chance that each item of a list is clicked, had nothing before it been."""
        picks = rows - self.problems.offsets[:-1, None]
        chances = np.take_along_axis(self.appeal, picks, 1)
        if clicks == "position":
            return chances * LOOKS[: picks.shape[1]]
        shown = np.take_along_axis(self.vectors, picks[..., None], 1)
        unit = shown / np.linalg.norm(shown, axis=2, keepdims=True)
        alike = np.tril(np.einsum("nik,njk->nij", unit, unit), -1).max(axis=2)
        return chances * (1.0 - ALIKE * np.maximum(alike, 0.0))

    def values(self, rows: NDArray[np.int64], clicks: str) -> Array:
        """What lists are worth to be expected: clicks, or the chance of any."""
        chances = self.chances(rows, clicks)
        return chances.sum(axis=1) if clicks == "position" else 1.0 - np.prod(1.0 - chances, axis=1)


def visitors(n: int, candidates: int, rng: np.random.Generator) -> Visitors:
    """Contexts of three numbers, items of four; the policy sees these, their products, and two columns of noise."""
    taste, item = rng.normal(size=(n, 1, 3)), rng.normal(size=(n, candidates, 4))
    noise = rng.normal(size=(n, candidates, 2))
    crossed = taste * item[..., :3]
    score = 1.2 * np.tanh(crossed.sum(axis=2)) + 0.5 * item[..., 3] - 0.25 * item[..., 0] ** 2
    features = np.concatenate([item, crossed, noise], axis=2).astype(np.float32)
    return Visitors(lw.Problems.from_arrays(features), 1.0 / (1.0 + np.exp(2.4 - score)), item)


@dataclass(frozen=True, eq=False)
class Cell:
    """A setting with its policies, the visitors that logs are drawn from, and the truth."""

    setting: Setting
    population: Visitors
    logger: lw.OnlineSCP
    target: object
    truth: float
    logged: float


def cell(setting: Setting, seed: int) -> Cell:
    """Two models, of few and of many problems; the old one with the setting's exploration made the log. The new one is
    asked about: with the same exploration, or with none where the log was drawn evenly."""
    rng = np.random.default_rng([seed, setting.length, setting.candidates])
    trained = visitors(NEW, setting.candidates, rng)
    reward = lw.rewards.AnySuccess((rng.random(trained.appeal.shape) < trained.appeal).astype(float))
    problems = trained.problems.with_reward(reward)
    model = lw.SCP(setting.length, features=paper_features(), effort="fast", random_state=0)
    old, new = (clone(model).fit(problems[:n]) for n in (OLD, NEW))
    logger = lw.OnlineSCP.from_model(old, explore=_exploration(setting.logger), random_state=seed, memory=0)
    target: object = new
    if setting.logger != "uniform":
        target = lw.OnlineSCP.from_model(new, explore=_exploration(setting.logger), random_state=seed + 1, memory=0)
    population = visitors(POPULATION if setting.candidates < 1000 else POPULATION // 4, setting.candidates, rng)
    truth, logged = (_worth(policy, population, setting.clicks) for policy in (target, logger))
    return Cell(setting, population, logger, target, truth, logged)


def _exploration(name: str) -> Exploration:
    return {"uniform": Epsilon(1.0), "epsilon": Epsilon(EPSILON), "softmax": Softmax(TEMPERATURE)}[name]


def _worth(policy: object, population: Visitors, clicks: str) -> float:
    """The true value of a policy on the population."""
    if isinstance(policy, lw.SCP):
        return float(population.values(policy.predict(population.problems).rows, clicks).mean())
    assert isinstance(policy, lw.OnlineSCP)
    total = 0.0
    for draw in range(DRAWS):
        ids = [f"truth {draw}, {i}" for i in range(len(population.problems))]
        total += float(population.values(policy.recommend(population.problems, list_ids=ids).rows, clicks).mean())
    return total / DRAWS


def log_of(cell: Cell, number: int) -> lw.feedback.Log:
    """A log of visitors drawn from the population."""
    setting, rng = cell.setting, np.random.default_rng([number, 77])
    which = rng.integers(len(cell.population.problems), size=setting.n_lists)
    some = cell.population.take(which)
    shown = cell.logger.recommend(some.problems, list_ids=[f"{number}, {i}" for i in range(len(which))])
    clicks = (rng.random(shown.rows.shape) < some.chances(shown.rows, setting.clicks)).astype(float)
    log = lw.feedback.Log(cascade=setting.clicks == "cascade")
    log.append(shown)
    if setting.clicks == "cascade":
        clicks *= np.cumsum(clicks, axis=1) == 1
    log.feedback(shown.list_ids, clicks)
    return log
