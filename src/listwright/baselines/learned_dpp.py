"""A determinantal point process whose quality is learned (Kulesza & Taskar 2012)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy import linalg, sparse

from listwright._internal.arrays import Bools, Floats, Ints, unit_rows
from listwright._internal.quotas import PerGroup
from listwright._internal.saved import saved_as
from listwright._internal.threads import one_thread
from listwright.baselines.base import Baseline, stepwise_lists
from listwright.errors import InputError
from listwright.evaluation.values import best_of, list_values
from listwright.features.scale import Scale
from listwright.features.volume import FLAT, Volume
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.selection.greedy import greedy
from listwright.walk.constraints import as_budgets

STEPS = 60  # of L-BFGS at most
RIDGE = 1e-6  # on the diagonal of a list's kernel: lists may hold duplicates
STEEP = 30.0  # largest log quality: exp must not overflow
SCALINGS = (0.0, 0.5, 1.0)


class _Case(NamedTuple):
    """One training problem: the table of its rows, their cosines, and the rows of the list to make likely."""

    table: Floats
    cosines: Floats
    chosen: Ints


@saved_as("baselines.LearnedDPP")
class LearnedDPP(Baseline):
    """Lists of a determinantal point process with kernel q_i q_j cos(i, j), where log q^2 is linear in the features and
    fitted by maximum likelihood on greedy oracle lists of the training problems (Kulesza & Taskar 2012).

    A list takes the row with the highest determinant / size^scaling, until nothing fits. (The paper's rule subtracts
    the old determinant before it divides by the size; if a row makes the determinant smaller, as most do among
    hundreds of candidates, that would favour large rows.) Cosines are between `problems.vectors`, or features without
    them.

    Parameters
    ----------
    scaling : float or str
        0 ignores sizes, 1 divides by them. "auto": what makes the best lists of the training problems.
    penalty : float
        Weight of |theta|^2 / 2 relative to the log-likelihood summed over the training problems.
    length, budget, per_group
        Limits of a list: see `Baseline`.

    See Also
    --------
    DPP : Takes relevance as given.

    Examples
    --------
    >>> import listwright as lw
    >>> rng = np.random.default_rng(0)
    >>> features = rng.random((30, 8, 2))
    >>> problems = lw.Problems.from_arrays(
    ...     features, vectors=rng.random((30, 8, 4)), reward=lw.rewards.AnySuccess(features[..., 0] > 0.8)
    ... )
    >>> model = LearnedDPP(length=2).fit(problems)
    >>> bool(model.weights_[0] > abs(model.weights_[1]))
    True
    """

    learns_budget = True  # scaling

    def __init__(
        self,
        penalty: float = 1.0,
        length: int = 5,
        *,
        per_group: PerGroup = None,
        scaling: float | str = "auto",
        budget: float | None = None,
    ) -> None:
        super().__init__(length, budget=budget, per_group=per_group)
        self.penalty = penalty
        self.scaling = scaling

    def _check_parameters(self, problems: Problems) -> None:
        if isinstance(self.penalty, bool) or not self.penalty > 0:
            raise InputError(f"penalty must be above 0. Got {self.penalty!r}.")
        if self.scaling != "auto" and (isinstance(self.scaling, str | bool) or not self.scaling >= 0):
            raise InputError(f'scaling must be 0 or more, or "auto". Got {self.scaling!r}.')

    def _learn(self, problems: Problems) -> None:
        oracle = greedy(problems, None if self.budget is not None else self.length, self.budget)
        self.scale_ = Scale.of(problems.features)
        table = self._table(problems)
        units = unit_rows(problems.features if problems.vectors is None else problems.vectors)
        cases = [
            _Case(table[start:end], _cosines(units[start:end]), chosen)
            for start, end, chosen in zip(problems.offsets[:-1], problems.offsets[1:], oracle, strict=True)
        ]
        first, options = np.zeros(table.shape[1]), {"maxiter": STEPS, "ftol": 1e-7}
        with one_thread():
            solution = scipy.optimize.minimize(
                _loss, first, (cases, self.penalty), jac=True, method="L-BFGS-B", options=options
            )
        self.weights_ = solution.x
        self.scaling_ = self._best_scaling(problems) if self.scaling == "auto" else float(self.scaling)

    def _best_scaling(self, problems: Problems) -> float:
        budgets = as_budgets(self.budget, problems)
        if budgets is None:
            return 0.0
        limits = int(problems.counts.max()), budgets
        return best_of(SCALINGS, lambda scaling: list_values(self._scaled_lists(problems, *limits, scaling), problems))

    def _lists(self, problems: Problems, steps: int, budgets: Floats | None) -> Lists:
        return self._scaled_lists(problems, steps, budgets, self.scaling_)

    def _scaled_lists(self, problems: Problems, steps: int, budgets: Floats | None, scaling: float) -> Lists:
        """Build lists greedily with a given scaling; log quality is linear in the features."""
        quality = self._table(problems) @ self.weights_
        if budgets is not None and problems.sizes is not None:
            quality -= scaling * np.log(np.maximum(problems.sizes, np.finfo(float).tiny))
        volume = Volume(times_features=False, relative=True).fit(problems)
        seen = [volume.start(problems)]
        anything = np.ones(problems.n_rows, dtype=bool)

        def score() -> tuple[Floats, Bools]:
            """Logarithm of how many times larger the determinant is with the row, per size."""
            return quality + np.log(np.maximum(seen[0].remaining, FLAT)), anything

        def add(picks: Ints) -> None:
            seen[0] = volume.add(seen[0], picks)

        return stepwise_lists(problems, steps, budgets, score, add)

    def _table(self, problems: Problems) -> Floats:
        """Return the scaled features and a constant, whose weight decides how long likely lists are."""
        scaled = self.scale_.apply(problems.features).astype(np.float64)
        return np.concatenate([scaled, np.ones((problems.n_rows, 1))], axis=1)


def _cosines(units: Any) -> Floats:
    table = units @ units.T
    return np.asarray(table.toarray() if sparse.issparse(table) else table, dtype=np.float64)


def _loss(weights: Floats, cases: list[_Case], penalty: float) -> tuple[float, Floats]:
    """Return minus the penalised log-likelihood of the lists, and its gradient."""
    total, slope = 0.5 * penalty * float(weights @ weights), penalty * weights
    for case in cases:
        value, gradient = log_likelihood(weights, *case)
        total, slope = total - value, slope - gradient
    return total, slope


def log_likelihood(weights: Floats, table: Floats, cosines: Floats, chosen: Ints) -> tuple[float, Floats]:
    """log det(L_chosen) - log det(L + I) and its gradient: features of the list minus expected features."""
    root = np.exp(0.5 * np.clip(table @ weights, -STEEP, STEEP))
    kernel = root[:, None] * cosines * root
    list_kernel = kernel[np.ix_(chosen, chosen)] + RIDGE * np.diag(root[chosen] ** 2)
    factor = linalg.cholesky(kernel + np.eye(len(kernel)), lower=True, check_finite=False)
    inverse, _ = linalg.lapack.dpotri(factor, lower=1)
    present = 1.0 - np.diag(inverse)  # the diagonal of K = L (L + I)^-1: how likely each row is in a list
    value = float(np.linalg.slogdet(list_kernel)[1]) - 2.0 * float(np.log(np.diag(factor)).sum())
    return value, table[chosen].sum(axis=0) - present @ table
