"""The state of a run, and how it learns from a batch: walk, measure, learn, and keep the accounts."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Floats, Hashes, Ints, folds_of
from listwright._internal.saved import saved_as
from listwright.evaluation.values import list_values
from listwright.features import Features
from listwright.learners import Learner
from listwright.learners.examples import Examples
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.rewards import WeightedProblems, reward_of
from listwright.rewards.base import Laws
from listwright.walk.constraints import as_budgets, as_constrained
from listwright.walk.lists import Step, build_lists, walk

Keys = Hashes
ODD = np.uint64(0x9E3779B97F4A7C15)
SAMPLED, WHOLE = 4, 3  # words of each state that near copies are looked for by: keys of some rows, a sketch of all
# Rows are nearly equal if their values, on a scale that is linear below `LINEAR` and logarithmic above, have the same
# `VIEWS` random sums, rounded to multiples of `STEP`.
LINEAR, VIEWS, STEP = 0.02, 5, 1e-3
LARGEST = float(np.finfo(np.float32).max)  # larger values count as this
ROWS = 1 << 12  # that are looked at together
COMMON, COMMON_SHARE = 16, 0.05  # states with the same row, past which the row says nothing about copies
RARE = 0.25  # the same among states that are compared with one another
NEAR, LOW = 0.05, 0.1  # of the distance to the next state that this share of states has: that of a near copy
SOME, NEIGHBOURS = 500, 8  # states that show this distance, and nearest ones that are looked at
CONSTRAINED = "lists kept to constraints of the problems, which the theorem does not cover"
FEW = 5  # fewer states than this may recur by chance
DISTINCT = 0.9  # share of visited states that differ in what can be seen, from which on that identifies a state


class States(NamedTuple):
    """Keys of some states: hashes of what can be seen of each, and of what its items gain."""

    seen: Keys
    gains: Keys
    coarse: Keys  # (states, SAMPLED + WHOLE): of rounded rows and what they gain, 0 for no row; the sketch's bits

    def take(self, which: Ints) -> States:
        return States(*(array[which] for array in self))


@saved_as("Visits")
@dataclass
class Visits:
    """How often each state was visited, independently of order, slices and batches."""

    # keys of the states, sorted by `seen` and then `gains`
    seen: Keys = field(default_factory=lambda: np.zeros(0, np.uint64))
    gains: Keys = field(default_factory=lambda: np.zeros(0, np.uint64))
    coarse: Keys = field(default_factory=lambda: np.zeros((0, SAMPLED + WHOLE), np.uint64))
    counts: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # visits to each
    summed: bool = True  # whether there is one entry per state

    def add(self, states: States, counts: Ints | None = None) -> None:
        each = np.ones(len(states.seen), np.int64) if counts is None else counts
        self.seen = np.concatenate([self.seen, states.seen])
        self.gains = np.concatenate([self.gains, states.gains])
        self.coarse = np.concatenate([self.coarse, states.coarse])
        self.counts = np.concatenate([self.counts, each])
        self.summed = not len(self.seen)

    def _sum_up(self) -> None:
        # This is deferred until a count is needed, because parts of a run add up quickly.
        if self.summed:
            return
        order = np.lexsort((self.gains, self.seen))
        seen, gains = self.seen[order], self.gains[order]
        first = np.flatnonzero(np.concatenate([[True], (seen[1:] != seen[:-1]) | (gains[1:] != gains[:-1])]))
        self.seen, self.gains, self.coarse = seen[first], gains[first], self.coarse[order][first]
        self.counts = np.add.reduceat(self.counts[order], first)
        self.summed = True

    def join(self, other: Visits) -> None:
        self.add(States(other.seen, other.gains, other.coarse), other.counts)

    def validation_error(self) -> str:
        n = len(self.seen)
        shapes = [array.shape for array in (self.seen, self.gains, self.counts)]
        alike = shapes == [(n,)] * 3 and self.coarse.shape == (n, SAMPLED + WHOLE)
        return "" if alike else "its visits to states do not fit each other"

    @property
    def most(self) -> int:
        """Among states that what can be seen identifies."""
        self._sum_up()
        alone = np.isin(self.seen, self.seen[1:][self.seen[1:] == self.seen[:-1]], invert=True, kind="sort")
        return int(self.counts[alone].max(initial=1 if len(self.counts) else 0))

    @property
    def n_states(self) -> int:
        self._sum_up()
        return len(self.seen)

    def knows(self, states: States) -> Bools:
        return np.isin(_pair_keys(states.seen, states.gains), _pair_keys(self.seen, self.gains), kind="sort")

    def nearly_knows(self, states: States) -> Bools:
        """Return which of these states look like a visited one as a whole, or have half of the compared rows of one."""
        self._sum_up()
        mine, known = states.coarse[:, :SAMPLED], self.coarse[:, :SAMPLED].ravel()
        order = np.argsort(known, kind="stable")
        low, high = (np.searchsorted(known[order], mine.ravel(), side) for side in ("left", "right"))
        most_common = min(COMMON, max(1, int(COMMON_SHARE * len(self.seen))))
        counts = np.where((mine.ravel() > 0) & (high - low <= most_common), high - low, 0)
        theirs = order[np.repeat(low, counts) + np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)]
        pairs = np.stack([np.repeat(np.arange(len(counts)), counts) // SAMPLED, theirs // SAMPLED])
        (ours, _), shared = np.unique(pairs, axis=1, return_counts=True)
        most = np.zeros(len(states.seen), np.int64)
        np.maximum.at(most, ours, shared)
        near = (most >= 2) & (2 * most >= (mine > 0).sum(axis=1))
        near[near_pairs(sketches(states.coarse), sketches(self.coarse), self.tolerance)[0]] = True
        by_sight = len(np.unique(self.seen)) >= max(DISTINCT * len(self.seen), 2)
        return near | (by_sight & np.isin(states.seen, self.seen, kind="sort"))

    @property
    def tolerance(self) -> float:
        """The distance between sketches up to which states are near copies: well below that of different states."""
        known = np.unique(sketches(self.coarse), axis=0)
        if len(known) < 2:
            return STEP
        distances, _ = scipy.spatial.KDTree(known).query(known[:: -(-len(known) // SOME)], k=2)
        return max(STEP, NEAR * float(np.quantile(distances[:, 1], LOW)))


def near_pairs(some: Floats, others: Floats, tolerance: float) -> tuple[Ints, Ints]:
    """Return pairs of a sketch and one of its nearest others, where they are no further apart than `tolerance`."""
    if not len(others):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    k = list(range(1, min(NEIGHBOURS, len(others)) + 1))
    _, nearest = scipy.spatial.KDTree(others).query(some, k=k, distance_upper_bound=tolerance)
    here, _ = pairs = np.nonzero(nearest < len(others))
    return here, nearest[pairs]


def sketches(coarse: Keys) -> Floats:
    """Return a few numbers of each state as a whole, which small changes of its rows change a little."""
    return np.ascontiguousarray(coarse[:, SAMPLED:]).view(np.float32).astype(np.float64)


def _pair_keys(seen: Keys, gains: Keys) -> Keys:
    return _scramble(seen ^ _scramble(gains + ODD))


def first_gains(problems: Problems) -> Floats:
    """Return what each row adds to an empty list, whatever the weight of its problem."""
    reward = reward_of(problems)
    while isinstance(reward, WeightedProblems):
        reward = reward.reward
    return reward.gains(reward.start(problems))


def states_of(problems: Problems, gains: Floats) -> States:
    rows = _row_keys(problems.features)
    for salt, column in enumerate((problems.catalogue, problems.sizes)):
        if column is not None:
            rows += _scramble(_words(column) + np.uint64(salt + 1))
    if problems.vectors is not None:
        rows += _scramble(_row_keys(problems.vectors))
    seen = np.add.reduceat(_scramble(rows), problems.offsets[:-1])
    if problems.context is not None:
        seen += _scramble(_row_keys(problems.context))
    outcomes = np.add.reduceat(_scramble(rows ^ _scramble(_words(np.round(gains, 12)))), problems.offsets[:-1])
    return States(_scramble(seen), _scramble(outcomes + ODD), _coarse_keys(problems, gains))


def part_keys(problems: Problems, gains: Floats) -> tuple[Keys, Ints]:
    """Return keys of each problem without one of its candidates, and with all, and the problem of each key."""
    # Candidates are rounded. Those that many problems have say nothing about copies, and problems of such have no keys.
    rows = np.concatenate([_scramble(_round_keys(values)) for values, _ in _in_parts(problems, gains)])
    _, kinds, counts = np.unique(rows, return_inverse=True, return_counts=True)
    rare = counts[kinds] <= max(2, RARE * len(problems))
    n_rare = np.add.reduceat(rare.astype(np.int64), problems.offsets[:-1])
    owners = problems.owners[rare & ((n_rare >= SAMPLED) & (2 * n_rare >= problems.counts))[problems.owners]]
    rows = rows[rare & np.isin(problems.owners, owners)]
    totals = np.zeros(len(problems), np.uint64)
    np.add.at(totals, owners, rows)
    whole = np.unique(owners)
    return np.concatenate([totals[whole], totals[owners] - rows]), np.concatenate([whole, owners])


def _coarse_keys(problems: Problems, gains: Floats) -> Keys:
    """Return keys of some rows of each problem, and a sketch of all of them, that small changes leave alone."""
    return np.concatenate([_keys_of_few(part, values) for values, part in _in_parts(problems, gains)])


def _in_parts(problems: Problems, gains: Floats) -> Iterator[tuple[Floats, Problems]]:
    """Yield random sums of each row, and its problems: a few at a time, so that it takes no more memory for many."""
    bare, offsets = problems.without_reward(), problems.offsets
    starts = [*np.unique(offsets[:-1] // ROWS, return_index=True)[1].tolist(), len(problems)]
    for a, b in pairwise(starts):
        yield _sums_of_rows(bare[a:b], gains[offsets[a] : offsets[b]]), bare[a:b]


def _sums_of_rows(problems: Problems, gains: Floats) -> Floats:
    sums = _random_sums(gains[:, None], 0)
    for salt, table in enumerate((problems.features, problems.vectors), start=1):
        if table is not None:
            sums += _random_sums(table, salt)
    if problems.context is not None:
        sums += _random_sums(problems.context, 3)[problems.owners]
    if problems.catalogue is not None:
        sums += 200.0 * np.pi * np.modf(problems.catalogue * np.sqrt(2))[0][:, None]
    return sums


def _keys_of_few(problems: Problems, sums: Floats) -> Keys:
    keys = _round_keys(sums)
    order = np.argsort(keys)
    order = order[np.argsort(problems.owners[order].astype(np.uint16), kind="stable")]  # there are at most `ROWS`
    rank = np.arange(len(order)) - np.repeat(problems.offsets[:-1], problems.counts)
    coarse, few = np.zeros((len(problems), SAMPLED + WHOLE), np.uint64), rank < SAMPLED
    coarse[problems.owners[few], rank[few]] = keys[order][few]
    waves = np.zeros((len(problems), 2 * WHOLE), np.float32)
    waves[:, :VIEWS] = np.add.reduceat(np.sin(sums), problems.offsets[:-1]) / problems.counts[:, None]
    coarse[:, SAMPLED:] = waves.view(np.uint64)
    return coarse


def _round_keys(sums: Floats) -> Keys:
    cells = _words(np.round(sums / STEP)) * _factors(sums.shape[1])
    return np.maximum(_scramble(cells.sum(axis=1, dtype=np.uint64)), np.uint64(1))


def _random_sums(table: Any, salt: int) -> Floats:
    """Return random sums of each row's entries, (rows, VIEWS), on the scale that near copies are compared on."""
    weights = np.random.default_rng([salt, table.shape[1]]).standard_normal((table.shape[1], VIEWS))
    weights = (weights / np.sqrt(max(table.shape[1], 1))).astype(np.float32)
    if scipy.sparse.issparse(table):
        return np.asarray(
            scipy.sparse.csr_array((_rescale(table.data), table.indices, table.indptr), table.shape) @ weights
        )
    return (_rescale(table) @ weights).astype(np.float64)


def _rescale(entries: NDArray[Any]) -> NDArray[np.float32]:
    entries = np.clip(entries, -LARGEST, LARGEST).astype(np.float32)
    return np.copysign(np.log(np.abs(entries) + np.float32(LINEAR)) - np.float32(np.log(LINEAR)), entries)


def _row_keys(table: Any) -> Keys:
    """Return one hash per row, which depends on every entry and its column."""
    factors = _factors(table.shape[1])
    if not scipy.sparse.issparse(table):
        return np.einsum("ij,j->i", _bits(table), factors)  # modulo 2^64
    words = _bits(table.data) * factors[table.indices]
    before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(words, dtype=np.uint64)])
    return before[table.indptr[1:]] - before[table.indptr[:-1]]


def _factors(n: int) -> Keys:
    return np.random.default_rng(0).integers(1, 2**63, size=n, dtype=np.uint64) * np.uint64(2) + ODD


def _words(values: NDArray[Any]) -> Keys:
    """Return a hash of each number; 0.0 and -0.0 give the same."""
    return _scramble((np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64))


def _bits(table: NDArray[Any]) -> NDArray[np.uint32]:
    """Return the bits of float32 numbers; 0.0 and -0.0 give the same."""
    return (np.ascontiguousarray(table, dtype=np.float32) + np.float32(0.0)).view(np.uint32)


def _scramble(keys: Keys) -> Keys:
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


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
    measured: Visits = field(default_factory=Visits)  # states that chose the best round, or were watched while learning
    # rounds of batches that were walked before anything was learned; they are not part of the mixture
    unlearned: int = 0
    unlearned_value: float = 0.0  # the summed value of their lists
    breaches: list[str] = field(default_factory=list)  # assumptions that do not hold, such as laws of rewards

    def count_visits(self, states: States, n_passes: int) -> None:
        self.states.add(states, np.full(len(states.seen), n_passes))
        key = f"{int((states.seen ^ states.gains).sum(dtype=np.uint64)):x}"
        before = self.visits.get(key, 0) if len(states.seen) >= FEW else 0  # a few may recur by chance
        if len(states.seen) >= FEW:
            self.visits[key] = before + n_passes
        self.passes = max(self.passes, before + n_passes)

    def measure(self, problems: Problems) -> None:
        first = problems[:1]
        if not self.measured.knows(states_of(first, first_gains(first))).all():
            self.measured.add(states_of(problems, first_gains(problems)))

    @property
    def most_visits(self) -> int:
        return max(self.passes, self.states.most)

    @property
    def n_states(self) -> int | None:
        return self.states.n_states or None

    def add(self, other: Ledger) -> None:
        self.rounds += other.rounds
        self.loss += other.loss
        self.value += other.value
        self.unlearned += other.unlearned
        self.unlearned_value += other.unlearned_value
        self.bounded &= other.bounded
        self.submodular &= other.submodular
        self.taught |= other.taught
        self.states.join(other.states)
        self.measured.join(other.measured)
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
    last_by_gain: bool = False  # whether the last pick within a budget goes by gains that are not divided by sizes

    def validation_error(self) -> str:
        return "" if self.weights.ndim == 1 and len(self.weights) > 0 else "position weights are missing"

    def without_training_state(self) -> Training:
        return replace(self, learner=self.learner.without_training_state(), training_features=None)

    def consume_batch(self, batch: Problems, rng: np.random.Generator, sampled: Bools | None = None) -> None:
        batch = as_constrained(batch, None, self.per_group)
        reward = reward_of(batch)
        reward_state, budgets = reward.start(batch), as_budgets(self.budget, batch)
        view = self.features if self.training_features is None else self.training_features
        folds = folds_of(batch.problem_ids)
        loss, laws = 0.0, Laws(batch.n_rows, reward.value(reward_state))
        limits: dict[str, Any] = {"length": self.length, "budgets": budgets, **self.picking}
        for step in walk(batch, view, self.policy, rng=rng, **limits):
            gains = laws.watch(reward.gains(reward_state))
            if self.per_size and batch.sizes is not None:
                gains = gains / batch.sizes
            examples = self._examples(step, folds, gains, sampled)
            loss += float(examples.losses.sum())
            self.learner.learn(examples)
            self.ledger.taught = True
            reward_state = reward.add(reward_state, step.picks)
        values = laws.check_values(reward.value(reward_state))
        self.ledger.bounded &= reward.bounded
        self.ledger.submodular &= reward.submodular
        broken = laws.broken | ({CONSTRAINED} if batch.quotas is not None and self.per_group is None else set())
        self.ledger.breaches = sorted({*self.ledger.breaches, *broken})
        self.ledger.rounds += len(batch)
        self.ledger.loss += loss
        self.ledger.value += float(values.sum())
        if not self.policy.has_learned and len(batch) > 1:
            self.ledger.unlearned += len(batch)
            self.ledger.unlearned_value += float(values.sum())

    def update(self) -> None:
        if self.ledger.taught:  # else no item of the batch fits its budget
            self.policy = self.learner.policy()
        self.ledger.taught = False

    @property
    def length(self) -> int | None:
        return len(self.weights) if self.budget is None else None

    @property
    def picking(self) -> dict[str, bool]:
        """How the walk picks, beside the policy."""
        return {"repeats": self.repeats, "last_by_gain": self.last_by_gain}

    def value(self, problems: Problems) -> float:
        self.ledger.measure(problems)
        problems = as_constrained(problems, None, self.per_group)
        rng, budgets = np.random.default_rng(0), as_budgets(self.budget, problems)
        limits: dict[str, Any] = {"length": self.length, "budgets": budgets, **self.picking}
        lists = build_lists(problems, self.features, self.policy, rng=rng, **limits)
        return float(list_values(lists, problems).mean())

    def fork(self) -> Training:
        return replace(self, learner=self.learner.fork(), ledger=Ledger())

    def join(self, learner: Learner, ledger: Ledger) -> None:
        self.learner.join(learner)
        self.ledger.add(ledger)

    def for_new_problems(self) -> Training:
        """Return a copy that learns from problems it has not seen; an error there leaves this one unchanged."""
        return replace(copy.deepcopy(self), training_features=None)

    def _examples(self, step: Step, folds: Ints, gains: Floats, sampled: Bools | None) -> Examples:
        weight = float(self.weights[min(step.position, len(self.weights) - 1)])
        left = np.maximum.reduceat(np.where(step.options, gains, 0.0), step.rows.offsets[:-1])
        learned = left > 0 if self.skip_saturated else np.ones(len(left), dtype=bool)
        learned = learned if sampled is None else learned & sampled
        return Examples(step.rows, gains, weight, step.position, step.fits, step.picks, learned, folds)
