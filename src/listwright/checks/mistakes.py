"""Mistakes that make a model useless or look better than it is, cheap enough to look for in every fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.warn import warn
from listwright.errors import DataWarning
from listwright.features.candidate import feature_names
from listwright.problems import Problems
from listwright.rewards import reward_of

TELLS_ALL = 0.9999  # correlation above which a feature is taken to be the reward itself
NAMED = 3  # examples in a message
LOOKED_AT = 500  # problems to examine, evenly spread over all
ENOUGH = 10  # fewest rows of either kind, and problems: with fewer, a finding may be chance
RANKS = {"rank", "ranks", "ranking"}  # words of a column's name
PLACES = {"click", "display", "displayed", "item", "items", "page", "pos", "position", "serp", "shown", "slot"}
AGREES = 0.99  # balanced accuracy from which a column of two values is taken to be the label


def warn_of_mistakes(problems: Problems, length: int | None) -> None:
    """Issues one `DataWarning` for each mistake that `mistakes` finds."""
    for told in mistakes(problems, length):
        warn(told, DataWarning)


def mistakes(problems: Problems, length: int | None = None) -> Iterator[str]:
    """Yield what is likely wrong with training problems, in words."""
    if len(problems) <= ENOUGH:
        return
    if length is not None and bool((problems.counts <= length).all()):
        yield _no_choice(problems, length)
    some = problems[np.unique(np.linspace(0, len(problems) - 1, LOOKED_AT).astype(np.int64))]
    if not some.n_features or sparse.issparse(some.features):
        return
    if _alike(some):
        yield (
            "The candidates of most problems do not differ: all their features are the same, so that no policy can "
            "tell them apart. Are these columns of the problem (context=), or is a column missing?"
        )
    reward = reward_of(some)
    telling = _telling(some, reward.gains(reward.start(some)))
    if len(telling):
        yield (
            f"The reward can be computed from {name_columns(some, telling)}. Will it be known for new problems? If "
            "not, leave it out with ignore=: the model would be worth much less than it seems."
        )
    counting = _positions(some)
    if len(counting):
        yield (
            f"Column {name_columns(some, counting)} counts the candidates of every problem (1, 2, 3, ...), like the "
            "position at which items were shown. If users saw them there, it says where they looked and not what is "
            "good: leave it out with ignore=, or learn from the log (OnlineSCP.fit_log, listwright fit --log)."
        )


def _no_choice(problems: Problems, length: int) -> str:
    """Return the message for lists that contain every candidate."""
    most = int(problems.counts.max())
    few = f"exactly {most}" if most == length and (problems.counts == most).all() else f"only {most}"
    return (
        f"Every problem has {few} candidates, as many as a list holds, so that every list holds all of them and there "
        "is nothing to choose. If these are items that were shown to users, they are a log: learn from it with "
        "OnlineSCP.fit_log (listwright fit --log). Else take a shorter length, or give more candidates."
    )


def _alike(problems: Problems) -> bool:
    """Return whether the candidates of most problems are the same in everything that a policy sees."""
    others = (problems.catalogue, problems.vectors, problems.links, problems.aspects, problems.query_terms)
    if any(one is not None for one in others) or (problems.counts < 2).all():
        return False
    first = problems.features[problems.offsets[:-1]]
    differs = (problems.features != first[problems.owners]).any(axis=1)
    same = ~np.logical_or.reduceat(differs, problems.offsets[:-1])
    return bool(same[problems.counts > 1].mean() > 0.5)


def _telling(problems: Problems, gains: Floats) -> Ints:
    """Return the columns that give the reward away: by correlation, or by two values that say whether an item gains."""
    gain = gains > 0
    if min(gain.sum(), (~gain).sum()) < ENOUGH:
        return np.zeros(0, dtype=np.int64)
    close = np.abs(correlations(problems.features, gains)) > TELLS_ALL
    return np.flatnonzero(close | _agreeing(problems.features, gain))


def _agreeing(table: Floats, gain: Bools) -> Bools:
    """Return by column whether it has two values, one of which stands for a gain."""
    low, high = table.min(axis=0), table.max(axis=0)
    two = (low < high) & ((table == low) | (table == high)).all(axis=0)
    found = np.zeros(table.shape[1], dtype=bool)
    for column in np.flatnonzero(two):
        is_high = table[:, column] == high[column]
        right = (is_high[gain].mean() + (~is_high)[~gain].mean()) / 2
        found[column] = max(right, 1 - right) >= AGREES
    return found


def _positions(problems: Problems) -> Ints:
    """Return the columns that contain 1, 2, 3, ... (or from 0), each once, in every problem of several candidates."""
    several = problems.counts > 2
    if several.sum() < ENOUGH:
        return np.zeros(0, dtype=np.int64)
    at = np.arange(problems.n_rows) - problems.offsets[problems.owners]
    starts = problems.offsets[:-1]
    found = []
    for column in np.flatnonzero((problems.features[:3] == np.round(problems.features[:3])).all(axis=0)):
        if problems.feature_names is not None and _ranked_by_a_score(problems.feature_names[column]):
            continue
        values = problems.features[:, column]
        least = np.minimum.reduceat(values, starts)
        if not np.isin(least[several], (0.0, 1.0)).all() or len(np.unique(least[several])) > 1:
            continue
        order = np.lexsort((values, problems.owners))
        counted = values[order] == at + least[problems.owners]
        if np.logical_and.reduceat(counted, starts)[several].all():
            found.append(column)
    return np.array(found, dtype=np.int64)


def _ranked_by_a_score(name: str) -> bool:
    """Return whether a column's name says that it is a rank, and by what: "bm25_rank", but not "rank" or
    "shown_rank".
    """
    words = set(re.split(r"[^a-z0-9]+", name.lower())) - {""}
    return bool(words & RANKS) and bool(words - RANKS - PLACES)


def correlations(features: Any, gains: Floats) -> Floats:
    """Return the correlation of each column with the gains; 0 if either is constant."""
    n, centred = len(gains), gains - gains.mean()
    means = dense_row(features.mean(axis=0, dtype=np.float64))
    if sparse.issparse(features):
        squares = dense_row(features.multiply(features).mean(axis=0, dtype=np.float64))
    else:
        squares = np.einsum("ij,ij->j", features, features, dtype=np.float64) / n
    spread = np.sqrt(np.maximum(squares - means**2, 0.0) * centred.var())
    shared = dense_row(features.T @ centred) / n
    return np.divide(shared, spread, out=np.zeros_like(shared), where=spread > 1e-9 * np.maximum(np.abs(means), 1e-9))


def dense_row(row: Any) -> Floats:
    """Return a row vector, dense or sparse, as a flat float64 array."""
    return np.asarray(row.toarray() if sparse.issparse(row) else row, dtype=np.float64).ravel()


def name_columns(problems: Problems, columns: Ints) -> str:
    """Return the names of some columns, for a message."""
    names = feature_names(problems)
    return first_names([names[i] for i in columns])


def first_names(names: Any) -> str:
    """Return the first few names, and how many more there are."""
    shown = ", ".join(str(name) for name in names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED:,} more"
