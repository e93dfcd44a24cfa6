"""A catalogue that grows while a model learns: room for new items in features and policies."""

from __future__ import annotations

import copy

import numpy as np

from listwright.features import Features, Identity, Sum
from listwright.policies import Linear
from listwright.problems import Problems

MOST_NEW = 10_000  # items that a catalogue may grow by at a time


def n_items_in(problems: Problems) -> int:
    """Items of the catalogue, as far as these problems tell; 0 without one."""
    return 0 if problems.catalogue is None else int(problems.catalogue.max()) + 1


def with_items(features: Features, n_items: int) -> Features:
    """The same features, for a larger catalogue."""
    twin = copy.copy(features)
    if isinstance(twin, Sum):
        twin.parts_ = [with_items(part, n_items) for part in twin.parts_]
    elif isinstance(twin, Identity):
        twin.n_items_ = n_items
    return twin


def n_states(features: Features, known: int, policy: Linear) -> int:
    """Columns of the state that items are crossed with: one more for each new item, where that is the list."""
    assert policy.item_weights is not None
    crossed = next(part for part in features.fitted_parts() if isinstance(part, Identity))
    return policy.item_weights.shape[1] + (crossed.n_items_ - known if "list" in crossed.cross else 0)


def padded(policy: Linear, n_items: int, n_states: int) -> Linear:
    """The same policy; it knows nothing of new items."""
    assert policy.item_weights is not None
    more = n_items - len(policy.item_weights), n_states - policy.item_weights.shape[1]
    return Linear(policy.weights, np.pad(policy.item_weights, ((0, more[0]), (0, more[1]))))
