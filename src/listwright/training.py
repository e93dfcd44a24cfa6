"""The loop that SCP, ConSeqOpt and the context-free form share: walk, measure, learn, and keep the books."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from listwright._arrays import Floats, Ints
from listwright.examples import Examples, folds_of
from listwright.features import Features
from listwright.learners import Learner
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.rollout import Step, walk


@dataclass
class Ledger:
    """What a run earned and lost: what certificates are made of."""

    rounds: int = 0  # states visited: the paper's T
    loss: float = 0.0  # sum over rounds of l_t(pi_t)
    value: float = 0.0  # sum over rounds of f(L_t)
    passes: int = 0  # how often the same states were visited
    bounded: bool = True  # what the rewards say of themselves
    submodular: bool = True


@dataclass(eq=False)
class Training:
    """One run of Algorithm 2, or of Algorithm 1 where the policy is a distribution over items."""

    features: Features  # as new problems are seen
    learner: Learner
    policy: Policy
    weights: Floats  # w_i by position; the last one also stands for positions behind it
    per_size: bool
    repeats: bool
    skip_solved: bool
    ledger: Ledger = field(default_factory=Ledger)
    training_features: Features | None = None  # as the training problems are seen, where that differs

    def round(self, batch: Problems, room: Floats | None, rng: np.random.Generator) -> None:
        """Builds the lists of a batch with the current policy, learns from every position, and updates the policy."""
        reward = reward_of(batch)
        earned = reward.start(batch)
        length = len(self.weights) if room is None else None
        view, learned = self.features if self.training_features is None else self.training_features, False
        folds = folds_of(batch.problem_ids)
        for step in walk(batch, view, self.policy, length=length, rng=rng, room=room, repeats=self.repeats):
            gains = reward.gains(earned)
            if self.per_size and batch.sizes is not None:
                gains = gains / batch.sizes
            examples = self._examples(step, folds, gains)
            self.ledger.loss += float(examples.losses.sum())
            self.learner.learn(examples)
            learned = True
            earned = reward.add(earned, step.picks)
        if learned:  # else no item of the whole batch fits its budget
            self.policy = self.learner.policy()
        self.ledger.rounds += len(batch)
        self.ledger.bounded &= reward.bounded
        self.ledger.submodular &= reward.submodular
        self.ledger.value += float(reward.value(earned).sum())

    def _examples(self, step: Step, folds: Ints, gains: Floats) -> Examples:
        """The paper's (v, c, w). Where no option gains anything, every choice costs 0 and there is nothing to learn."""
        weight = float(self.weights[min(step.position, len(self.weights) - 1)])
        left = np.maximum.reduceat(np.where(step.options, gains, 0.0), step.rows.offsets[:-1])
        learned = left > 0 if self.skip_solved else np.ones(len(left), dtype=bool)
        return Examples(step.rows, gains, weight, step.position, step.fits, step.picks, learned, folds)
