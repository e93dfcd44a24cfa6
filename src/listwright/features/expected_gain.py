"""Expected marginal gain of a candidate given the list, under learned models of outcomes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints, pieces
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features.base import CrossFitted, Features
from listwright.features.identity import has_whole_catalogue, whole_problem
from listwright.features.outcomes import OutcomeModel, Static, clip_probabilities, fresh_models
from listwright.features.scale import Distinct, Scale, dense
from listwright.problems import Problems
from listwright.rewards import AnySuccess, ConcaveCoverage, Coverage, ProbabilisticCoverage, Reward, reward_of

MOST_KNOTS = 1001
PSEUDO = 2.0  # states that the overall success rate counts for
BACK_OFF = 0.5  # states that the static estimate counts for in a kernel estimate
MOST_TOPICS = 64  # topics that are distinguished; all others are taken together
NO_CAP = 1e30
LEAST = 1e-4  # gains below this count as this, so that logarithms stay finite


@saved_as("features.ExpectedGain")
class ExpectedGain(Features):
    """Expected marginal gain given the list, under models of outcomes: a column for each model and kind of estimate.

    Use it where data are enough to predict outcomes well; the policy then weighs the predictions of several models. It
    costs a cross-fit of every model, keeps all training problems in memory, and cannot be streamed.

    Parameters
    ----------
    models : sequence of str or OutcomeModel
        Names of `listwright.features.outcomes.MODELS`, or outcome models. Candidates seen by their own features can use
        those that scale to many rows: "forest" and "ridge".
    random_state : int
        Seed of the forests.

    Attributes
    ----------
    view_ : GivenFailure or PredictedTopics
        The fitted features that do the work.

    See Also
    --------
    Candidate : The features that predictions are made from.
    ExpectedCoverage : For summaries learned with `Rouge`.

    Notes
    -----
    Where items recur (a catalogue) and one success is enough, the columns are logits of P(item succeeds | state,
    everything in the list failed). Else the amount of each topic that a candidate covers is predicted from its own
    features, and the columns are logarithms of the reward's own gain on the predictions. Training problems are seen
    through models fitted without them. Prediction never sees the reward.

    Examples
    --------
    >>> import numpy as np
    >>> import listwright as lw
    >>> context = np.random.default_rng(0).random((60, 1))
    >>> works = np.concatenate([context < 0.5, context >= 0.5], axis=1)
    >>> problems = lw.Problems.from_arrays(
    ...     np.zeros((60, 2, 0)), context=context, catalogue=[0, 1], reward=lw.rewards.AnySuccess(works)
    ... )
    >>> ExpectedGain(models=["neighbours"]).fit(problems).names()
    ['neighbours success where the list failed']
    """

    group = "expected gain"

    def __init__(
        self,
        models: Sequence[str | OutcomeModel] = ("static", "forest", "neighbours", "ridge", "kernel"),
        *,
        random_state: int = 0,
    ) -> None:
        self.models = models
        self.random_state = random_state

    def fit(self, problems: Problems) -> Self:
        recurs = problems.catalogue is not None and isinstance(problems.reward, AnySuccess)
        kind = GivenFailure if recurs else PredictedTopics
        self.view_: Features = kind(self.models, random_state=self.random_state).fit(problems)
        return self

    def for_training(self, problems: Problems) -> Self:
        twin = copy.copy(self)
        twin.view_ = self.view_.for_training(problems)
        return twin

    def start(self, problems: Problems) -> Any:
        return self.view_.start(problems)

    def columns(self, seen: Any) -> Floats32:
        return self.view_.columns(seen)

    def add(self, seen: Any, picks: Ints) -> Any:
        return self.view_.add(seen, picks)

    def names(self) -> list[str]:
        return self.view_.names()


class OutcomeFeatures(CrossFitted):
    """What both kinds of estimates share: models of outcomes, and what they say of training problems out of fold."""

    group = "expected gain"
    training_ids_: dict[Any, int]  # the place of each training problem in what is known out of fold

    def __init__(self, models: Sequence[str | OutcomeModel], *, random_state: int = 0) -> None:
        self.models = models
        self.random_state = random_state

    def _number(self, problems: Problems) -> None:
        self.training_ids_ = {problem: i for i, problem in enumerate(problems.problem_ids.tolist())}

    def _places(self, problems: Problems) -> Ints:
        return np.array([self.training_ids_[problem] for problem in problems.problem_ids.tolist()])

    def _forget(self, empty: Any) -> Self:
        """Return a twin that knows nothing of training problems: `empty` in place of what was said of them."""
        twin = copy.copy(self)
        if "training_" in vars(self):
            vars(twin).update(training_=empty, training_ids_={})
        return twin


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
class GivenFailure(OutcomeFeatures):
    """Logits of P(item succeeds | state, everything in the list failed), for `ExpectedGain` with a catalogue."""

    def without_training_state(self) -> Self:
        known: Any = getattr(self, "training_", ({}, {}))
        return self._forget(Estimates(*({key: np.zeros((0, 0)) for key in table} for table in known)))

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
        self._number(problems)

    def _estimates(self, problems: Problems) -> Estimates:
        if self.out_of_fold:
            which = self._places(problems)
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
        if problems.n_items > self.n_items_:
            raise InputError(f"An item is new: the outcomes of {self.n_items_} items were learned. Fit again with all.")
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


@saved_as("features.LearnedTopics")
class LearnedTopics(NamedTuple):
    shape: str  # "probability", or one of `ConcaveCoverage`
    weights: Floats  # by topic: mean share of its problems' worth
    caps: Floats  # mean amount from which on more brings nothing, for shape "cap"

    def reward(self, amounts: Floats, offsets: Ints) -> Reward:
        if self.shape == "probability":
            return ProbabilisticCoverage(np.clip(amounts, 0.0, 1.0), self.weights, normalize=False).bind(offsets)
        caps = self.caps if self.shape == "cap" else None
        amounts = np.maximum(amounts, 0.0)
        return ConcaveCoverage(amounts, self.shape, caps, self.weights, normalize=False).bind(offsets)


def topics_of(problems: Problems) -> tuple[LearnedTopics, Floats]:
    reward = reward_of(problems, "ExpectedGain")
    if isinstance(reward, Coverage | ProbabilisticCoverage):
        return _by_column(reward, problems, "probability")
    if isinstance(reward, ConcaveCoverage):
        return _by_column(reward, problems, reward.shape)
    alone = reward.gains(reward.start(problems))[:, None]
    shape = "probability" if isinstance(reward, AnySuccess) else "cap"
    return LearnedTopics(shape, np.ones(1), np.full(1, NO_CAP)), alone


def _by_column(reward: Any, problems: Problems, shape: str) -> tuple[LearnedTopics, Floats]:
    """Topics and amounts (rows, topics) of a coverage reward, from the sparse layout of its state."""
    state, columns = reward.start(problems), reward.tables["columns"]
    layout = state.layout
    counts = np.diff(layout.row_starts)
    entry_slots = layout.topics + np.repeat(layout.topic_starts[problems.owners], counts)
    number = _renumber(columns.values, entry_slots)
    n_topics = int(number.max(initial=0)) + 1
    amounts = np.zeros((problems.n_rows, n_topics))
    rows = np.repeat(np.arange(problems.n_rows), counts)
    np.add.at(amounts, (rows, number[entry_slots]), layout.amounts)
    owners = np.repeat(np.arange(len(problems)), np.diff(columns.offsets))
    worth = state.weights / reward.tables["totals"].values[owners]
    topics = LearnedTopics(shape, _means(worth, number, n_topics), _means(state.caps, number, n_topics))
    return topics, np.minimum(amounts, 1.0) if shape == "probability" else amounts


def _renumber(columns: Ints, entry_slots: Ints) -> Ints:
    """By (problem, topic): the topic's number, most covered first; those past the limit share the last."""
    names, codes = np.unique(columns, return_inverse=True)
    covered = np.bincount(codes[entry_slots], minlength=len(names))
    rank = np.empty(len(names), dtype=np.int64)
    rank[np.argsort(-covered, kind="stable")] = np.arange(len(names))
    return np.minimum(rank, MOST_TOPICS - 1)[codes]


def _means(values: Floats, groups: Ints, n_groups: int) -> Floats:
    return np.bincount(groups, values, minlength=n_groups) / np.maximum(np.bincount(groups, minlength=n_groups), 1)


class TopicsSeen(NamedTuple):
    problems: Problems  # the problems
    alone: Floats  # (rows, models): gains of the empty list
    states: tuple[tuple[Reward, Any], ...]  # by model: the reward on predicted amounts, and its state


@saved_as("features.PredictedTopics")
class PredictedTopics(OutcomeFeatures):
    """The reward's own gain on predicted coverage, as logarithms, for `ExpectedGain` without a catalogue."""

    def without_training_state(self) -> Self:
        return self._forget({name: table[:0] for name, table in getattr(self, "training_", {}).items()})

    def fit(self, problems: Problems) -> Self:
        self.n_items_ = problems.n_items
        self.scale_ = Scale.of(self._table(problems))
        self.topics_, y = topics_of(problems)
        x = self._view(problems)
        self.models_ = self._fit_models(x, y)
        if not self.models_:
            raise InputError(f"Candidates without a catalogue need the model forest or ridge. Got {self.models!r}.")
        self._cross_fit(problems, x, y)
        return self

    def _fit_models(self, x: Floats, y: Floats) -> dict[str, OutcomeModel]:
        models = {name: model.for_rows(len(x)) for name, model in fresh_models(self.models).items()}
        return {name: model.fit(x, y, self.random_state) for name, model in models.items() if model is not None}

    def _cross_fit(self, problems: Problems, x: Floats, y: Floats) -> None:
        predicted = {name: np.zeros_like(y) for name in self.models_}
        for fold in self.folds(problems):
            held, rest = fold.held[problems.owners], fold.rest[problems.owners]
            for name, model in self._fit_models(x[rest], y[rest]).items():
                predicted[name][held] = model.means(x[held])
        self.training_, self.training_offsets_ = predicted, problems.offsets
        self._number(problems)

    def _predict(self, problems: Problems) -> dict[str, Any]:
        if self.out_of_fold:
            rows = pieces(self.training_offsets_, self._places(problems))
            return {name: p[rows] for name, p in self.training_.items()}
        x = self._view(problems)
        return {name: model.means(x) for name, model in self.models_.items()}

    def _view(self, problems: Problems) -> Floats:
        return self.scale_.apply(self._table(problems)).astype(np.float64)

    def _table(self, problems: Problems) -> Floats32:
        parts = [dense(problems.features)]
        if problems.context is not None:
            parts.append(problems.context[problems.owners])
        if self.n_items_ and problems.catalogue is not None:
            parts.append((problems.catalogue[:, None] == np.arange(self.n_items_)).astype(np.float32))
        return np.concatenate(parts, axis=1)

    def start(self, problems: Problems) -> TopicsSeen:
        rewards = [self.topics_.reward(p, problems.offsets) for p in self._predict(problems).values()]
        states = tuple((reward, reward.start(problems)) for reward in rewards)
        return TopicsSeen(problems, _gains(states), states)

    def columns(self, seen: TopicsSeen) -> Floats32:
        gains = np.concatenate([_gains(seen.states), seen.alone], axis=1)
        return np.log(np.maximum(gains, LEAST)).astype(np.float32)

    def add(self, seen: TopicsSeen, picks: Ints) -> TopicsSeen:
        return seen._replace(states=tuple((reward, reward.add(state, picks)) for reward, state in seen.states))

    def names(self) -> list[str]:
        names = list(self.models_)
        return [*(f"{name} gain given the list" for name in names), *(f"{name} gain alone" for name in names)]


def _gains(states: tuple[tuple[Reward, Any], ...]) -> Floats:
    return np.stack([reward.gains(state) for reward, state in states], axis=1)
