"""The training loop that every learner goes through, wherever its problems come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from listwright._internal.progress import report_progress
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.training.checkpoints import Progress
from listwright.training.history import Columns, History
from listwright.training.keep import PolicyKeeper
from listwright.training.round import Training
from listwright.training.signature import Signature
from listwright.training.sources.base import Rounds


@dataclass(frozen=True, eq=False)
class Run:
    """A fit in progress: what is learned, the kind of problems, and the number of passes."""

    training: Training  # what is learned
    signature: Signature  # the kind of problems
    n_passes: int  # passes over the problems
    # how the plan was chosen; becomes attributes of the fitted estimator
    about: dict[str, Any] = field(default_factory=dict)
    progress: Progress | None = None  # where a resumed fit stopped
    earlier: Columns | None = None  # the columns of the history of earlier rounds, if the fit continues another

    def fitted(self, policy: Policy, history: History) -> dict[str, Any]:
        """Return the attributes of the fitted estimator, given the policy that it keeps."""
        names = {"training_": self.training, "policy_": policy, "signature_": self.signature}
        names["rounds_"] = history.columns
        return self.about | names | {"n_features_in_": self.signature.n_features}


def learn(
    training: Training,
    source: Rounds,
    keeper: PolicyKeeper,
    *,
    n_passes: int = 1,
    done: int = 0,
    after_round: Callable[[int], None] | None = None,
    history: History | None = None,
    validation: Problems | None = None,
) -> None:
    """Run the rounds of a source: each is walked with the current policy, and yield the next one (Algorithm 2)."""
    history = History() if history is None else history
    for number, a_round in enumerate(source.rounds(training, n_passes, done), start=done + 1):
        keeper.before_round(training.policy, a_round.n_states, a_round.rng)
        states, earned = training.ledger.rounds, training.ledger.value
        a_round.teach(training)
        states, earned = training.ledger.rounds - states, training.ledger.value - earned
        training.update()
        held = keeper.after_round(training.policy, partial(source.value, training))
        held = training.value(validation) if held is None and validation is not None else held
        history.add(states, earned / max(states, 1), held)
        if after_round is not None:
            after_round(number)
        report_progress(f"round {number}: {history.rounds[-1]}", number if a_round.total else 0, a_round.total)
