"""What a policy would have shown at every slot of logged lists, given the items before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.threads import one_thread
from listwright.errors import InputError
from listwright.estimators.base import ListEstimator
from listwright.features import Features
from listwright.feedback.bandit import ListBandit
from listwright.feedback.drawing import Exploring
from listwright.feedback.explore import Own
from listwright.feedback.log import Answered
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.walk.plain import walk


def target_chances(policy: Any, logged: Answered) -> Floats:
    """(positions, rows): the chance of each candidate to be shown next by the policy, given the logged items before.

    `policy`: an `OnlineSCP` or another of its kind (with its exploration), a fitted `SCP`, anything else with
    `predict`, or a function from problems to lists.
    """
    if isinstance(policy, ListBandit):
        playing = policy.playing_
        exploring = Exploring(
            playing.policy,
            policy.exploration_,
            learned=playing.learned,
            length=policy.length,
            one_slot=policy.slots == "one",
            given=logged.rows,
        )
        return _walked(logged, policy.features_, exploring)
    if isinstance(policy, ListEstimator):
        if not hasattr(policy, "training_"):
            raise InputError(f"This {type(policy).__name__} is not fitted yet. Call fit first.")
        length = logged.rows.shape[1]
        exploring = Exploring(policy.policy_, Own(), learned=0.0, length=length, given=logged.rows)
        return _walked(logged, policy.training_.features, exploring)
    return _of_lists(getattr(policy, "predict", policy), logged)


def _walked(logged: Answered, features: Features, exploring: Exploring) -> Floats:
    chances = np.zeros((logged.rows.shape[1], logged.problems.n_rows))
    rng = np.random.default_rng(0)  # the walk asks for one; given lists draw nothing
    with one_thread():
        steps = walk(logged.problems, features, exploring, length=len(chances), rng=rng, room=logged.rooms)
        for step in steps:
            chances[step.position] = step.scores
    return chances


def _of_lists(predict: Callable[[Problems], Lists], logged: Answered) -> Floats:
    """1 for the next item of the predicted list as long as the logged one has begun like it, and 0 from then on."""
    if not callable(predict):
        raise InputError(f"policy must have predict, or be a function from problems to lists. Got {predict!r}.")
    rows = predict(logged.problems).rows
    longest = logged.rows.shape[1]
    if rows.shape[1] < longest and ((logged.rows >= 0).sum(axis=1) > rows.shape[1]).any():
        raise InputError(f"The policy's lists have {rows.shape[1]} items, those of the log {longest}. Ask for as many.")
    chances, alike = np.zeros((longest, logged.problems.n_rows)), np.ones(len(rows), dtype=bool)
    for position in range(longest):
        picks = rows[:, position]
        chances[position, picks[alike & (picks >= 0)]] = 1.0
        alike &= picks == logged.rows[:, position]
    return chances
