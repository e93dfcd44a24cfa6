"""Losses that stand in for cost-sensitive classification; the weights of examples are left to the caller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import sparse

from listwright._internal.arrays import Floats, Ints, as_numbers, as_whole_numbers, first_bad
from listwright._internal.threads import one_thread
from listwright._kernels.losses import cost_ranks, hinge_of_ranks, hinge_pairs, sort_within, squared_residuals
from listwright.errors import InputError

Loss = Callable[[ArrayLike, ArrayLike, ArrayLike], tuple[Floats, Floats]]


def squared_loss(scores: ArrayLike, costs: ArrayLike, offsets: ArrayLike) -> tuple[Floats, Floats]:
    """Return the reduction to regression: sum over rows of (h + c)^2, where the score predicts minus the cost.

    Parameters
    ----------
    scores, costs : array of shape (rows,)
        h (higher is better) and c (lower is better), problem after problem.
    offsets : array of int
        Where each problem starts, and the number of rows at the end.

    Returns
    -------
    losses : ndarray of shape (problems,)
        Loss of each problem.
    gradient : ndarray of shape (rows,)
        Derivative of the loss in each score.

    See Also
    --------
    hinge_rank : A loss on pairs of candidates.

    Examples
    --------
    >>> squared_loss([0.0, -1.5], [0.0, 1.0], [0, 2])
    (array([0.25]), array([ 0., -1.]))
    """
    losses, gradient = squared_residuals(*_validate(scores, costs, offsets))
    return losses, gradient


def hinge_rank(scores: ArrayLike, costs: ArrayLike, offsets: ArrayLike) -> tuple[Floats, Floats]:
    """Return the reduction to ranking: sum over pairs with c(a) < c(b) of (c(b) - c(a)) max(0, 1 - (h(a) - h(b))).

    The cheaper item of a pair must score higher by a margin of 1, and a miss counts by the difference in cost. (As
    printed in the paper, the sign of the difference ranks the costlier item higher.) Pairs are never listed: n rows
    take n log n steps. At the margin itself, where the slope has a step, the gradient is that of a pair ranked right.

    In the first problem below, the pair is ranked the wrong way round; in the second, right and by a margin.

    See Also
    --------
    squared_loss : For the parameters and what is returned.

    Examples
    --------
    >>> hinge_rank([0.0, 0.5, 2.0, 0.5], [0.0, 2.0, 0.0, 2.0], [0, 2, 4])
    (array([3., 0.]), array([-2.,  2.,  0.,  0.]))
    """
    losses, gradient = hinge_pairs(*_validate(scores, costs, offsets))
    return losses, gradient


LOSSES: dict[str, Loss] = {"squared": squared_loss, "hinge_rank": hinge_rank}


def least_hinge(table: Any, costs: ArrayLike, offsets: ArrayLike, *, penalty: float = 1.0) -> Floats:
    """Return the h that minimises penalty * |h|^2 / 2 + the `hinge_rank` of the scores `table @ h`: a ranking SVM."""
    # A full solve, by L-BFGS over all rows of a dense or sparse table; pairs are never listed.
    rows = sparse.csr_array(table, dtype=np.float64) if sparse.issparse(table) else as_numbers(table, "table")
    _, c, starts = _validate(np.zeros(len(np.asarray(costs))), costs, offsets)
    if rows.ndim != 2 or rows.shape[0] != len(c):
        raise InputError(f"table must have one row per cost ({len(c)}). Got shape {rows.shape}.")
    if not (np.isfinite(penalty) and penalty > 0):
        raise InputError(f"penalty must be a number above 0. Got {penalty!r}.")
    ranks = cost_ranks(c, sort_within(c, starts), starts)  # of the costs alone

    def objective(weights: Floats) -> tuple[float, Floats]:
        h = rows @ weights
        losses, slopes = hinge_of_ranks(h, c, ranks, starts)
        value = 0.5 * float(weights @ weights) + float(losses.sum()) / penalty
        return value, weights + slopes @ rows / penalty

    options = {"ftol": 1e-8}  # closer to the least value of so many kinks, L-BFGS only searches along lines
    with one_thread():  # products as small as a state's are slower on two
        return scipy.optimize.minimize(
            objective, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B", options=options
        ).x


def _validate(scores: ArrayLike, costs: ArrayLike, offsets: ArrayLike) -> tuple[Floats, Floats, Ints]:
    h, c, starts = as_numbers(scores, "scores"), as_numbers(costs, "costs"), as_whole_numbers(offsets, "offsets")
    if h.ndim != 1 or h.shape != c.shape:
        raise InputError(f"scores and costs must have one number per row each. Got shapes {h.shape} and {c.shape}.")
    if starts.ndim != 1 or len(starts) == 0 or starts[0] != 0 or starts[-1] != len(h) or (np.diff(starts) < 0).any():
        raise InputError(f"offsets must rise from 0 to the number of rows, {len(h)}. Got {starts}.")
    for name, values in (("scores", h), ("costs", c)):
        bad = first_bad(~np.isfinite(values))
        if bad is not None:
            raise InputError(f"{name} must be finite numbers. Got {values[bad]} at row {bad}.")
    # A read-only array would compile every kernel again.
    h, c = (values if values.flags.writeable else values.copy() for values in (h, c))
    return h, c, starts
