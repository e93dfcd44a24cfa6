"""The loop that everything which learns goes through, wherever its problems come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from listwright.policies import Policy
from listwright.training.checkpoints import Progress
from listwright.training.keep import Keeper
from listwright.training.round import Training
from listwright.training.signature import Signature
from listwright.training.sources.base import Rounds


@dataclass(frozen=True, eq=False)
class Run:
    """A fit under way."""

    training: Training
    signature: Signature
    n_passes: int
    about: dict[str, Any] = field(default_factory=dict)  # how the plan was chosen
    progress: Progress | None = None  # of a fit that goes on

    def fitted(self, policy: Policy) -> dict[str, Any]:
        """The attributes of the fitted estimator."""
        names = {"training_": self.training, "policy_": policy, "signature_": self.signature}
        return self.about | names | {"n_features_in_": self.signature.n_features}


def learn(
    training: Training,
    source: Rounds,
    keeper: Keeper,
    *,
    n_passes: int = 1,
    done: int = 0,
    after_round: Callable[[int], None] | None = None,
) -> None:
    """Goes through the rounds of a source: each is walked with the policy in use, and gives the next one.

    Parameters
    ----------
    training : Training
        What is learned; it changes.
    source : Rounds
        What the rounds are, and what a policy is worth.
    keeper : Keeper
        Sees the policy before and after each round.
    n_passes : int
        Passes over the problems of the source.
    done : int
        Rounds that were done before.
    after_round : callable, optional
        Called with the number of rounds done.
    """
    for number, a_round in enumerate(source.rounds(training, n_passes, done), start=done + 1):
        keeper.before_round(training.policy, a_round.n_states, a_round.rng)
        a_round.teach(training)
        training.update()
        keeper.after_round(training.policy, partial(source.value, training))
        if after_round is not None:
            after_round(number)
