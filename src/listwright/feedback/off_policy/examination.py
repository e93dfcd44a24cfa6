"""Position bias: how often users look at each position, estimated from the log alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy

from listwright._internal.arrays import Bools, Floats, Floats32, Ints, solve
from listwright._internal.threads import one_thread
from listwright.errors import InputError
from listwright.features import Candidate, Features, Sum
from listwright.feedback.answered import AnsweredLists, runs
from listwright.feedback.log import Log
from listwright.feedback.off_policy.estimators import InfluenceValues, effective_size, with_events
from listwright.feedback.off_policy.evidence import item_columns, seen_along
from listwright.feedback.off_policy.targets import OwnLists, Target

METHODS = ("auto", "em", "harvest")
ROUNDS = 100
PENALTY = 1.0
FITTED_ON = 40_000  # lists
LEAST = 0.02  # examination below this is taken for this much
START, MOST = 0.8, 0.99  # examination to begin with, and at most
GROUPS = 10  # of lists, for the spread of what is estimated from all of them
COMMON = 5  # times an item must have been shown at each of two positions to compare them


def examination(log: Log, *, method: str = "auto") -> Floats:
    """Estimate the chance that a user looks at each position, relative to the first.

    Use it to see how strong position bias is, or through `fit_log` and `evaluate` with `propensity="examination"` where
    a log has no propensities. It assumes the position-based model, in which the appeal of an item does not depend on
    the items around it.

    Parameters
    ----------
    log : Log
        With outcomes of whole lists. Not for cascade logs, where every position up to the click was examined.
    method : {"auto", "em", "harvest"}
        "em" is maximum likelihood with appeal a logistic function of the item's features (regression EM, Wang et al.
        2018). "harvest" compares click rates of the same items at different positions (Agarwal et al. 2019). "auto" is
        "harvest" where items with ids occur often enough at several positions, else "em".

    Returns
    -------
    ndarray of shape (positions,)
        1 for the first position.

    Raises
    ------
    InputError
        If the log is a cascade, or "harvest" finds no items to compare.

    See Also
    --------
    OnlineSCP.fit_log : Corrects for position bias with `propensity="examination"`.

    Notes
    -----
    P(click) = examination(position) * appeal(item). The log shows the product only; the factors are
    separated by items that were shown at several positions, or by their features.

    Examples
    --------
    >>> import listwright as lw
    >>> rng = np.random.default_rng(0)
    >>> problems = lw.Problems.from_arrays(rng.random((4000, 6, 2)))
    >>> shown = lw.OnlineSCP(length=3, random_state=0).recommend(problems, list_ids=[str(i) for i in range(4000)])
    >>> looks = rng.random((4000, 3)) < [1.0, 0.6, 0.3]
    >>> log = Log()
    >>> log.append(shown)
    >>> _ = log.feedback(shown.list_ids, looks & (rng.random((4000, 3)) < problems.features[shown.rows, 0]))
    >>> examination(log).round(2)
    array([1. , 0.6, 0.3])
    """
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}. Got {method!r}.")
    if log.cascade:
        raise InputError("Users of this log stop at the first click, so all positions up to it were looked at.")
    logged = log.answered_lists()
    logged = logged.take(np.unique(np.linspace(0, len(logged) - 1, min(len(logged), FITTED_ON)).astype(np.int64)))
    return looks(logged, method)


def looks(logged: AnsweredLists, method: str = "auto") -> Floats:
    if method != "em":
        harvested = _harvest_examination(logged)
        if harvested is not None:
            return harvested
        if method == "harvest":
            raise InputError(
                "No items were shown often enough at several positions to compare them. Pass method='em', or give "
                "items ids that recur."
            )
    return _by_em(logged)


def estimate_examined(logged: AnsweredLists, target: Target, looked: Floats) -> InfluenceValues:
    # Its spread includes that of examination and appeal, which are estimated anew without each tenth of the lists.
    if len(logged) < 2:
        raise InputError("Position bias needs at least two lists with an outcome.")
    target = target.suit(logged.problems)
    lists = [target.lists(logged.take(which)) for which in runs(logged.problems)]
    whole, size = _examine(logged, lists, looked, np.arange(len(logged)))
    group = np.arange(len(logged)) % GROUPS
    without = []
    for k in range(GROUPS):
        kept = np.flatnonzero(group != k)
        without.append(float(_examine(logged, lists, looks(logged.take(kept)), kept)[0][kept].mean()))
    error = float(np.sqrt((GROUPS - 1) * np.var(without)))
    own = float(whole.std()) / np.sqrt(len(whole))
    wider = max(1.0, error / own) if own > 0 else 1.0
    clicks = np.nan_to_num(logged.outcomes)
    part = with_events(whole.mean() + wider * (whole - whole.mean()), np.ones(clicks.shape), clicks, size)
    return part._replace(effective_size=min(size, len(logged) / wider**2))


def _examine(logged: AnsweredLists, lists: list[OwnLists], looked: Floats, kept: Ints) -> tuple[Floats, float]:
    """Return what each list says of the policy's value, with an appeal fitted to those kept, and the effective size."""
    features, table, clicks, positions = _shown_items(logged.take(kept))
    weights = np.zeros(table.shape[1])
    with one_thread():
        for _ in range(10):
            weights = _fit_appeal(table, clicks, looked[positions], weights)[0]
    total, size = np.zeros(len(logged)), np.zeros(len(logged))
    for which, own in zip(runs(logged.problems), lists, strict=True):
        some = logged.take(which)
        shown = some.rows >= 0
        appeal = _predict_appeal(replace(some, rows=own.rows), features, weights)
        moved = own.any_slot(looked) / looked
        wrong = np.where(shown, np.nan_to_num(some.outcomes) - looked * _predict_appeal(some, features, weights), 0.0)
        total[which] = (appeal * looked).sum(axis=1) + (moved * wrong).sum(axis=1)
        size[which] = moved.sum(axis=1)
    return total, effective_size(size)


def _predict_appeal(logged: AnsweredLists, features: Features, weights: Floats) -> Floats:
    tables = seen_along(logged, features)
    clicked = [scipy.special.expit(_with_one(table) @ weights) for table in tables]
    return np.where(logged.rows >= 0, np.stack(clicked, axis=1), 0.0)


def _by_em(logged: AnsweredLists) -> Floats:
    _, table, clicks, positions = _shown_items(logged)
    count = logged.rows.shape[1]
    rates = np.bincount(positions, clicks, minlength=count) / np.maximum(np.bincount(positions, minlength=count), 1)
    looked, weights = START * np.maximum(rates / max(rates.max(), 1e-9), LEAST), np.zeros(table.shape[1])
    with one_thread():
        for _ in range(ROUNDS):
            weights, appeal = _fit_appeal(table, clicks, looked[positions], weights)
            both = np.clip(looked[positions] * appeal, 1e-9, 1.0 - 1e-9)
            pull = np.bincount(positions, (clicks - both) / (1.0 - both), minlength=count)
            curve = np.bincount(positions, both / (1.0 - both), minlength=count)
            step = pull / np.maximum(curve, 1e-9)  # of the logarithm, by Fisher scoring
            looked = np.minimum(looked * np.exp(np.clip(step, -0.5, 0.5)), MOST)
            if np.abs(step).max() < 1e-5:
                break
    return _relative(looked)


def _fit_appeal(table: Floats, clicks: Floats, looked: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Take three Fisher scoring steps on the likelihood of clicks with P = looked * expit(table @ weights)."""
    for _ in range(3):
        appeal = scipy.special.expit(table @ weights)
        both = np.clip(looked * appeal, 1e-9, 1.0 - 1e-9)
        slope = looked * appeal * (1.0 - appeal)
        pull = (clicks - both) / (both * (1.0 - both)) * slope
        curve = (table * (slope**2 / (both * (1.0 - both)))[:, None]).T @ table
        step = solve(curve + PENALTY * np.eye(len(weights)), table.T @ pull - PENALTY * weights)
        weights = weights + step
    return weights, scipy.special.expit(table @ weights)


def _shown_items(logged: AnsweredLists) -> tuple[Features, Floats, Floats, Ints]:
    """Return the features and, by shown item, its table row, outcome and position."""
    parts: list[Features] = [Candidate()] if logged.problems.n_features else []
    features = Sum([*parts, *item_columns(logged)]).fit(logged.problems[: min(5000, len(logged))])
    shown: Bools = logged.rows >= 0
    table = _with_one(np.stack(seen_along(logged, features), axis=1)[shown])
    return features, table, np.nan_to_num(logged.outcomes)[shown], np.nonzero(shown)[1]


def _with_one(table: Floats32) -> Floats:
    return np.concatenate([np.ones((len(table), 1)), table], axis=1, dtype=np.float64)


def _harvest_examination(logged: AnsweredLists) -> Floats | None:
    known = logged.problems.catalogue if logged.problems.catalogue is not None else logged.problems.item_ids
    if known is None or logged.rows.shape[1] < 2:
        return None
    shown: Bools = logged.rows >= 0
    positions, rows = np.nonzero(shown)[1], logged.rows[shown]
    names, items = np.unique(known[rows].astype(str), return_inverse=True)
    count = shown.shape[1]
    key = items * count + positions
    size = len(names) * count
    times = np.bincount(key, minlength=size).reshape(-1, count).astype(np.float64)
    clicks = np.bincount(key, np.nan_to_num(logged.outcomes)[shown], minlength=size).reshape(-1, count)
    equations, sides, precision = [], [], []
    for i in range(count):
        for j in range(i + 1, count):
            both = np.flatnonzero((times[:, i] >= COMMON) & (times[:, j] >= COMMON))
            weight = 2.0 / (1.0 / times[both, i] + 1.0 / times[both, j])
            up, down = ((weight * clicks[both, k] / times[both, k]).sum() for k in (i, j))
            if up > 0 and down > 0:
                equations.append(np.eye(count)[i] - np.eye(count)[j])
                sides.append(np.log(up / down))
                precision.append(np.sqrt(1.0 / (1.0 / up + 1.0 / down)))
    if len({int(np.flatnonzero(row)[1]) for row in equations}) < count - 1:
        return None
    left = np.stack(equations)[:, 1:] * np.array(precision)[:, None]
    logs = np.linalg.lstsq(left, np.array(sides) * np.array(precision), rcond=None)[0]
    return _relative(np.exp(np.concatenate([[0.0], logs])))


def _relative(looked: Floats) -> Floats:
    return np.clip(looked / looked[0], LEAST, 1.0 / LEAST)
