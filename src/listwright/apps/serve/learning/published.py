"""What replicas serve of what was learned: the weights of a linear policy, or the whole state of another."""

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
    """A learned policy, and how it came about."""

    base: int  # snapshot
    applied: int  # last event
    count: int  # lists learned from
    policy: bytes


def publish(learner: OnlineSCP) -> bytes:
    """The policy of a learner as bytes."""
    playing = learner.playing_
    if not isinstance(playing.policy, Linear):
        return save(learner.state())
    arrays = {"weights": playing.policy.weights, "version": np.array(playing.version)}
    if playing.policy.item_weights is not None:
        arrays["item_weights"] = np.ascontiguousarray(playing.policy.item_weights)
    return save(arrays | {"learned": np.array(playing.learned)})


def played(initial: OnlineSCP, published: Published | None) -> OnlineSCP:
    """A twin of the deployed learner that plays what was learned since; of None, the learner as deployed."""
    if published is None:
        return initial
    arrays = load(published.policy)
    if "weights" not in arrays:
        return copy.deepcopy(initial).restore(arrays)
    twin = copy.copy(initial)
    policy = Linear(arrays["weights"], arrays.get("item_weights"))
    twin.playing_ = Playing(policy, int(arrays["version"]), float(arrays["learned"]))
    return twin
