"""A source: where the problems of a fit come from, and what a round of learning consists of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from listwright.features import Features
from listwright.learners import Learner
from listwright.problems import Problems
from listwright.training.checkpoints import Progress
from listwright.training.round import Training
from listwright.training.signature import Signature

Check = Callable[[Problems], None]  # refuses problems that cannot be learned from


@dataclass(frozen=True)
class Round:
    """States that are all walked with one policy, and what they teach."""

    n_states: int
    rng: np.random.Generator  # for whoever keeps the round's policy
    teach: Callable[[Training], None]


@dataclass(frozen=True)
class Plan:
    """What a fit sets out with: features to fit, a learner to teach, passes over the problems."""

    features: Features
    learner: Learner
    n_passes: int
    about: dict[str, Any] = field(default_factory=dict)  # how it was chosen: attributes of the fitted estimator


@dataclass(frozen=True, eq=False)
class Fitted:
    """Features that are fitted on all problems, and what else had to be known of them."""

    features: Features
    signature: Signature
    mean_size: float | None
    most: int  # candidates of the largest problem
    training_features: Features | None = None  # as the training problems are seen, where that differs


class Rounds(Protocol):
    """What the loop asks of a source; a stream of feedback has no more than this."""

    def rounds(self, training: Training, n_passes: int, done: int = 0) -> Iterator[Round]: ...
    def value(self, training: Training) -> float | None: ...


class Source(ABC):
    """Says how features are fitted, what the rounds are, and what a policy is worth.

    `example` is some of the problems, by which features and learner are chosen; `whole` all of them, where they are in
    memory. Every problem is checked before anything is learned from it.
    """

    example: Problems
    whole: Problems | None = None
    n_states: int  # of all problems

    @property
    @abstractmethod
    def data(self) -> str:
        """A fingerprint: two sources with the same problems have the same."""

    @abstractmethod
    def fitted(self, plan: Plan) -> Fitted:
        """Fits the features on all problems."""

    @abstractmethod
    def rounds(self, training: Training, n_passes: int, done: int = 0) -> Iterator[Round]:
        """The rounds of these passes over the problems that come after the first `done`."""

    @abstractmethod
    def value(self, training: Training) -> float | None:
        """Mean value of the current policy's lists for the problems held out; None where none are."""

    @abstractmethod
    def note(self, progress: Progress) -> None:
        """Writes down what else is needed to go on with the next round."""

    @abstractmethod
    def go_on(self, progress: Progress) -> None:
        """Takes that back."""
