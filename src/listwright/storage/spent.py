"""Slim models: without what only further learning needs, so they predict but learn no more."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from listwright.errors import InputError
from listwright.learners import Experts, Learner
from listwright.learners.examples import Examples


class Spent(Learner):
    """Stands for a learner whose data were left out of the file; it keeps what certificates need.

    Parameters
    ----------
    surrogate : the learner's own.
    used, best : its surrogate loss, and that of the best policy in hindsight, where they are known.
    words : what the learner says of the latter.
    """

    def __init__(
        self, surrogate: str, *, used: float | None = None, best: float | None = None, words: str = ""
    ) -> None:
        self.surrogate = surrogate
        self.used = used
        self.best = best
        self.words = words

    @classmethod
    def of(cls, learner: Learner) -> Learner:
        """What stands for the learner; learners over a finite class are small and stay as they are."""
        if isinstance(learner, Experts):
            return learner
        used, best = learner.surrogate_loss(), learner.best_surrogate_loss()
        return cls(learner.surrogate, used=used, best=best, words=learner.hindsight())

    def learn(self, examples: Examples) -> NoReturn:
        """Always an error."""
        raise InputError("This model was saved with slim=True: it cannot learn on. Save it whole, or fit again.")

    def policy(self) -> NoReturn:
        """Always an error."""
        raise InputError("This model was saved with slim=True: it cannot learn on. Save it whole, or fit again.")

    def surrogate_loss(self) -> float | None:
        """As it was."""
        return self.used

    def best_surrogate_loss(self) -> float | None:
        """As it was."""
        return self.best

    def hindsight(self) -> str:
        """As it was."""
        return self.words


def slimmed(name: str, state: dict[str, Any]) -> dict[str, Any]:
    """The state of an object without what only training looks at."""
    if name == "Training":
        return state | {"learner": Spent.of(state["learner"]), "training_features": None}
    if name == "features.PolicyScore" and "fold_models_" in state:
        return state | {"fold_models_": []}
    if name == "features.PredictedTopics" and "training_" in state:
        return state | {"training_": {key: table[:0] for key, table in state["training_"].items()}, "training_ids_": {}}
    if name == "features.GivenFailure" and "training_" in state:
        kept = state["training_"]
        empty = [{key: np.zeros((0, 0)) for key in table} for table in kept]
        return state | {"training_": type(kept)(*empty), "training_ids_": {}}
    return state
