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
from listwright.rewards import AnySuccess, reward_of

LEAKS = 0.99  # within-problem AUC, or its mirror, from which a column is taken to give the reward away
SUSPICIOUS = 0.8  # the same for columns whose names say that they are measured after a list was shown
AFTERWARDS = re.compile(r"runtime|dwell|elapsed|click|position|purchase|watched|outcome|label|target|runstatus")
UNRELATED = 0.3  # correlation below which a sparse column is not looked at
FIRST_LOOK = 50  # problems from which columns are picked that are worth a look at more
NAMED = 3  # examples in a message
LOOKED_AT = 500  # problems to examine, evenly spread over all
ENOUGH = 10  # fewest rows of either kind, and problems: with fewer, a finding may be chance
EVENTS = 8  # items that are better than others, and worse, from which on a column is said to leak
RANKS = {"rank", "ranks", "ranking"}  # words of a column's name
PLACES = {"click", "display", "displayed", "item", "items", "page", "pos", "position", "serp", "shown", "slot"}


def warn_of_mistakes(problems: Problems, length: int | None) -> None:
    """Issue one `DataWarning` for each mistake that `mistakes` finds."""
    for message in mistakes(problems, length):
        warn(message, DataWarning)


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
    gains = reward.gains(reward.start(some))
    leaking = leaking_columns(some, gains)
    if len(leaking):
        yield (
            f"The reward can be computed from {name_columns(some, leaking)}. Will it be known for new problems? If "
            "not, leave it out with ignore=: the model would be worth much less than it seems."
        )
    alike = isinstance(reward_of(some), AnySuccess) and (gains == gains[0]).all()  # others may differ later in a list
    if (gains <= 0).all() or alike:
        worth = "nothing" if (gains <= 0).all() else f"the same ({gains[0]:g})"
        yield f"Every item is worth {worth}, so that there is nothing to learn: check the column of the reward."
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


def leaking_columns(problems: Problems, gains: Floats) -> Ints:
    """Return the columns that give the reward away: they order the items of nearly every problem by their gains."""
    starts = problems.offsets[:-1]
    usual = np.where(np.minimum.reduceat(gains, starts) > 0, np.add.reduceat(gains, starts) / problems.counts, 0.0)
    better = gains > usual[problems.owners]
    if min(better.sum(), (~better).sum()) < EVENTS:
        return np.zeros(0, dtype=np.int64)
    afterwards = np.array([AFTERWARDS.search(_letters(name)) is not None for name in feature_names(problems)])
    limits = np.where(afterwards, SUSPICIOUS, LEAKS)
    if sparse.issparse(problems.features):  # of many columns, those that can matter
        limits[np.abs(correlations(problems.features, gains)) < UNRELATED] = np.inf
    few = int(problems.offsets[min(len(problems), FIRST_LOOK)])
    for end, slack in ((few, 0.05), (problems.n_rows, 0.0)):
        for column in np.flatnonzero(limits <= 1.0):
            values = dense_row(problems.features[:end, [column]])
            auc = _within_auc(values, better[:end], problems.owners[:end], problems.offsets)
            if not max(auc, 1.0 - auc) >= limits[column] - slack:
                limits[column] = np.inf
    return np.flatnonzero(limits <= 1.0)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _within_auc(values: Floats, better: Bools, owners: Ints, offsets: Ints) -> float:
    """Return how often, over pairs within a problem, the better item has the higher value; ties count half."""
    order = np.lexsort((values, owners))
    starts = np.flatnonzero(np.r_[True, (np.diff(values[order]) != 0) | (np.diff(owners) != 0)])
    counts = np.diff(np.r_[starts, len(order)])
    ranks = np.repeat(starts + (counts - 1) / 2, counts) - offsets[owners]
    n_better = np.bincount(owners, better, minlength=int(owners[-1]) + 1)
    n_pairs = (n_better * (np.bincount(owners) - n_better)).sum()
    wins = ranks[better[order]].sum() - (n_better * (n_better - 1) / 2).sum()
    return float(wins / n_pairs) if n_pairs else 0.5


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
