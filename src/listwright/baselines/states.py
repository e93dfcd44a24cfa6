"""What is known of a problem as a whole, and of each catalogue item in it; used by baselines for recurring items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright.errors import InputError
from listwright.features.identity import has_whole_catalogue, whole_problem
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.training.catalogue import with_catalogue


def n_items_of(problems: Problems) -> int:
    """Return the size of the catalogue, which equally long problems have implicitly."""
    return with_catalogue(problems).n_items


def items_of(problems: Problems) -> Ints:
    """Return which item of the catalogue each row is, filled in where equally long problems have no catalogue."""
    catalogue = with_catalogue(problems).catalogue
    assert catalogue is not None
    return catalogue


def state_table(problems: Problems, n_items: int) -> Floats32:
    """Return one row per problem: its context or, without one, the features of the whole catalogue side by side."""
    if problems.context is not None:
        return problems.context
    if not problems.n_features or not has_whole_catalogue(problems, n_items):
        raise InputError(
            "These problems have no features that describe them as a whole. Pass context "
            "to Problems.from_arrays, or features of the "
            f"whole catalogue ({n_items} candidates) in every problem."
        )
    return whole_problem(with_catalogue(problems), n_items)


def gains_alone(problems: Problems) -> Floats:
    """Return one number per row: b(s | empty list), what it gains as the first item."""
    reward = reward_of(problems)
    return reward.gains(reward.start(problems))


def by_item(problems: Problems, values: NDArray[Any], n_items: int, *, missing: float) -> Floats:
    """(problems, items): one number per row as a table; `missing` where a problem does not offer an item."""
    table = np.full((len(problems), n_items), missing)
    table[problems.owners, items_of(problems)] = values
    return table
