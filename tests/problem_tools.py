"""Small problems for tests, so that no test builds its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

import listwright as lw


def small_problems(
    n: int = 40, items: int = 6, columns: int = 3, *, seed: int = 0, above: float = 0.8, **given: Any
) -> lw.Problems:
    """Columns from 0 to 1; what is high in the first succeeds. `given` goes to `Problems.from_arrays`."""
    features = np.random.default_rng(seed).random((n, items, columns))
    reward = lw.rewards.AnySuccess(features[..., 0] > above)
    return lw.Problems.from_arrays(features, **{"reward": reward} | given)


def problems_of_kinds(n: int = 60, items: int = 8, *, seed: int = 0, **given: Any) -> lw.Problems:
    """An item succeeds where it is of the wanted kind and good; which kind is wanted is not told."""
    rng = np.random.default_rng(seed)
    kind, quality = rng.integers(3, size=(n, items)), rng.random((n, items))
    features = np.concatenate([np.eye(3)[kind], quality[..., None]], axis=2)
    success = (kind == rng.integers(3, size=(n, 1))) & (quality > 0.5)
    return lw.Problems.from_arrays(features, **{"reward": lw.rewards.AnySuccess(success)} | given)


def sized_problems(n: int = 60, *, seed: int = 0, **given: Any) -> lw.Problems:
    """`problems_of_kinds` whose items have sizes from 1 to 5."""
    sizes = np.random.default_rng(seed + 1).integers(1, 6, size=(n, 8)).astype(float)
    return problems_of_kinds(n, seed=seed, sizes=sizes, **given)


def recurring_problems(n: int = 60, *, seed: int = 0, **given: Any) -> lw.Problems:
    """`problems_of_kinds` with the same eight items in each."""
    return problems_of_kinds(n, seed=seed, catalogue=np.arange(8), **given)


def ragged_problems(
    counts: Sequence[int],
    table: np.ndarray,
    rng: np.random.Generator,
    *,
    items: int | None = None,
    csr: bool = False,
    **given: Any,
) -> lw.Problems:
    """Problems of different sizes with a context, whose candidates come from one catalogue.

    Parameters
    ----------
    counts : sequence of int
        The candidates of each problem.
    table : array of shape (candidates, columns)
        Their features.
    rng : Generator
        Draws the context, and which items of the catalogue a problem has.
    items : int, optional
        The items of the catalogue; as many as the largest problem has, where None.
    csr : bool
        Whether the features are sparse.
    given : dict
        Other arguments of `Problems.from_arrays`.
    """
    items = max(counts) if items is None else items
    return lw.Problems.from_arrays(
        sparse.csr_array(table) if csr else table,
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        context=rng.random((len(counts), 2)),
        catalogue=np.concatenate([rng.permutation(items)[:count] for count in counts]),
        **given,
    )


def unfitted(cls: type[Any], *arguments: Any, **parameters: Any) -> Any:
    """An estimator for tests in which effort is not the subject: SCP without a search."""
    return cls(*arguments, **({"effort": "fast"} if cls is lw.SCP else {}) | parameters)
