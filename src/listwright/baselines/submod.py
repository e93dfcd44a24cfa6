"""Budgeted submodular summaries: alike to what is left out, unlike each other (Lin & Bilmes 2010)."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Ints, row_dots, unit_rows
from listwright._internal.quotas import PerGroup
from listwright._internal.saved import saved_as
from listwright.baselines.base import Baseline, as_lists, stepwise_lists
from listwright.errors import InputError
from listwright.evaluation.values import best_of, list_values
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.walk.constraints import Constraints, as_budgets

REDUNDANCIES = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
SCALINGS = (0.0, 0.3, 0.6, 0.8, 1.0)


@saved_as("baselines.SubMod")
class SubMod(Baseline):
    """Greedy lists of f(S) = sum of w over pairs with one row in S - redundancy * sum of w over pairs within S, where w
    is the cosine between `problems.vectors`, or features without them (Lin & Bilmes 2010).

    Each pick has the highest gain / size^scaling among rows that fit; a row that would lower f is left out, unless
    quotas need it, so a list may be shorter than it could be. The best single row is taken where it is worth more than
    the list, unless there are quotas or pins.

    Parameters
    ----------
    redundancy, scaling : float or str
        The paper's lambda and r. "auto": those whose lists are worth most on the training problems,
        under `budget` or `length`.
    length, budget, per_group
        Limits of a list: see `Baseline`.

    See Also
    --------
    MMR : A simpler trade-off between relevance and similarity.
    listwright.SCP : Learns what an item adds from measured lists.

    Examples
    --------
    >>> vectors = [[1.0, 0.0], [0.9, 0.1], [0.1, 0.9]]
    >>> problems = Problems.from_arrays(np.zeros((1, 3, 1)), vectors=vectors)
    >>> SubMod(4.0, 0.0, length=2).fit(problems).predict(problems)[0]
    array([1])
    """

    learns_budget = True  # scaling

    def __init__(
        self,
        redundancy: float | str = "auto",
        scaling: float | str = "auto",
        length: int = 5,
        *,
        per_group: PerGroup = None,
        budget: float | None = None,
    ) -> None:
        super().__init__(length, budget=budget, per_group=per_group)
        self.redundancy = redundancy
        self.scaling = scaling

    def fit(self, problems: Any, y: None = None, **options: Any) -> SubMod:
        """Take the parameters over, or tunes them; see `Baseline.fit`."""
        self.redundancy_, self.scaling_ = self.redundancy, self.scaling
        return super().fit(problems, y, **options)

    def _check_parameters(self, problems: Problems) -> None:
        for name in ("redundancy", "scaling"):
            value = getattr(self, name)
            if value != "auto" and (isinstance(value, str | bool) or not value >= 0):
                raise InputError(f'{name} must be 0 or more, or "auto". Got {value!r}.')

    def _learns(self, problems: Problems) -> bool:
        return "auto" in (self.redundancy, self.scaling)

    def _learn(self, problems: Problems) -> None:
        graph = _Graph(problems)
        budgets = as_budgets(self.budget, problems)
        steps = int(problems.counts.max()) if budgets is not None else self.length
        options = product(
            REDUNDANCIES if self.redundancy == "auto" else [self.redundancy],
            SCALINGS if self.scaling == "auto" and budgets is not None else [self.scaling],
        )
        pairs = [(float(weight), 0.0 if other == "auto" else float(other)) for weight, other in options]
        self.redundancy_, self.scaling_ = best_of(
            pairs, lambda pair: list_values(_greedy(problems, graph, pair, steps, budgets), problems)
        )

    def _lists(self, problems: Problems, steps: int, budgets: Floats | None) -> Lists:
        return _greedy(problems, _Graph(problems), (float(self.redundancy_), float(self.scaling_)), steps, budgets)


class _Graph:
    """Rows of each problem as a graph whose edges are cosines; only degrees and the edges of picks are computed."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.units: Any = unit_rows(problems.features if problems.vectors is None else problems.vectors)
        shape = (len(problems), problems.n_rows)
        members = sparse.csr_array(
            (np.ones(problems.n_rows), np.arange(problems.n_rows), problems.offsets), shape=shape
        )
        own = np.asarray(self._dots(self.units, np.arange(problems.n_rows)))
        self.degrees = self._dots(members @ self.units, problems.owners) - own

    def near(self, picks: Ints) -> Floats:
        near = self._dots(self.units, np.maximum(picks, 0)[self.problems.owners])
        return np.where((picks >= 0)[self.problems.owners], near, 0.0)

    def _dots(self, others: Any, partners: Ints) -> Floats:
        table = sparse.csr_array(others) if sparse.issparse(self.units) else np.asarray(others)
        return row_dots(self.units, table[partners])


def _greedy(
    problems: Problems, graph: _Graph, parameters: tuple[float, float], steps: int, budgets: Floats | None
) -> Lists:
    """Build greedy lists for one pair of (redundancy, scaling), in time linear in rows times picks."""
    redundancy, scaling = parameters
    costs = np.ones(problems.n_rows) if budgets is None or problems.sizes is None else problems.sizes**scaling
    inside, worth = np.zeros(problems.n_rows), np.zeros(len(problems))

    def gains() -> Floats:
        # A row that goes in stands no longer outside: pairs with the list are lost once each way, and punished.
        return graph.degrees - 2.0 * (1.0 + redundancy) * inside

    def add(picks: Ints) -> None:
        worth[picks >= 0] += gains()[picks[picks >= 0]]
        inside[:] += graph.near(picks)

    quotas = problems.quotas  # rows that it pins or whose groups need some are taken even if they lower f
    needed = quotas is not None and ((quotas.pinned > 0) | (quotas.least > 0).any(axis=1))
    lists = stepwise_lists(problems, steps, budgets, lambda: (gains() / costs, (gains() >= 0) | needed), add)
    return _or_single(lists, np.where(Constraints(problems, budgets, steps).fits(), graph.degrees, -np.inf), worth)


def _or_single(lists: Lists, alone: Floats, worth: Floats) -> Lists:
    """Replace a list by the best single row if that is worth more, as the guarantee of budgeted greedy requires."""
    problems = lists.problems
    rows = np.array([start + alone[start:end].argmax() for start, end in pairwise(problems.offsets)])
    better = (alone[rows] > worth) & (problems.quotas is None or problems.quotas.free_problems(problems.offsets))
    picked, scores = lists.rows.copy(), np.array(lists.picked_scores)
    picked[better], scores[better] = -1, 0.0
    picked[better, 0], scores[better, 0] = rows[better], alone[rows[better]]
    return as_lists(problems, picked, scores)
