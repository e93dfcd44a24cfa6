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
    """States that are all walked with one policy, and a function that learns from them.

    Attributes
    ----------
    n_states : int
        Number of states.
    rng : numpy.random.Generator
        For the keeper, which samples policies.
    teach : callable
        Called with the training, which it changes.
    total : int
        Rounds of the whole fit; 0 if unknown.
    """

    n_states: int
    rng: np.random.Generator
    teach: Callable[[Training], None]
    total: int = 0

    @property
    def of(self) -> str:
        """The number of rounds of the whole fit in words, such as " of 20"; empty if it is unknown."""
        return f" of {self.total:,}" if self.total else ""


@dataclass(frozen=True)
class Plan:
    """What a fit starts with: features to fit, a learner to train, and the number of passes.

    Attributes
    ----------
    features : Features
        Features to fit.
    learner : Learner
        Learner to train.
    n_passes : int
        Passes over the problems.
    about : dict
        How the plan was chosen; becomes attributes of the fitted estimator.
    """

    features: Features
    learner: Learner
    n_passes: int
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Fitted:
    """Features fitted on all problems, and what else had to be known of them.

    Attributes
    ----------
    features : Features
        The fitted features.
    signature : Signature
        The kind of problems.
    mean_size : float or None
        Mean size of the candidates.
    most : int
        Candidates of the largest problem.
    training_features : Features or None
        Features as the training problems are seen, if that differs.
    """

    features: Features
    signature: Signature
    mean_size: float | None
    most: int
    training_features: Features | None = None


class Rounds(Protocol):
    """What the training loop needs of a source; a stream of feedback has no more than this."""

    def rounds(self, training: Training, n_passes: int, done: int = 0) -> Iterator[Round]: ...
    def value(self, training: Training) -> float | None: ...


class Source(ABC):
    """Base class of sources: fits features, provides the rounds, and measures policies.

    `example` is a part of the problems, by which features and learner are chosen; `whole` is all of them, if they are
    in memory. Every problem is checked before anything is learned from it.

    Attributes
    ----------
    example : Problems
        Some of the problems.
    whole : Problems or None
        All of the problems, if they are in memory.
    n_states : int
        Number of problems.
    """

    example: Problems
    whole: Problems | None = None
    n_states: int

    @property
    @abstractmethod
    def data(self) -> str:
        """A fingerprint; two sources with the same problems have the same one."""

    @abstractmethod
    def fitted(self, plan: Plan) -> Fitted:
        """Fits the features on all problems."""

    @abstractmethod
    def rounds(self, training: Training, n_passes: int, done: int = 0) -> Iterator[Round]:
        """Yields the rounds of these passes over the problems, after the first `done`."""

    @abstractmethod
    def value(self, training: Training) -> float | None:
        """Returns the mean value of the current policy's lists for held-out problems; None if there are none."""

    @abstractmethod
    def note(self, progress: Progress) -> None:
        """Stores in the progress what else is needed to continue with the next round."""

    @abstractmethod
    def go_on(self, progress: Progress) -> None:
        """Restores it from the progress."""
