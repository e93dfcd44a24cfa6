"""Mistakes that make a model useless or look better than it is, cheap enough to look for in every fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.extras import warn
from listwright.errors import DataWarning
from listwright.features.candidate import feature_names
from listwright.problems import Problems
from listwright.rewards import AnySuccess, reward_of

LEAKS = 0.999  # within-problem AUC, or its mirror, from which a column gives the reward away
NEARLY, NOISY = 0.993, 0.97  # the same in many problems: of any column, and of one that is constant without a success
SUSPICIOUS = 0.8  # the same for columns whose names say that they are measured after a list was shown
MIXED = 60  # problems with better and worse items that a column without ties, or with noise, must tell apart
MOST_LEVELS = 50  # different values up to which a column is also taken for a category
AFTERWARDS = re.compile(r"runtime|dwell|elapsed|click|position|purchase|watched|outcome|label|target|runstatus")
BEFORE = re.compile(r"past|prev|prior|before|hist|predict|expect|estimat|average|(?<![a-z])(avg|mean|last|rate)")
FIRST_LOOK, SLACK = 400, 0.05  # pairs of a better and a worse item that say which columns are worth a closer look
MOST_PAIRED = 40  # columns up to which pairs of them are looked at
NAMED = 3  # examples in a message
LOOKED_AT = 500  # problems to examine, evenly spread over all
ENOUGH = 10  # fewest rows of either kind, and problems: with fewer, a finding may be chance
EVENTS = 8  # items that are better than others, and worse, from which on a column is said to leak
RANKS = {"rank", "ranks", "ranking"}  # words of a column's name
PLACES = {"click", "display", "displayed", "item", "items", "page", "pos", "position", "serp", "shown", "slot"}


def warn_of_mistakes(problems: Problems, length: int | None) -> None:
    for message in mistakes(problems, length):
        warn(message, DataWarning)


def mistakes(problems: Problems, length: int | None = None) -> Iterator[str]:
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
    leaking = leaks_of(some, gains)
    if leaking:
        yield (
            f"The reward can be computed from {leaking}. Will it be known for new problems? If not, leave it out with "
            "ignore=: the model would be worth much less than it seems."
        )
    alike = isinstance(reward_of(some), AnySuccess) and (gains == gains[0]).all()  # others may differ later in a list
    if (gains <= 0).all() or alike:
        worth = "nothing" if (gains <= 0).all() else f"the same ({gains[0]:g})"
        yield f"Every item is worth {worth}, so that there is nothing to learn: check the column of the reward."
    counting = counting_columns(some)
    if len(counting):
        yield (
            f"Column {name_columns(some, counting)} counts the candidates of every problem (1, 2, 3, ...), like the "
            "position at which items were shown. If users saw them there, it says where they looked and not what is "
            "good: leave it out with ignore=, or learn from the log (OnlineSCP.fit_log, listwright fit --log). If it "
            "names recurring items, say so with item=."
        )


def _no_choice(problems: Problems, length: int) -> str:
    most = int(problems.counts.max())
    few = f"exactly {most}" if most == length and (problems.counts == most).all() else f"only {most}"
    return (
        f"Every problem has {few} candidates, as many as a list holds, so that every list holds all of them and there "
        "is nothing to choose. If these are items that were shown to users, they are a log: learn from it with "
        "OnlineSCP.fit_log (listwright fit --log). Else take a shorter length, or give more candidates."
    )


def _alike(problems: Problems) -> bool:
    others = (problems.catalogue, problems.vectors, problems.links, problems.aspects, problems.query_terms)
    if any(part is not None for part in others) or (problems.counts < 2).all():
        return False
    first = problems.features[problems.offsets[:-1]]
    differs = (problems.features != first[problems.owners]).any(axis=1)
    same = ~np.logical_or.reduceat(differs, problems.offsets[:-1])
    return bool(same[problems.counts > 1].mean() > 0.5)


def leaks_of(problems: Problems, gains: Floats) -> str:
    """Return the columns that give the reward away, as numbers, as categories or else in pairs; "" for none."""
    columns = leaking_columns(problems, gains)
    if len(columns):
        return name_columns(problems, columns)
    categories = leaking_categories(problems, gains)
    if categories:
        return first_names(categories)
    pairs = [name_columns(problems, np.array(pair)) for pair in leaking_pairs(problems, gains)]
    return first_names([pair.replace(", ", " and ") for pair in pairs])


def leaking_columns(problems: Problems, gains: Floats) -> Ints:
    """Return the columns that give the reward away: they order the items of nearly every problem by their gains."""
    better = better_items(problems, gains)
    if min(better.sum(), (~better).sum()) < EVENTS:
        return np.zeros(0, dtype=np.int64)
    limits = np.full(problems.n_features, NOISY)
    limits[measured_afterwards(problems)] = SUSPICIOUS
    ahead = _share_ahead(_differences(problems.features, *_sample_pairs(problems, better)))
    near = np.flatnonzero(ahead >= limits - SLACK)
    table = problems.features[:, near]
    exact = np.abs(correlations(table, gains)) >= LEAKS
    leaks = [
        _leaks(dense_row(table[:, [i]]), better, problems, limits[at], exact=exact[i]) for i, at in enumerate(near)
    ]
    return near[np.array(leaks, dtype=bool)]


def measured_afterwards(problems: Problems) -> Ints:
    names = feature_names(problems)
    named = [AFTERWARDS.search(_letters(name)) is not None and not BEFORE.search(name.lower()) for name in names]
    return np.flatnonzero(named)


def leaking_categories(problems: Problems, gains: Floats) -> list[str]:
    """Return the columns of few values that give the reward away as categories, whatever the order of their values."""
    better = better_items(problems, gains)
    if sparse.issparse(problems.features) or min(better.sum(), (~better).sum()) < EVENTS:
        return []
    by_level = {name: _rates_by_level(codes, better, problems.owners) for name, codes in _categories(problems)}
    return [name for name, rates in by_level.items() if _leaks(rates, better, problems, NEARLY, rates=True)]


def _categories(problems: Problems) -> Iterator[tuple[str, Ints]]:
    """Yield what may be a category of three levels or more, as codes: columns of few numbers, and groups of flags."""
    table = problems.features
    flags: dict[str, list[int]] = {}
    for column, name in enumerate(feature_names(problems)):
        if "=" in name:
            flags.setdefault(name.partition("=")[0], []).append(column)
        elif 3 <= len(np.unique(table[:FIRST_LOOK, column])) <= MOST_LEVELS:
            levels, codes = np.unique(table[:, column], return_inverse=True)
            if len(levels) <= MOST_LEVELS:
                yield name, codes
    yield from ((name, table[:, columns].argmax(axis=1)) for name, columns in flags.items() if len(columns) > 2)


def _rates_by_level(codes: Ints, better: Bools, owners: Ints) -> Floats:
    """Return by row how often items of its level are better, in every second problem that is not its own."""
    rates: Floats = np.empty(len(codes))
    for half in (0, 1):
        others, n_levels = owners % 2 != half, int(codes.max()) + 1
        n = np.bincount(codes[others], minlength=n_levels)
        good = np.bincount(codes[others], better[others], minlength=n_levels)
        rates[~others] = np.where(n > 0, good / np.maximum(n, 1), better.mean())[codes[~others]]
    return rates


def leaking_pairs(problems: Problems, gains: Floats) -> list[tuple[int, int]]:
    """Return the pairs of columns whose difference or product gives the reward away, where no column alone does."""
    better, n = better_items(problems, gains), problems.n_features
    if not 2 <= n <= MOST_PAIRED or sparse.issparse(problems.features):
        return []
    if min(better.sum(), (~better).sum()) < 2 * EVENTS:  # of many pairs, some would do so by chance
        return []
    first, second = np.triu_indices(n, 1)
    rows, table, names = _sample_pairs(problems, better), problems.features.astype(np.float64), set()
    for combine in (np.subtract, np.multiply, _gap):
        ahead = _share_ahead(_differences(combine(table[:, first], table[:, second]), *rows))
        for at in np.flatnonzero(ahead >= LEAKS):  # honest columns may nearly do so together
            values = combine(table[:, first[at]], table[:, second[at]])
            if _leaks(values, better, problems, LEAKS):
                names.add((int(first[at]), int(second[at])))
    return sorted(names)


def _gap(left: Floats, other: Floats) -> Floats:
    return np.abs(left - other)


def better_items(problems: Problems, gains: Floats) -> Bools:
    """Return by row whether it gains more than nothing or, where all items of its problem gain, than their mean."""
    starts = problems.offsets[:-1]
    usual = np.where(np.minimum.reduceat(gains, starts) > 0, np.add.reduceat(gains, starts) / problems.counts, 0.0)
    better: Bools = gains > usual[problems.owners]
    return better


def _sample_pairs(problems: Problems, better: Bools) -> tuple[Ints, Ints]:
    """Return better and worse items of the same problems, some hundred pairs drawn from all."""
    rng, worse = np.random.default_rng(0), np.flatnonzero(~better)
    n_worse = np.bincount(problems.owners[worse], minlength=len(problems))
    rows = np.flatnonzero(better & (n_worse[problems.owners] > 0))
    rows = rows[rng.integers(len(rows), size=FIRST_LOOK)] if len(rows) else rows
    owners = problems.owners[rows]
    return rows, worse[np.searchsorted(problems.owners[worse], owners) + rng.integers(n_worse[owners])]


def _differences(table: Any, better: Ints, worse: Ints) -> Floats:
    gaps = table[better] - table[worse]
    return np.asarray(gaps.toarray() if sparse.issparse(gaps) else gaps, dtype=np.float64)


def _share_ahead(gaps: Floats) -> Floats:
    """Return by column how often the better item is ahead, or how often it is behind if that is more often."""
    ahead = np.sign(gaps).sum(axis=0) / max(len(gaps), 1)
    return (1.0 + np.abs(ahead)) / 2.0


def _leaks(
    values: Floats, better: Bools, problems: Problems, limit: float, *, exact: bool = False, rates: bool = False
) -> bool:
    """Return whether values order items by their gains, in so many problems or so clearly that it is no chance."""
    auc = _within_auc(values, better, problems.owners, problems.offsets)
    auc, flat, steep = max(auc, 1.0 - auc), _mostly_equal(values[~better]), _mostly_equal(values[better])
    if auc < (limit if flat or limit <= SUSPICIOUS else max(limit, NEARLY)):
        return False
    n_better = np.bincount(problems.owners, better, minlength=len(problems))
    mixed = int(((n_better > 0) & (n_better < problems.counts)).sum())
    enough = MIXED // 2 if auc == 1.0 and limit < LEAKS else MIXED  # one column without a single mistake is no chance
    clear = flat and steep if rates else flat or steep  # many rates are 0 where few items succeed
    return limit <= SUSPICIOUS or exact or mixed >= enough or (auc >= LEAKS and clear)


def _mostly_equal(values: Floats) -> bool:
    return bool((values == np.median(values)).mean() > 0.5)


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


def counting_columns(problems: Problems) -> Ints:
    """Return the columns that contain 1, 2, 3, ... (or from 0), each once, in every problem of several candidates."""
    several = problems.counts > 2
    if sparse.issparse(problems.features) or several.sum() < ENOUGH:
        return np.zeros(0, dtype=np.int64)
    at = np.arange(problems.n_rows) - problems.offsets[problems.owners]
    starts = problems.offsets[:-1]
    names = []
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
            names.append(column)
    return np.array(names, dtype=np.int64)


def _ranked_by_a_score(name: str) -> bool:
    words = set(re.split(r"[^a-z0-9]+", name.lower())) - {""}
    return bool(words & RANKS) and bool(words - RANKS - PLACES)


def correlations(features: Any, gains: Floats) -> Floats:
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
    return np.asarray(row.toarray() if sparse.issparse(row) else row, dtype=np.float64).ravel()


def name_columns(problems: Problems, columns: Ints) -> str:
    names = feature_names(problems)
    return first_names([names[i] for i in columns])


def first_names(names: Any) -> str:
    shown = ", ".join(str(name) for name in names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED:,} more"
