"""The policy over passages: what it sees, how it is trained, and the shipped model (`benchmarks.shipped_models`)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright._kernels.constraints import NO_QUOTAS
from listwright._kernels.needs import unmet_rows
from listwright._kernels.pack_walk import UNMET, pack_walk
from listwright.context.passages import Passages
from listwright.errors import DataWarning
from listwright.estimators.scp import SCP
from listwright.features import Candidate, Features, Links, UncoveredTerms
from listwright.learners import Aggregate, BoostingRanker
from listwright.loading import load
from listwright.problems import Problems
from listwright.text.passages import PassageFeatures

SHIPPED = Path(__file__).with_name("passages.listwright")
LENGTH = 5  # passages that lists of training questions have
PASSES = 3
SCORE_WEIGHT = 2.5  # log-odds for one standard deviation of given scores: with less, texts spoil strong rerankers
MOST_CERTAIN = 0.02  # chance that the text is wrong of a passage, whatever it says
LEAST_WEIGHT, MOST_WEIGHT = 0.01, 8.0  # of what is estimated: with the least, scores decide where texts tell nothing
GOOD, SKEWED = 0.75, 0.2  # an estimate, and a mean cube of standard scores, from which few passages stand out rightly
DIRECT = 3.0  # log-odds for a passage one sentence of which holds every word of the question, as few did in training
NO_WINDOWS = (np.zeros(0), np.zeros((0, 4)))
FEW_WORDS = (0.3, 0.6)  # shares of the question's words in the passages at which texts tell nothing, and all they can


def passage_policy_features() -> Features:
    """Return the features of the policy: own columns, strongest links, and what the list leaves uncovered."""
    return Candidate(standardize=False) + Links((), sums=False) + UncoveredTerms()


def passage_model(
    problems: Problems, start: tuple[Any, ...] = (), *, min_leaf: int = 10, n_models: int = 2, n_passes: int = PASSES
) -> SCP:
    """Train an `SCP` that ranks passages by boosted trees on questions with labelled passages."""
    model = SCP(
        LENGTH,
        learner=Aggregate(BoostingRanker(start=start, min_leaf=min_leaf, n_models=n_models)),
        features=passage_policy_features(),
        weighting="uniform",
        n_passes=n_passes,
        batch_size=len(problems),
        allow_short=True,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of columns that are made here and not by the user
        return model.fit(problems)


@cache
def shipped_model() -> SCP:
    """Load the model in the package; later calls return the same object, which must not be changed."""
    model: SCP = load(SHIPPED)
    return model


def kinds_of(model: SCP) -> list[str]:
    return next(list(part.kinds_) for part in model.training_.features.parts_ if isinstance(part, Links))


def scores_alone(model: SCP, features: PassageFeatures) -> Floats:
    """Return the policy's score of each passage with an empty list: no links to it, and every term uncovered."""
    terms, n, nothing = features.query_terms, len(features.table), np.zeros(1, dtype=np.uint64)
    uncovered = np.empty((n, UNMET), dtype=np.float32)
    unmet_rows(np.array([0, n]), terms.starts, terms.parts, terms.wholes, terms.weights, nothing, uncovered)
    links = np.zeros((n, len(kinds_of(model))), dtype=np.float32)
    return model.policy_.estimator.predict(np.concatenate([features.table, links, uncovered], axis=1))


def walk_passages(
    model: SCP,
    features: PassageFeatures,
    *,
    length: int,
    bonus: Floats,
    sizes: Floats | None = None,
    token_limit: float = np.inf,
    quotas: tuple[Ints, Ints, Floats, Floats] = NO_QUOTAS,
    copies: Bools | None = None,
    windows: tuple[Floats, Floats] = NO_WINDOWS,
) -> tuple[Ints, Floats]:
    trees, n = model.policy_.boosted_trees(), len(features.table)
    assert trees is not None
    terms = features.query_terms
    links = np.stack([features.links[kind].T for kind in kinds_of(model)], axis=2).astype(np.float32)
    return pack_walk(
        features.table,
        links,
        (terms.starts, terms.parts, terms.wholes, terms.weights),
        trees,
        bonus,
        np.zeros((n, n), dtype=bool) if copies is None else copies,
        (np.zeros(n) if sizes is None else sizes, windows, float(token_limit), int(length), quotas),
    )


@saved_as("context.Calibration")
@dataclass(frozen=True)
class Calibration:
    """How scores of trees become log-odds, what given scores weigh beside them, and how likely a pick is needed."""

    intercept: float = -0.82  # log-odds of a passage with an empty list: intercept + slope * score of the trees
    slope: float = 2.3
    picks: tuple[float, ...] = (0.9, 1.22, -0.15, -1.58)  # of `pick_rows`
    weights: dict[str, float] = field(default_factory=dict)  # by kind of signal, where it was learned
    sources: dict[str, float] = field(default_factory=dict)  # by source: log-odds that its passages have more

    def probabilities(self, odds: Floats) -> Floats:
        return sigmoid(pick_rows(odds) @ np.array(self.picks)) if len(odds) else odds


def calibration_of(model: SCP) -> Calibration:
    """Return the calibration that a model was saved with, or that of the shipped model."""
    calibration: Calibration = getattr(model, "calibration_", Calibration())
    return calibration


def pick_rows(odds: Floats) -> Floats:
    ranks = np.log(np.arange(1, len(odds) + 1))
    return np.column_stack([np.ones(len(odds)), odds, odds - odds[0], ranks])


def fit_logistic(table: Floats, labels: Floats, *, penalty: float = 1.0) -> Floats:
    """Return the coefficients of a logistic regression with an L2 penalty, by Newton's method."""
    weights = np.zeros(table.shape[1])
    for _ in range(30):
        shares = sigmoid(table @ weights)
        step = table.T @ (labels - shares) - penalty * weights
        curvature = (table * (shares * (1 - shares))[:, None]).T @ table + penalty * np.eye(len(weights))
        weights += np.linalg.solve(curvature, step)
    return weights


def sigmoid(values: Floats) -> Floats:
    return 0.5 * (1.0 + np.tanh(0.5 * values))  # which does not overflow


def text_probabilities(model: SCP, features: PassageFeatures) -> Floats:
    calibration = calibration_of(model)
    scale = calibration.slope * trust_texts(features)
    return sigmoid(calibration.intercept + scale * scores_alone(model, features))


class PassageEvidence(NamedTuple):
    """What the texts and the given signals say of the passages of one question before the first pick."""

    bonus: Floats  # by passage: what to add to the score of the trees at every position
    scale: float  # log-odds for a unit of that sum
    lift: Floats  # by passage: what to add to the log-odds of a pick before its probability is computed


def weigh_evidence(
    model: SCP, features: PassageFeatures, given: Passages, weights: Mapping[str, float]
) -> PassageEvidence:
    """Add each standardised signal, times its weight, to the log-odds of the text."""
    calibration = calibration_of(model)
    signals = {name: weights[name] * values for name, values in given.signals().items() if weights.get(name)}
    extra = sum(signals.values(), np.zeros(len(given)))
    if given.sources is not None and calibration.sources:
        extra += [calibration.sources.get(str(source), 0.0) for source in given.sources]
    whole = features.table[:, features.names.index("best_sentence")] > 1.0 - 1e-6
    direct = np.where(whole & (_known_words(features) == 1.0), DIRECT, 0.0)
    if not extra.any():
        return PassageEvidence(direct / calibration.slope, calibration.slope, np.zeros(len(given)))
    scale = calibration.slope * max(trust_texts(features), 1e-6)
    text = calibration.intercept + scale * scores_alone(model, features)
    # Beside weights that were not learned with it, the text is never certain: a question may be from elsewhere.
    share = sigmoid(text)
    certain = 1e-9 if signals.keys() <= calibration.weights.keys() else MOST_CERTAIN
    bounded = np.log((share + certain) / (1.0 - share + certain))
    # Signals raise the log-odds of all passages, which says nothing of how many are needed.
    lift = text - bounded - _common_shift(text, text + extra)
    return PassageEvidence((extra + direct + bounded - text) / scale, scale, lift)


def trust_texts(features: PassageFeatures) -> float:
    """Return what to multiply log-odds of texts by: less than 1 where passages hold few words of the question."""
    low, high = FEW_WORDS
    known = _known_words(features) if len(features.table) > 2 else 0.0
    return float(np.clip((known - low) / (high - low), 0.0, 1.0))


def _known_words(features: PassageFeatures) -> float:
    """Return the share of the question's words that any passage holds: few where they are in another language."""
    n = len(features.question.terms)
    return float((features.query_terms.weights[0][:n] > 0).mean()) if n else 0.0


def _common_shift(text: Floats, both: Floats) -> float:
    """Return what to take off log-odds so that as many passages are expected to help as by the text alone."""
    low, high = -30.0, 30.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if sigmoid(both - middle).sum() > sigmoid(text).sum() else (low, middle)
    return low


def signal_weights(model: SCP, given: Passages, asked: float | None) -> dict[str, float]:
    """Return the weights of signals: those learned, unless one was asked for, which scores and cosines share."""
    names = [name for name in given.signals() if name != "position"]
    usual = dict.fromkeys(names, (SCORE_WEIGHT if asked is None else asked) / max(len(names), 1))
    return usual | calibration_of(model).weights if asked is None else usual


def estimate_weight(products: Iterable[Floats]) -> float:
    """Return the weight of a signal, as that of a linear discriminant, from probabilities of the text for labels."""
    summed = np.sum(list(products), axis=0)
    means = summed / summed[-4, -4]  # by the number of passages
    solved = np.linalg.lstsq(means[:-3, :-3], both := means[:-3, -3])[0]
    # How far the signal is apart between passages that are needed and others, and what neither this nor words explain.
    apart, rest = float(solved[0]), float(means[-3, -3] - solved @ both)
    uncertain = float(means[-2, -2])  # by how much labels differ from their probabilities
    weight = float(np.clip(apart / max(rest - uncertain * apart**2, 0.2), LEAST_WEIGHT, MOST_WEIGHT))
    # Where few passages stand out by a signal that agrees with the texts, a low weight is due to wrong texts.
    return max(weight, SCORE_WEIGHT) if weight >= GOOD and means[-3, -1] >= SKEWED else weight
