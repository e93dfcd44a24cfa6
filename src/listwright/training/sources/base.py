"""The interface of sources: where the problems of a fit come from, and what a round of learning consists of."""

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

Check = Callable[[Problems], None]  # raises InputError for problems that cannot be learned from


@dataclass(frozen=True)
class Round:
    """States that are all walked with one policy, and a function that learns from them."""

    n_states: int  # number of states
    rng: np.random.Generator  # for the keeper, which samples policies
    teach: Callable[[Training], None]  # called with the training, which it changes
    total: int = 0  # rounds of the whole fit; 0 if unknown


@dataclass(frozen=True)
class Plan:
    """What a fit starts with: features to fit, a learner to train, and the number of passes."""

    features: Features  # features to fit
    learner: Learner  # learner to train
    n_passes: int  # passes over the problems
    # how the plan was chosen; becomes attributes of the fitted estimator
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Fitted:
    """Features fitted on all problems, and what else had to be known of them."""

    features: Features  # the fitted features
    signature: Signature  # the kind of problems
    mean_size: float | None  # mean size of the candidates
    most: int  # candidates of the largest problem
    training_features: Features | None = None  # features as the training problems are seen, if that differs


class Rounds(Protocol):
    """What the training loop needs of a source; a stream of feedback has no more than this."""

    def rounds(self, training: Training, n_passes: int, done: int = 0) -> Iterator[Round]: ...
    def value(self, training: Training) -> float | None: ...


class Source(ABC):
    """Base class of sources: fits features, provides the rounds, and measures policies."""

    example: Problems  # some of the problems
    whole: Problems | None = None  # all of the problems, if they are in memory
    n_states: int  # number of problems

    @property
    @abstractmethod
    def data(self) -> str:
        """A fingerprint; two sources with the same problems have the same one."""

    @abstractmethod
    def fitted(self, plan: Plan) -> Fitted:
        """Fit the features on all problems."""

    @abstractmethod
    def rounds(self, training: Training, n_passes: int, done: int = 0) -> Iterator[Round]:
        """Yield the rounds of these passes over the problems, after the first `done`."""

    @abstractmethod
    def value(self, training: Training) -> float | None:
        """Return the mean value of the current policy's lists for held-out problems; None if there are none."""

    @abstractmethod
    def note(self, progress: Progress) -> None:
        """Store in the progress what else is needed to continue with the next round."""

    @abstractmethod
    def go_on(self, progress: Progress) -> None:
        """Restore it from the progress."""
