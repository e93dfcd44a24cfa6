"""Chance that an item of a catalogue succeeds, given that everything in the list failed."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features.base import CrossFitted
from listwright.features.identity import has_whole_catalogue, whole_problem
from listwright.features.outcomes import OutcomeModel, Static, clip_probabilities, fresh_models
from listwright.features.scale import Distinct
from listwright.problems import Problems
from listwright.rewards import reward_of

MOST_KNOTS = 1001


@saved_as("features.Ranks")
class Ranks(NamedTuple):
    """Columns as ranks: heavy-tailed values are spread evenly, so that distances and random splits resolve them."""

    knots: Floats  # (knots, columns): sorted training values, or as many evenly spaced ones

    def validation_error(self) -> str:
        if self.knots.ndim != 2 or not len(self.knots):
            return "ranks must have knots"
        return "" if (np.diff(self.knots, axis=0) >= 0).all() else "knots must be sorted"

    @classmethod
    def of(cls, table: Floats32) -> Ranks:
        values = np.sort(table.astype(np.float64), axis=0)
        some = np.linspace(0, len(values) - 1, min(len(values), MOST_KNOTS)).round().astype(np.int64)
        return cls(values[some])

    def apply(self, table: Floats32) -> Floats:
        """Middle ranks, scaled to run evenly from -sqrt(3) to sqrt(3), so that their variance is 1."""
        ranks = np.empty(table.shape)
        for column, knots, values in zip(ranks.T, self.knots.T, table.T.astype(np.float64), strict=True):
            column[:] = np.searchsorted(knots, values, "left") + np.searchsorted(knots, values, "right")
        return (ranks / len(self.knots) - 1.0) * np.sqrt(3.0)


PSEUDO = 2.0  # states that the overall success rate counts for
BACK_OFF = 0.5  # states that the static estimate counts for in a kernel estimate


@saved_as("features.Estimates")
class Estimates(NamedTuple):
    means: dict[str, Floats]  # (states, items)
    likeness: dict[str, Floats]  # (states, training states), in effective states


class GainSeen(NamedTuple):
    problems: Problems
    marginal: dict[str, Floats]  # predictions before any pick
    alive: dict[str, Floats]  # likeness of the training states in which the list fails too
    left: dict[str, Floats]  # means, conditioned on the list's failure
    explained: dict[str, tuple[Floats, ...]]  # Gaussian conditioning: one column (states, items) a pick
    variance: dict[str, Floats]  # variances that are left


@saved_as("features.GivenFailure")
class GivenFailure(CrossFitted):
    """Logits of P(item succeeds | state, everything in the list failed), for `ExpectedGain` with a catalogue."""

    group = "expected gain"

    def __init__(self, models: Sequence[str | OutcomeModel], *, random_state: int = 0) -> None:
        self.models = models
        self.random_state = random_state

    def without_training_state(self) -> Self:
        twin = copy.copy(self)
        if hasattr(self, "training_"):
            twin.training_ = Estimates(*({key: np.zeros((0, 0)) for key in table} for table in self.training_))
            twin.training_ids_ = {}
        return twin

    def fit(self, problems: Problems) -> Self:
        self.asked_ = list(fresh_models(self.models))
        if problems.catalogue is None:
            raise InputError("ExpectedGain needs a catalogue, but these problems have none.")
        self.n_items_ = problems.n_items
        self.whole_ = has_whole_catalogue(problems, self.n_items_)
        view = state_view(problems, self.n_items_, whole=self.whole_)
        self.kept_ = np.append(0, Distinct.of(view).telling())  # column 0 is constant, if there is nothing else
        view = view[:, self.kept_]
        self.ranks_ = Ranks.of(view)
        x, y = self.ranks_.apply(view), outcomes(problems, self.n_items_)
        self.outcomes_, self.rates_ = y, (y.sum(axis=0) + 1.0) / (len(y) + 2.0)
        self.models_ = self._fit_models(x, y)
        self._cross_fit(problems, x, y)
        return self

    def _fit_models(self, x: Floats, y: Floats) -> dict[str, OutcomeModel]:
        models = {"static": Static()} | fresh_models(self.models)  # it backs the others, asked for or not
        return {name: model.fit(x, y, self.random_state) for name, model in models.items()}

    def _cross_fit(self, problems: Problems, x: Floats, y: Floats) -> None:
        means: dict[str, Floats] = {}
        likeness: dict[str, Floats] = {}
        for fold in self.folds(problems):
            held, rest = np.flatnonzero(fold.held), np.flatnonzero(fold.rest)
            for name, model in self._fit_models(x[rest], y[rest]).items():
                if (p := model.means(x[held])) is not None:
                    means.setdefault(name, np.zeros_like(y))[held] = p
                if (w := model.likeness(x[held])) is not None:
                    likeness.setdefault(name, np.zeros((len(x), len(x))))[np.ix_(held, rest)] = _effective(w)
        self.training_ = Estimates({name: clip_probabilities(p) for name, p in means.items()}, likeness)
        self.correlation_ = {name: _error_correlation(y, p) for name, p in self.training_.means.items()}
        self.training_ids_ = {problem: i for i, problem in enumerate(problems.problem_ids.tolist())}

    def _estimates(self, problems: Problems) -> Estimates:
        if self.out_of_fold:
            which = np.array([self.training_ids_[problem] for problem in problems.problem_ids.tolist()])
            return Estimates(
                {name: p[which] for name, p in self.training_.means.items()},
                {name: w[which] for name, w in self.training_.likeness.items()},
            )
        x = self.ranks_.apply(state_view(problems, self.n_items_, whole=self.whole_)[:, self.kept_])
        means = {name: model.means(x) for name, model in self.models_.items()}
        likeness = {name: model.likeness(x) for name, model in self.models_.items()}
        return Estimates(
            {name: clip_probabilities(p) for name, p in means.items() if p is not None},
            {name: _effective(w) for name, w in likeness.items() if w is not None},
        )

    def start(self, problems: Problems) -> GainSeen:
        estimates = self._estimates(problems)
        return GainSeen(
            problems,
            estimates.means,
            estimates.likeness,
            dict(estimates.means),
            dict.fromkeys(estimates.means, ()),
            {name: p * (1.0 - p) for name, p in estimates.means.items()},
        )

    def columns(self, seen: GainSeen) -> Floats32:
        kernels = self._kernel_estimates(seen)
        tables = [*(kernels[name] for name in kernels if name in self.asked_), *seen.left.values()]
        assert seen.problems.catalogue is not None
        by_row = [table[seen.problems.owners, seen.problems.catalogue] for table in tables]
        p = clip_probabilities(np.stack(by_row, axis=1))
        return np.log(p / (1.0 - p)).astype(np.float32)

    def _kernel_estimates(self, seen: GainSeen) -> dict[str, Floats]:
        """Success rate among similar states in which the list failed too, smoothed towards that of all such states."""
        estimates: dict[str, Floats] = {}
        back_off, mass = self.rates_, PSEUDO
        for name, alive in seen.alive.items():  # static is the first
            estimates[name] = (alive @ self.outcomes_ + mass * back_off) / (alive.sum(axis=1, keepdims=True) + mass)
            back_off, mass = estimates["static"], BACK_OFF
        return estimates

    def add(self, seen: GainSeen, picks: Ints) -> GainSeen:
        some = np.flatnonzero(picks >= 0)
        assert seen.problems.catalogue is not None
        items = seen.problems.catalogue[picks[some]]
        fails = 1.0 - self.outcomes_[:, items].T
        alive = {
            name: _still_alive(weights, some, fails, self.models_[name].doubt) for name, weights in seen.alive.items()
        }
        left, explained, variance = dict(seen.left), dict(seen.explained), dict(seen.variance)
        for name in left:
            left[name], column, variance[name] = self._condition(seen, name, some, items)
            explained[name] = (*explained[name], column)
        return seen._replace(alive=alive, left=left, explained=explained, variance=variance)

    def _condition(self, seen: GainSeen, name: str, some: Ints, items: Ints) -> tuple[Floats, Floats, Floats]:
        """One step of Gaussian conditioning on outcome 0: m -= C[:, s] m_s / C_ss, C -= C[:, s] C[s, :] / C_ss."""
        # C is never stored: it is the marginal covariance less the outer products of the columns explained so far, as
        # in a pivoted Cholesky factorisation.
        spread = np.sqrt(seen.marginal[name] * (1.0 - seen.marginal[name]))
        covariance = spread[some] * spread[some, items][:, None] * self.correlation_[name][items]
        for column in seen.explained[name]:
            covariance -= column[some] * column[some, items][:, None]
        own = np.maximum(seen.variance[name][some, items], 1e-6)
        left, variance, column = seen.left[name].copy(), seen.variance[name].copy(), np.zeros_like(spread)
        column[some] = covariance / np.sqrt(own)[:, None]
        left[some] -= covariance * (seen.left[name][some, items] / own)[:, None]
        variance[some] = np.maximum(variance[some] - column[some] ** 2, 1e-6)
        return left, column, variance

    def names(self) -> list[str]:
        return [
            *(f"{name} success where the list failed" for name in self.training_.likeness if name in self.asked_),
            *(f"{name} success given the list's failure" for name in self.training_.means),
        ]


def outcomes(problems: Problems, n_items: int) -> Floats:
    """(problems, items): the gain of each item alone; 0 where it is not offered."""
    reward = reward_of(problems, "ExpectedGain")
    table = np.zeros((len(problems), n_items))
    table[problems.owners, problems.catalogue] = reward.gains(reward.start(problems))
    return table


def state_view(problems: Problems, n_items: int, *, whole: bool) -> Floats32:
    """(problems, q): a constant, the context and, where the catalogue is whole, the features of all candidates."""
    parts = [np.ones((len(problems), 1), dtype=np.float32)]
    if problems.context is not None:
        parts.append(problems.context)
    if problems.n_features and whole:
        parts.append(whole_problem(problems, n_items))
    return np.concatenate(parts, axis=1)


def _effective(weights: Floats) -> Floats:
    """Scales weights to add up to the effective number of states, 1 / sum of squares."""
    return weights / np.maximum((weights**2).sum(axis=1, keepdims=True), 1e-12)


def _still_alive(weights: Floats, some: Ints, fails: Floats, doubt: float) -> Floats:
    """Weights after a pick: training states where it fails keep theirs, the others keep the share `doubt`."""
    alive = weights.copy()
    alive[some] *= doubt + (1.0 - doubt) * fails
    return alive


def _error_correlation(y: Floats, p: Floats, least: float = 0.1) -> Floats:
    """Correlation of standardised errors, shrunk towards the identity, more so with few states per item."""
    errors = (y - p) / np.sqrt(p * (1.0 - p))
    second = errors.T @ errors / len(errors)
    scale = np.sqrt(np.maximum(np.diag(second), 1e-9))
    correlation = second / scale[:, None] / scale[None, :]
    shrink = max(least, min(1.0, y.shape[1] / (4.0 * len(y))))
    correlation = (1.0 - shrink) * correlation
    np.fill_diagonal(correlation, 1.0)
    return correlation
