"""What each logged list says of another policy's value, by estimator. All weights are ratios of chances.

With r(i) the gain at position i and w(i) the product over the positions up to i of target chance / propensity:

- slate IPS: w(last) * sum of r(i). Right on average whatever makes users click; large variance.
- per position (reward interaction, McInerney et al. 2020): sum of w(i) * r(i). Right where a gain depends only on the
  items up to its position, as marginal gains do.
- cascade doubly robust (Kiyohara et al. 2022): the same, around a model of what is still to come.
"""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.threads import one_thread
from listwright.features.auto import auto_features, paper_features
from listwright.feedback.drawing import Given
from listwright.feedback.log import Answered
from listwright.learners.sums import solved
from listwright.walk.plain import walk

PENALTY = 10.0  # of the model's ridge, on standardised columns
PARTS = 2  # each list is foretold by a model that was fitted without it


def cumulative_weights(logged: Answered, chances: Floats) -> Floats:
    """(lists, positions): w(i); unchanged behind the end of a list."""
    shown = logged.rows >= 0
    picked = np.take_along_axis(chances, np.where(shown, logged.rows, 0).T, axis=1).T
    ratios: Floats = np.divide(picked, logged.propensities, out=np.ones_like(picked), where=shown)
    weights: Floats = ratios.cumprod(axis=1)
    return weights


def per_position(weights: Floats, gains: Floats) -> Floats:
    """By list: sum of w(i) * r(i).

    >>> per_position(np.array([[2.0, 4.0]]), np.array([[1.0, 0.5]]))
    array([4.])
    """
    return (weights * gains).sum(axis=1)


def cascade_doubly_robust(logged: Answered, chances: Floats, weights: Floats, gains: Floats) -> Floats:
    """By list: sum over i of w(i) * (r(i) - Q(i)) + w(i - 1) * mean of Q(i) under the policy.

    Q(i) foretells the gains from position i on, given the items up to i, when the policy goes on from there: ridge
    regressions from the last position to the first.
    """
    tables = _tables(logged)
    folds = np.arange(len(gains)) % PARTS
    shown, owners, offsets = logged.rows >= 0, logged.problems.owners, logged.problems.offsets
    before = np.concatenate([np.ones((len(gains), 1)), weights[:, :-1]], axis=1)
    found, ahead = np.zeros(len(gains)), np.zeros(len(gains))  # ahead: what the policy still gains, foretold
    for i in reversed(range(gains.shape[1])):
        table, picks = tables[i], logged.rows[:, i]
        target = gains[:, i] + ahead
        foretold = np.zeros(len(owners))
        for fold in range(PARTS):
            learned = np.flatnonzero((folds != fold) & shown[:, i])
            model = _ridge(table[picks[learned]], target[learned])
            mine = folds[owners] == fold
            foretold[mine] = table[mine] @ model[1:] + model[0]
        own = np.where(shown[:, i], foretold[picks], 0.0)
        ahead = np.where(shown[:, i], np.add.reduceat(chances[i] * foretold, offsets[:-1]), 0.0)
        found += weights[:, i] * (gains[:, i] - own) + before[:, i] * ahead
    return found


def _tables(logged: Answered) -> list[Floats]:
    """By position: what is seen of every candidate, given the logged items before."""
    wanted = paper_features() if logged.problems.n_features else auto_features(logged.problems)
    features = wanted.fit(logged.problems)
    rng = np.random.default_rng(0)  # the walk asks for one; given lists draw nothing
    length = logged.rows.shape[1]
    with one_thread():
        steps = walk(logged.problems, features, Given(logged.rows), length=length, rng=rng)
        tables = [step.rows.written_out().astype(np.float64) for step in steps]
    return tables + [tables[-1]] * (length - len(tables))


def _ridge(table: Floats, target: Floats) -> Floats:
    """Bias, then weights; zeros where there is nothing to learn from."""
    if not len(table):
        return np.zeros(table.shape[1] + 1)
    mean, level = table.mean(axis=0), float(target.mean())
    centred = table - mean
    with one_thread():
        weights = solved(centred.T @ centred + PENALTY * np.eye(table.shape[1]), centred.T @ (target - level))
    return np.append(level - mean @ weights, weights)
