"""What a run of learning holds, and how it takes in a batch: walk, measure, learn, and keep the books."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.folds import folds_of
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
from listwright.walk.limits import as_room
from listwright.walk.plain import Step, build_lists, walk

FEW = 20  # states that may come up again by chance


@saved_as("Ledger")
@dataclass
class Ledger:
    """What a run earned and lost: what certificates are made of."""

    rounds: int = 0  # states visited: the paper's T
    loss: float = 0.0  # sum over rounds of l_t(pi_t)
    value: float = 0.0  # sum over rounds of f(L_t)
    passes: int = 0  # how often the same state was visited, at most
    bounded: bool = True  # what the rewards say of themselves
    submodular: bool = True
    taught: bool = False  # whether the current round has taught anything so far
    visits: dict[str, int] = field(default_factory=dict)  # by the key of a whole set of states: passes over it
    states: Visits = field(default_factory=Visits)
    unlearned: int = 0  # rounds of batches that were walked before anything was learned: no part of the mixture
    unlearned_value: float = 0.0  # what their lists were worth
    breaches: list[str] = field(default_factory=list)  # laws that the rewards were seen to break

    def visited(self, states: States, n_passes: int) -> None:
        """Counts passes over these states."""
        self.states.add(states, np.full(len(states.seen), n_passes))
        key = f"{int((states.seen ^ states.gains).sum(dtype=np.uint64)):x}"
        before = self.visits.get(key, 0) if len(states.seen) >= FEW else 0  # a few may be the same by chance
        if len(states.seen) >= FEW:
            self.visits[key] = before + n_passes
        self.passes = max(self.passes, before + n_passes)

    @property
    def most_visits(self) -> int:
        """Visits to the state that was visited most often."""
        return max(self.passes, self.states.most)

    @property
    def n_states(self) -> int | None:
        """How many different states were visited; None where nobody counted them."""
        return self.states.n_states or None

    def add(self, other: Ledger) -> None:
        """Takes in what a part of a round earned and lost."""
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
    budget: float | None = None

    def flaw(self) -> str:
        """What is wrong with it, where it was read from a file."""
        return "" if self.weights.ndim == 1 and len(self.weights) > 0 else "position weights are missing"

    def slimmed(self) -> Training:
        """Without what only further learning needs."""
        return replace(self, learner=self.learner.slimmed(), training_features=None)

    def take_in(self, batch: Problems, rng: np.random.Generator, sampled: Bools | None = None) -> None:
        """Builds the lists of a batch with the current policy and learns from every position; of the problems in
        `sampled` only, where it is given."""
        reward = reward_of(batch)
        earned, room = reward.start(batch), as_room(self.budget, batch)
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
        """Ends the round: the next policy."""
        if self.ledger.taught:  # else no item of the whole batch fits its budget
            self.policy = self.learner.policy()
        self.ledger.taught = False

    @property
    def length(self) -> int | None:
        """How long lists get; None where the budget alone says so."""
        return len(self.weights) if self.budget is None else None

    def value(self, problems: Problems) -> float:
        """Mean value of the current policy's lists, for `keep="best"`."""
        rng, room = np.random.default_rng(0), as_room(self.budget, problems)
        lists = build_lists(
            problems, self.features, self.policy, length=self.length, rng=rng, room=room, repeats=self.repeats
        )
        return float(list_values(lists, problems).mean())

    def fork(self) -> Training:
        """A twin that takes in a part of a round: see `join`."""
        return replace(self, learner=self.learner.fork(), ledger=Ledger())

    def join(self, learner: Learner, ledger: Ledger) -> None:
        """Takes in what a fork has learned."""
        self.learner.join(learner)
        self.ledger.add(ledger)

    def for_new_problems(self) -> Training:
        """A copy that learns on from problems that it has not seen; an error there leaves this one as it was."""
        return replace(copy.deepcopy(self), training_features=None)

    def _examples(self, step: Step, folds: Ints, gains: Floats, sampled: Bools | None) -> Examples:
        """The paper's (v, c, w). Where no option gains anything, every choice costs 0 and there is nothing to learn."""
        weight = float(self.weights[min(step.position, len(self.weights) - 1)])
        left = np.maximum.reduceat(np.where(step.options, gains, 0.0), step.rows.offsets[:-1])
        learned = left > 0 if self.skip_solved else np.ones(len(left), dtype=bool)
        learned = learned if sampled is None else learned & sampled
        return Examples(step.rows, gains, weight, step.position, step.fits, step.picks, learned, folds)
