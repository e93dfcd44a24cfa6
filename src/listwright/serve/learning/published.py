"""The part of a learned state that replicas need to serve: the weights of a linear policy, or the whole state of
another.

Weights are small, so publishing after every group of events is cheap, while full states are stored only as snapshots.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
from safetensors.numpy import load, save

from listwright.feedback.drawing import Playing
from listwright.feedback.online import OnlineSCP
from listwright.policies import Linear


@dataclass(frozen=True)
class Published:
    """A learned policy and its origin."""

    base: int  # snapshot
    applied: int  # last event
    count: int  # lists learned from
    policy: bytes  # safetensors with the weights, or with the whole state


def publish(learner: OnlineSCP) -> bytes:
    """Return the present policy of a learner as safetensors bytes."""
    playing = learner.playing_
    arrays = playing.policy.arrays()
    if arrays is None:
        return save(learner.state())
    weights = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return save(weights | {"version": np.array(playing.version), "learned": np.array(playing.learned)})


def played(initial: OnlineSCP, published: Published | None) -> OnlineSCP:
    """Return a copy of the deployed learner that plays a published policy."""
    if published is None:
        return initial
    arrays = load(published.policy)
    if "weights" not in arrays:
        return copy.deepcopy(initial).restore(arrays)
    twin = copy.copy(initial)
    policy = Linear(arrays["weights"], arrays.get("item_weights"))
    twin.playing_ = Playing(policy, int(arrays["version"]), float(arrays["learned"]))
    return twin
