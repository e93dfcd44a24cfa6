"""Topics of candidates: their numbers, gains, updates, and complete lists by lazy greedy."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._kernels import inline, inner, kernel

PROBABILITY, SQRT, LOG, CAP = 0, 1, 2, 3  # how the value of a topic grows with its level


@inline
def weighted_rise(shape: int, weight: float, level: float, amount: float, cap: float) -> float:
    """Return how far a topic at `level` rises when `amount` is added, times its weight."""
    # Written so that rounding never lets the rise grow with the level, on which lazy greedy relies.
    if shape == PROBABILITY:
        return weight * (1.0 - level) * amount
    if shape == SQRT:
        return weight * (amount / (np.sqrt(level + amount) + np.sqrt(level)))
    if shape == LOG:
        return weight * np.log1p(amount / (1.0 + level))
    return weight * min(amount, max(cap - level, 0.0))


@kernel()
def topic_gains(
    rows: Ints, owners: Ints, row_starts: Ints, topics: Ints, amounts: Floats, topic_starts: Ints, weights: Floats,
    caps: Floats, levels: Floats, shape: int,
) -> Floats:  # fmt: skip
    gains = np.zeros(len(rows))
    for i in range(len(rows)):
        row = rows[i]
        base = topic_starts[owners[row]]
        for j in range(row_starts[row], row_starts[row + 1]):
            topic = base + topics[j]
            gains[i] += weighted_rise(shape, weights[topic], levels[topic], amounts[j], caps[topic])
    return gains


@kernel()
def raise_levels(
    picks: Ints, owners: Ints, row_starts: Ints, topics: Ints, amounts: Floats, topic_starts: Ints,
    levels: Floats, shape: int,
) -> None:  # fmt: skip
    for row in picks:
        if row >= 0:
            base = topic_starts[owners[row]]
            for j in range(row_starts[row], row_starts[row + 1]):
                topic = base + topics[j]
                levels[topic] += (1.0 - levels[topic]) * amounts[j] if shape == PROBABILITY else amounts[j]


@kernel()
def number_columns(owners: Ints, columns: Ints, n_problems: int, n_columns: int) -> tuple[Ints, Ints, Ints]:
    """Numbers the columns that each problem uses, from 0."""
    number, counts = np.empty(n_problems * n_columns, dtype=np.int64), np.empty(n_problems, dtype=np.int64)
    for pair in range(len(number)):
        number[pair] = -1
    n_pairs, used = 0, 0
    for i in range(len(columns)):
        pair = owners[i] * n_columns + columns[i]
        n_pairs -= number[pair]  # -1 the first time
        number[pair] = 0
    pairs = np.empty(n_pairs, dtype=np.int64)
    for problem in range(n_problems):
        counts[problem] = 0
        for pair in range(problem * n_columns, (problem + 1) * n_columns):
            if number[pair] == 0:
                number[pair] = counts[problem]
                pairs[used] = pair
                counts[problem] += 1
                used += 1
    numbers = np.empty(len(columns), dtype=np.int64)
    for i in range(len(columns)):
        numbers[i] = number[owners[i] * n_columns + columns[i]]
    return pairs, numbers, counts


@inner()
def _sum(topics: Ints, amounts: Floats, first: int, last: int, worth: Floats) -> float:
    """Return the sum of worth times amount over the entries first:last: the gain of a row under PROBABILITY."""
    total = 0.0
    for j in range(first, last):
        total += worth[topics[j]] * amounts[j]
    return total


@inner()
def _gain(
    topics: Ints, amounts: Floats, first: int, last: int, weights: Floats, caps: Floats, levels: Floats, shape: int
) -> float:
    total = 0.0
    for j in range(first, last):
        topic = topics[j]
        total += weighted_rise(shape, weights[topic], levels[topic], amounts[j], caps[topic])
    return total


@inner()
def _lift(topics: Ints, amounts: Floats, weights: Floats, levels: Floats, worth: Floats, shape: int) -> None:
    for j in range(len(topics)):
        topic = topics[j]
        levels[topic] += (1.0 - levels[topic]) * amounts[j] if shape == PROBABILITY else amounts[j]
        worth[topic] = weights[topic] * (1.0 - levels[topic])


@inner(error_model="numpy")
def _lazy(
    start: int, gains: Floats, sizes: Floats, row_starts: Ints, topics: Ints, amounts: Floats, weights: Floats,
    caps: Floats, shape: int, total: float, most: float, left: float, picks: Ints, picked: Floats,
) -> None:  # fmt: skip
    """Fill one problem's list: rows of the batch into `picks`, what each adds into `picked`."""
    # Gains only decrease, so an old one bounds the new one, and a row is measured again only if it looks better than
    # the best so far; the last runner-up is tried first, so that this is high from the start. The cost is one read of
    # the gains per position, and the stored numbers of each row measured: less than keeping a heap in order, because a
    # row has few of them.
    n, runner_up, value = len(gains), 0, 0.0
    seen, bounds = np.empty(n, dtype=np.int64), np.empty(n)
    levels, worth = np.empty(len(weights)), np.empty(len(weights))
    for i in range(n):
        seen[i], bounds[i] = 0, gains[i] / sizes[i]
    for topic in range(len(weights)):
        levels[topic], worth[topic] = 0.0, weights[topic]
    for position in range(len(picks)):
        best, top = -1, -np.inf
        for i in range(-1, n):
            row = runner_up if i < 0 else i
            if bounds[row] < top or sizes[row] > left or seen[row] < 0:
                continue
            if seen[row] < position:
                first, last = row_starts[row], row_starts[row + 1]
                if shape == PROBABILITY:
                    gain = _sum(topics, amounts, first, last, worth)
                else:
                    gain = _gain(topics, amounts, first, last, weights, caps, levels, shape)
                gains[row] = min(gain, max(most - value, 0.0)) / total
                bounds[row], seen[row] = gains[row] / sizes[row], position
            if bounds[row] > top or (bounds[row] == top and row < best) or best < 0:
                best, top, runner_up = row, bounds[row], max(best, 0)
        if best < 0:
            break
        first, last = row_starts[best], row_starts[best + 1]
        picks[position], picked[position], seen[best] = start + best, gains[best], -1
        left -= sizes[best]
        value += gains[best] * total
        _lift(topics[first:last], amounts[first:last], weights, levels, worth, shape)


@kernel()
def lazy_topics(
    offsets: Ints, gains: Floats, sizes: Floats, row_starts: Ints, topics: Ints, amounts: Floats, topic_starts: Ints,
    weights: Floats, caps: Floats, shape: int, totals: Floats, most: Floats, budgets: Floats, picks: Ints,
    picked: Floats,
) -> None:  # fmt: skip
    for i in range(len(picks)):
        start, end, first, last = offsets[i], offsets[i + 1], topic_starts[i], topic_starts[i + 1]
        _lazy(
            start, gains[start:end], sizes[start:end], row_starts[start : end + 1], topics, amounts,
            weights[first:last], caps[first:last], shape, totals[i], most[i], budgets[i], picks[i], picked[i],
        )  # fmt: skip


@kernel()
def best_reference_gains(
    rows: Ints, owners: Ints, row_starts: Ints, topics: Ints, amounts: Floats, topic_starts: Ints, weights: Floats,
    caps: Floats, levels: Floats, reference_of: Ints, reference_starts: Ints, values: Floats,
) -> Floats:  # fmt: skip
    """Return how much each row would raise the highest recall over the references of its problem."""
    gains = np.empty(len(rows))
    for i in range(len(rows)):
        row = rows[i]
        owner = owners[row]
        first, last = reference_starts[owner], reference_starts[owner + 1]
        after = values[first:last].copy()
        for j in range(row_starts[row], row_starts[row + 1]):
            topic = topic_starts[owner] + topics[j]
            rise = min(levels[topic] + amounts[j], caps[topic]) - min(levels[topic], caps[topic])
            after[reference_of[topic]] += weights[topic] * rise
        gains[i] = after.max() - values[first:last].max()
    return gains
