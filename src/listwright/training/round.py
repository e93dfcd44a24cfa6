"""The state of a run, and how it learns from a batch: walk, measure, learn, and keep the accounts."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.ragged import folds_of
from listwright._internal.saved import saved_as
from listwright.evaluation.values import list_values
from listwright.features import Features
from listwright.learners import Learner
from listwright.learners.examples import Examples
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.rewards.laws import Laws
from listwright.training.visits import States, Visits
from listwright.walk.constraints import as_budgets, as_constrained
from listwright.walk.plain import Step, build_lists, walk

FEW = 20  # fewer states than this may recur by chance


@saved_as("Ledger")
@dataclass
class Ledger:
    """Sums over a run that certificates are computed from."""

    rounds: int = 0  # states visited: the paper's T
    loss: float = 0.0  # sums over rounds of l_t(pi_t) and of f(L_t)
    value: float = 0.0
    passes: int = 0  # how often the same state was visited, at most, counted by whole sets of states
    bounded: bool = True  # what the rewards declare
    submodular: bool = True
    taught: bool = False  # whether the current round has taught anything so far
    visits: dict[str, int] = field(default_factory=dict)  # passes over each whole set of states, by a key of the set
    states: Visits = field(default_factory=Visits)  # visits to each state
    # rounds of batches that were walked before anything was learned; they are not part of the mixture
    unlearned: int = 0
    unlearned_value: float = 0.0  # the summed value of their lists
    breaches: list[str] = field(default_factory=list)  # laws that the rewards were seen to break

    def visited(self, states: States, n_passes: int) -> None:
        """Counts passes over these states."""
        self.states.add(states, np.full(len(states.seen), n_passes))
        key = f"{int((states.seen ^ states.gains).sum(dtype=np.uint64)):x}"
        before = self.visits.get(key, 0) if len(states.seen) >= FEW else 0  # a few may recur by chance
        if len(states.seen) >= FEW:
            self.visits[key] = before + n_passes
        self.passes = max(self.passes, before + n_passes)

    @property
    def most_visits(self) -> int:
        """Visits to the state that was visited most often."""
        return max(self.passes, self.states.most)

    @property
    def n_states(self) -> int | None:
        """Number of different states visited; None if they were not counted."""
        return self.states.n_states or None

    def add(self, other: Ledger) -> None:
        """Add the sums of a part of a round."""
        self.rounds += other.rounds
        self.loss += other.loss
        self.value += other.value
        self.unlearned += other.unlearned
        self.unlearned_value += other.unlearned_value
        self.bounded &= other.bounded
        self.submodular &= other.submodular
        self.taught |= other.taught
        self.states.join(other.states)
        self.breaches = sorted({*self.breaches, *other.breaches})


@saved_as("Training")
@dataclass(eq=False)
class Training:
    """One run of Algorithm 2, or of Algorithm 1 if the policy is a distribution over items."""

    features: Features  # features as new problems are seen
    learner: Learner  # learns from every position; makes the policies
    policy: Policy  # the current policy, pi_t
    weights: Floats  # w_i by position; later positions use the last one
    per_size: bool  # whether gains are divided by sizes
    repeats: bool  # whether an item may be picked twice
    skip_saturated: bool  # whether states with nothing left to gain are left out
    ledger: Ledger = field(default_factory=Ledger)  # sums for the certificate
    # features as the training problems are seen, if that differs (cross-fitting)
    training_features: Features | None = None
    budget: float | None = None  # the size of a list, instead of a length
    per_group: Any = None  # of SCP: how many rows of a group a list may hold

    def validation_error(self) -> str:
        """Return what is wrong with a training that was read from a file; "" if nothing is."""
        return "" if self.weights.ndim == 1 and len(self.weights) > 0 else "position weights are missing"

    def without_training_state(self) -> Training:
        """Return a copy without what only further learning needs."""
        return replace(self, learner=self.learner.without_training_state(), training_features=None)

    def take_in(self, batch: Problems, rng: np.random.Generator, sampled: Bools | None = None) -> None:
        """Build the lists of a batch with the current policy, and learn from every position."""
        batch = as_constrained(batch, None, self.per_group)
        reward = reward_of(batch)
        earned, room = reward.start(batch), as_budgets(self.budget, batch)
        view = self.features if self.training_features is None else self.training_features
        folds = folds_of(batch.problem_ids)
        loss, laws = 0.0, Laws(batch.n_rows, reward.value(earned))
        for step in walk(batch, view, self.policy, length=self.length, rng=rng, room=room, repeats=self.repeats):
            gains = laws.watch(reward.gains(earned))
            if self.per_size and batch.sizes is not None:
                gains = gains / batch.sizes
            examples = self._examples(step, folds, gains, sampled)
            loss += float(examples.losses.sum())
            self.learner.learn(examples)
            self.ledger.taught = True
            earned = reward.add(earned, step.picks)
        values = laws.added(reward.value(earned))
        self.ledger.bounded &= reward.bounded
        self.ledger.submodular &= reward.submodular
        self.ledger.breaches = sorted({*self.ledger.breaches, *laws.broken})
        self.ledger.rounds += len(batch)
        self.ledger.loss += loss
        self.ledger.value += float(values.sum())
        if not self.policy.has_learned and len(batch) > 1:
            self.ledger.unlearned += len(batch)
            self.ledger.unlearned_value += float(values.sum())

    def update(self) -> None:
        """End the round: the learner makes the next policy."""
        if self.ledger.taught:  # else no item of the batch fits its budget
            self.policy = self.learner.policy()
        self.ledger.taught = False

    @property
    def length(self) -> int | None:
        """Length of the lists; None if only the budget limits it."""
        return len(self.weights) if self.budget is None else None

    def value(self, problems: Problems) -> float:
        """Return the mean value of the current policy's lists, for `keep="best"`."""
        problems = as_constrained(problems, None, self.per_group)
        rng, room = np.random.default_rng(0), as_budgets(self.budget, problems)
        lists = build_lists(
            problems, self.features, self.policy, length=self.length, rng=rng, room=room, repeats=self.repeats
        )
        return float(list_values(lists, problems).mean())

    def fork(self) -> Training:
        """Return a twin that learns from a part of a round; see `join`."""
        return replace(self, learner=self.learner.fork(), ledger=Ledger())

    def join(self, learner: Learner, ledger: Ledger) -> None:
        """Add what a fork has learned."""
        self.learner.join(learner)
        self.ledger.add(ledger)

    def for_new_problems(self) -> Training:
        """Return a copy that learns from problems it has not seen; an error there leaves this one unchanged."""
        return replace(copy.deepcopy(self), training_features=None)

    def _examples(self, step: Step, folds: Ints, gains: Floats, sampled: Bools | None) -> Examples:
        """Return the paper's examples (v, c, w) of one position."""
        weight = float(self.weights[min(step.position, len(self.weights) - 1)])
        left = np.maximum.reduceat(np.where(step.options, gains, 0.0), step.rows.offsets[:-1])
        learned = left > 0 if self.skip_saturated else np.ones(len(left), dtype=bool)
        learned = learned if sampled is None else learned & sampled
        return Examples(step.rows, gains, weight, step.position, step.fits, step.picks, learned, folds)
