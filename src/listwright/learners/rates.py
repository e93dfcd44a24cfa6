"""Rates of exponential weights: how fast a distribution over experts moves towards those that gained most.

All on the scale of the gains as they are: in one state an expert gains between 0 and `most`, the sum of the position
weights, which is at most k' = min(m, k).
"""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats

SECOND_ORDER = float(np.e - 2.0)  # exp(x) <= 1 + x + (e - 2) x^2 for x <= 1


def softmax(scores: Floats) -> Floats:
    """exp(scores), scaled to add up to 1 along the last axis; shifted first, so that it never overflows.

    Examples
    --------
    >>> softmax(np.array([1000.0, 1000.0, -1000.0]))
    array([0.5, 0.5, 0. ])
    """
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def exponential_weights(gains: Floats, rate: float) -> Floats:
    """The distribution with probabilities in proportion to exp(rate * gains); for an infinite rate, even on the best.

    Examples
    --------
    >>> exponential_weights(np.array([0.0, np.log(3.0)]), 1.0)
    array([0.25, 0.75])
    >>> exponential_weights(np.array([1.0, 2.0, 2.0]), np.inf)
    array([0. , 0.5, 0.5])
    """
    if np.isinf(rate):
        best = gains == gains.max(axis=-1, keepdims=True)
        return best / best.sum(axis=-1, keepdims=True)
    return softmax(rate * gains)


def best_rate(n_experts: int, states: float, most: float = 1.0) -> float:
    """The rate that makes the bound on the expected regret after so many states smallest.

    The regret is at most ln N / rate + rate * V * T. Two values of V are proved: most^2 / 8 (Hoeffding's lemma), and
    (e - 2) * most where the gains along the learner's own list add up to at most 1 in a state, as they do for f in
    [0, 1]; the second needs rate * most <= 1 and is what makes the regret grow with sqrt(k') and not with k'. Here V
    is the smaller one, so that the regret is at most 2 sqrt(V T ln N), below the paper's 2 sqrt(k' T ln N).

    Examples
    --------
    >>> round(best_rate(10, 1000), 4)
    0.1357
    """
    hoeffding, second = most**2 / 8.0, SECOND_ORDER * most
    if hoeffding <= second:
        return float(np.sqrt(np.log(n_experts) / (hoeffding * states)))
    return float(min(np.sqrt(np.log(n_experts) / (second * states)), 1.0 / most))


def doubled(states: int, start: int = 1) -> int:
    """The smallest of start, 2 start, 4 start, ... that is above `states`: a horizon for those who know none.

    Examples
    --------
    >>> [doubled(states) for states in (0, 1, 2, 3, 4, 1000)]
    [1, 2, 4, 4, 8, 1024]
    >>> doubled(100, start=100), doubled(99, start=100)
    (200, 100)
    """
    return start << max((states // start).bit_length(), 0)


def mixed_gain(gains: Floats, rate: float) -> float:
    """ln(mean(exp(rate * gains))) / rate: between the mean gain (rate 0) and the highest (infinite rate).

    Examples
    --------
    >>> round(mixed_gain(np.array([0.0, 1.0]), 1.0), 4), mixed_gain(np.array([0.0, 1.0]), np.inf)
    (0.6201, 1.0)
    """
    best = float(gains.max())
    if np.isinf(rate):
        return best
    return best + float(np.log(np.mean(np.exp(rate * (gains - best))))) / rate
