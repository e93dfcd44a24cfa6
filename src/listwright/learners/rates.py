"""Rates of exponential weights: how fast a distribution over experts moves towards those that gained most.

All on the scale of the gains as they are: in one state an expert gains between 0 and `most`, the sum of the position
weights, which is at most k' = min(m, k).
"""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats

SECOND_ORDER = float(np.e - 2.0)  # exp(x) <= 1 + x + (e - 2) x^2 for x <= 1


def softmax(scores: Floats) -> Floats:
    """exp(scores), scaled to add up to 1 along the last axis; shifted first, so that it never overflows."""
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def exponential_weights(gains: Floats, rate: float) -> Floats:
    """Return the distribution with probabilities in proportion to exp(rate * gains); for an infinite rate, even on the
    best.
    """
    if np.isinf(rate):
        best = gains == gains.max(axis=-1, keepdims=True)
        return best / best.sum(axis=-1, keepdims=True)
    return softmax(rate * gains)


def best_rate(n_experts: int, states: float, most: float = 1.0) -> float:
    """Return the rate that makes the bound on the expected regret after so many states smallest."""
    # Here V is the smaller one, so that the regret is at most 2 sqrt(V T ln N), below the paper's 2 sqrt(k' T ln N).
    hoeffding, second = most**2 / 8.0, SECOND_ORDER * most
    if hoeffding <= second:
        return float(np.sqrt(np.log(n_experts) / (hoeffding * states)))
    return float(min(np.sqrt(np.log(n_experts) / (second * states)), 1.0 / most))


def doubled(states: int, start: int = 1) -> int:
    """Return the smallest of start, 2 start, 4 start, ... that is above `states`: a horizon for those who know none."""
    return start << max((states // start).bit_length(), 0)


def mixed_gain(gains: Floats, rate: float) -> float:
    """ln(mean(exp(rate * gains))) / rate: between the mean gain (rate 0) and the highest (infinite rate)."""
    best = float(gains.max())
    if np.isinf(rate):
        return best
    return best + float(np.log(np.mean(np.exp(rate * (gains - best))))) / rate
