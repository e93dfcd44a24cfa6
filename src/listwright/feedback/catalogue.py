"""Catalogues that grow while a model learns: room for new items in features and policies."""

from __future__ import annotations

import copy

import numpy as np

from listwright.features import Features, Identity, Sum
from listwright.policies import Linear
from listwright.problems import Problems

MOST_NEW = 10_000  # items that a catalogue may grow by at a time


def n_items_in(problems: Problems) -> int:
    """Return the number of catalogue items as far as these problems show (highest number + 1).

    0 without a catalogue.
    """
    return 0 if problems.catalogue is None else int(problems.catalogue.max()) + 1


def with_items(features: Features, n_items: int) -> Features:
    """Return a copy of fitted features for a catalogue of `n_items`."""
    twin = copy.copy(features)
    if isinstance(twin, Sum):
        twin.parts_ = [with_items(part, n_items) for part in twin.parts_]
    elif isinstance(twin, Identity):
        twin.n_items_ = n_items
    return twin


def n_states(features: Features, known: int, policy: Linear) -> int:
    """Return the number of state columns that items are crossed with, for the catalogue size of `features`.

    Where items are crossed with the list, each new item adds a column, as it can occur in a list.
    """
    assert policy.item_weights is not None
    crossed = next(part for part in features.fitted_parts() if isinstance(part, Identity))
    return policy.item_weights.shape[1] + (crossed.n_items_ - known if "list" in crossed.cross else 0)


def padded(policy: Linear, n_items: int, n_states: int) -> Linear:
    """Return the policy with zero weights for new items and state columns."""
    assert policy.item_weights is not None
    more = n_items - len(policy.item_weights), n_states - policy.item_weights.shape[1]
    return Linear(policy.weights, np.pad(policy.item_weights, ((0, more[0]), (0, more[1]))))
