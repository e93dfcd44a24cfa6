"""Online gradient descent over many states in one go: a step after each."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._kernels.logistic import logistic_pairs
from listwright._kernels.pairs import hinge_pairs
from listwright._kernels.residuals import squared_residuals

SQUARED, HINGE, LOGISTIC = 0, 1, 2


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _scores(table: Floats32, weights: Floats, scores: Floats) -> None:
    for i in range(len(table)):
        total = 0.0
        for j in range(len(weights)):
            total += table[i, j] * weights[j]
        scores[i] = total


@njit(cache=True, nogil=True, fastmath={"contract"})
def _gradient(table: Floats32, slopes: Floats, gradient: Floats) -> None:
    gradient[:] = 0.0
    for i in range(len(table)):
        for j in range(len(gradient)):
            gradient[j] += table[i, j] * slopes[i]


@njit(cache=True, nogil=True, fastmath={"contract"})
def _step(gradient: Floats, rate: float, weights: Floats, squares: Floats) -> None:
    for j in range(len(weights)):
        squares[j] += gradient[j] * gradient[j]
        weights[j] -= rate * gradient[j] / np.sqrt(squares[j] + 1e-12)


@njit(cache=True, nogil=True)
def adagrad_pass(
    table: Floats32,
    costs: Floats,
    offsets: Ints,
    loss: int,
    weight: float,
    rate: float,
    penalty: float,
    weights: Floats,
    squares: Floats,
    slopes: Floats,
) -> tuple[float, float, float]:
    """One AdaGrad step for each state in turn, in place, and the sums that regret is counted with.

    Those are the loss before each step and the product of its gradient with the weights; the gradients, in `slopes`;
    and the length of the longest weights.

    Cost: two reads of the table, and the loss (n log n steps a state for those over pairs).
    """
    total, tangent, longest, gradient = 0.0, 0.0, 0.0, np.empty(len(weights))
    for state in range(len(offsets) - 1):
        start, end = offsets[state], offsets[state + 1]
        scores, whole = np.empty(end - start), np.array([0, end - start])
        _scores(table[start:end], weights, scores)
        if loss == SQUARED:
            losses, pushes = squared_residuals(scores, costs[start:end], whole)
        elif loss == HINGE:
            losses, pushes = hinge_pairs(scores, costs[start:end], whole)
        else:
            losses, pushes = logistic_pairs(scores, costs[start:end], whole)
        total += weight * losses[0]
        _gradient(table[start:end], pushes, gradient)
        for j in range(len(weights)):
            gradient[j] *= weight
            slopes[j] += gradient[j]
            tangent += gradient[j] * weights[j]
            gradient[j] += penalty * weights[j]
        _step(gradient, rate, weights, squares)
        longest = max(longest, np.sqrt((weights * weights).sum()))
    return total, tangent, longest
