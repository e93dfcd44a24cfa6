"""The laws of features and of learners, the error that checks raise, and what all checks share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Floats32, Ints, RandomState, as_generator
from listwright._internal.parameters import clone
from listwright.features import Crossed, Features, Rows
from listwright.learners import Learner
from listwright.learners.examples import Examples
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.rewards import Reward

TOLERANCE = 1e-9  # relative to the largest number compared, or to 1 if all are smaller


class LawBroken(AssertionError):
    """A check found a counterexample; the message names the list and the item.

    It is an `AssertionError`, so a check can stand alone in a test.

    Parameters
    ----------
    law : str
        Short name of the law, such as "monotone".
    message : str
        The counterexample.

    Attributes
    ----------
    law : str
        Short name of the law.

    See Also
    --------
    check_reward, check_features, check_learner : The checks that raise it.

    Examples
    --------
    >>> print(LawBroken("empty", "An empty list is worth 0.30 in problem q17: it must be worth 0."))
    An empty list is worth 0.30 in problem q17: it must be worth 0.
    """

    def __init__(self, law: str, message: str) -> None:
        super().__init__(law, message)  # both in args, so that the error survives pickling between processes
        self.law = law

    def __str__(self) -> str:
        return str(self.args[1])


def format_apart(*numbers: float) -> tuple[str, ...]:
    """Format numbers with as few decimals, at least two, as distinguish each from the next."""
    texts: tuple[str, ...] = ()
    for decimals in range(2, 18):
        texts = tuple(f"{number:.{decimals}f}" for number in numbers)
        if all(texts[i] != texts[i + 1] for i in range(len(texts) - 1)):
            break
    return texts


@dataclass(frozen=True, eq=False)
class RecordedLists:
    """The lists of a batch at one moment: the picks so far, the reward's state, and its gains and values."""

    reward: Reward  # the reward under test
    problems: Problems  # the batch
    picks: tuple[Ints, ...]  # one array of picks per step
    state: Any  # the reward's state
    gains: Floats  # what the reward returned for this state
    values: Floats

    @classmethod
    def after(cls, reward: Reward, problems: Problems, picks: tuple[Ints, ...], state: Any) -> RecordedLists:
        return cls(reward, problems, picks, state, np.copy(reward.gains(state)), np.copy(reward.value(state)))

    @classmethod
    def empty(cls, reward: Reward, problems: Problems) -> RecordedLists:
        return cls.after(reward, problems, (), reward.start(problems))

    def add(self, picks: Ints) -> RecordedLists:
        return RecordedLists.after(self.reward, self.problems, (*self.picks, picks), self.reward.add(self.state, picks))

    def replay(self, picks: tuple[Ints, ...]) -> RecordedLists:
        grown = self
        for step in picks:
            grown = grown.add(step)
        return grown

    @property
    def tolerance(self) -> float:
        return TOLERANCE * max(1.0, float(np.abs(self.values).max()), float(np.abs(self.gains).max()))

    def item(self, row: int) -> str:
        ids, owner = self.problems.item_ids, self.problems.owners[row]
        return f"item {row - self.problems.offsets[owner] if ids is None else ids[row]!s}"

    def items(self, problem: int) -> str:
        rows = [int(step[problem]) for step in self.picks if step[problem] >= 0]
        return "[" + ", ".join(self.item(row).removeprefix("item ") for row in rows) + "]"

    def place(self, problem: int) -> str:
        return f"in problem {self.problems.problem_ids[problem]!s}"


def short_lists_of(problems: Problems, *, most: int, length: int) -> Iterator[tuple[int, ...]]:
    """Yield all lists of up to `length` positions for problems of at most `most` candidates, shortest first."""
    few = problems.counts[problems.counts <= most]
    for n in range(1, length + 1):
        yield from product(range(int(few.max(initial=0))), repeat=n)


def picks_at(problems: Problems, position: int, *, most: int) -> Ints:
    """Return the row at one position of every problem that has it and at most `most` candidates; -1 for the others."""
    there = (problems.counts > position) & (problems.counts <= most)
    return np.where(there, problems.offsets[:-1] + position, -1)


def random_picks(problems: Problems, last: Ints | None, rng: np.random.Generator) -> Ints:
    picks = problems.offsets[:-1] + rng.integers(problems.counts)
    chance = rng.random(len(problems))
    if last is not None:
        picks = np.where((chance < 0.2) & (last >= 0), last, picks)
    return np.where(chance > 0.9, -1, picks)


def snapshot(state: Any) -> list[tuple[NDArray[Any], bytes]]:
    """Return every array inside a state, with its current bytes, so that changes in place can be found."""
    return [(array, array.tobytes()) for array in _arrays_in(state, depth=5)]


def _arrays_in(thing: Any, depth: int) -> Iterator[NDArray[Any]]:
    """Yield the arrays inside nested containers and objects, down to `depth` levels; not those of `Problems`."""
    if isinstance(thing, np.ndarray):
        yield thing
    elif depth and not isinstance(thing, Problems | str | bytes):
        for part in _parts(thing):
            yield from _arrays_in(part, depth - 1)


def _parts(thing: Any) -> list[Any]:
    if isinstance(thing, tuple | list):
        return list(thing)
    if isinstance(thing, dict):
        return list(thing.values())
    return list(vars(thing).values()) if is_dataclass(thing) or hasattr(thing, "__dict__") else []


LONG = 4  # length of the random lists


def check_features(features: Features, problems: Problems, *, n_trials: int = 5, random_state: RandomState = 0) -> None:
    """Test features on random lists, and raise `LawBroken` at the first law that they break.

    Use it in the tests of your own `Features` class. The laws: every row has its columns, finite float32 numbers with
    one name each; `add` does not change the state it is given; a pick of -1 changes nothing for its problem; a problem
    looks the same alone as in a batch; and nothing depends on a reward.

    Parameters
    ----------
    features : Features
        The features to test; they are cloned and fitted.
    problems : Problems
        The problems to build lists for.
    n_trials : int, default 5
        Number of random lists per problem.
    random_state : int, numpy.random.Generator or None, default 0
        Seed of the random lists.

    See Also
    --------
    check_reward : The same for rewards.
    check_learner : The same for learners.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays(np.random.default_rng(0).random((3, 4, 2)))
    >>> check_features(lw.features.Candidate() + lw.features.Distance(), problems)
    """
    fitted, rng = clone(features).fit(problems), as_generator(random_state)
    for _ in range(n_trials):
        picks: list[Ints] = []
        seen = fitted.start(problems)
        for _ in range(LONG):
            rows = fitted.rows(seen)
            _shape(fitted, rows, problems)
            _same_alone(fitted, rows, problems, picks, int(rng.integers(len(problems))))
            _same_without_reward(fitted, rows, problems, picks)
            step = random_picks(problems, picks[-1] if picks else None, rng)
            seen = _pure_step(fitted, seen, rows, step)
            picks.append(step)


def _shape(features: Features, rows: Rows, problems: Problems) -> None:
    table = rows.table
    if table.dtype != np.float32 or table.ndim != 2 or len(table) != problems.n_rows:
        got = f"{table.dtype} of shape {table.shape}"
        raise LawBroken("shape", f"Columns must be float32 with one row per candidate ({problems.n_rows}). Got {got}.")
    if len(features.names()) != table.shape[1]:
        raise LawBroken("names", f"There are {table.shape[1]} columns but {len(features.names())} names.")
    for part in (table, np.empty(0) if rows.crossed is None else rows.crossed.states):
        if not np.isfinite(part).all():
            raise LawBroken("finite", f"Columns must be finite. Got {part[~np.isfinite(part)][0]}.")


def _pure_step(features: Features, seen: Any, rows: Rows, picks: Ints) -> Any:
    """Add the picks and return the new state; raise if the old state changed, or a problem without a pick did."""
    kept = snapshot(seen)
    after = features.add(seen, picks)
    if any(array.tobytes() != before for array, before in kept) or not _equal(rows, features.rows(seen)):
        raise LawBroken("pure", "add changed what it was given: it must return something new.")
    still = (picks < 0)[rows.owners]
    if not _equal(rows, features.rows(after), still):
        raise LawBroken("no pick", "Columns of a problem changed without a pick: -1 must change nothing.")
    return after


def _same_alone(features: Features, rows: Rows, problems: Problems, picks: list[Ints], i: int) -> None:
    alone = _after(features, problems[i], [step[i : i + 1] - problems.offsets[i] * (step[i] >= 0) for step in picks])
    mine = slice(problems.offsets[i], problems.offsets[i + 1])
    same = np.allclose(alone.table, rows.table[mine], rtol=1e-5, atol=1e-6)
    if rows.crossed is not None and alone.crossed is not None:
        same &= np.allclose(alone.crossed.states, rows.crossed.states[i], rtol=1e-5, atol=1e-6)
    if not same:
        name = problems.problem_ids[i]
        raise LawBroken("slice", f"Problem {name!s} looks different alone than in a batch: problems must not mix.")


def _same_without_reward(features: Features, rows: Rows, problems: Problems, picks: list[Ints]) -> None:
    if not _equal(rows, _after(features, problems.without_reward(), picks)):
        raise LawBroken("reward", "Columns differ when the reward is taken away: features must not look at it.")


def _after(features: Features, problems: Problems, picks: list[Ints]) -> Rows:
    seen = features.start(problems)
    for step in picks:
        seen = features.add(seen, step)
    return features.rows(seen)


def _equal(left: Rows, other: Rows, where: Any = slice(None)) -> bool:
    same = np.array_equal(left.table[where], other.table[where])
    if left.crossed is None or other.crossed is None:
        return same and left.crossed is other.crossed
    return same and np.array_equal(_states(left)[where], _states(other)[where])


def _states(rows: Rows) -> Floats32:
    assert rows.crossed is not None
    return rows.crossed.states[rows.owners]


STATES, ITEMS = 40, 6


def check_learner(learner: Learner, *, n_rounds: int = 60, random_state: RandomState = 0) -> None:
    """Test a learner on simple made-up examples, and raise `LawBroken` at the first law that it breaks.

    Use it in the tests of your own `Learner` class. The laws: learning changes the clone only; the same examples give
    the same policy; scores are finite; a round without anything to learn does no harm; and where one item is best in
    every state, its policies pick that item more often than by chance.

    Parameters
    ----------
    learner : Learner
        The learner to test; it is cloned.
    n_rounds : int, default 60
        Rounds of examples that the learner gets.
    random_state : int, numpy.random.Generator or None, default 0
        Seed of the examples.

    See Also
    --------
    check_features : The same for features.
    check_reward : The same for rewards.

    Examples
    --------
    >>> import listwright as lw
    >>> check_learner(lw.learners.RidgeFTRL())
    """
    before = repr(vars(learner))
    first, second = (_teach(clone(learner), n_rounds, random_state) for _ in range(2))
    if repr(vars(learner)) != before:
        raise LawBroken("clone", "Learning changed the learner that was cloned.")
    rows = _rows(as_generator(1))
    (picks, scores), (again, _) = _picks(first, rows), _picks(second, rows)
    if not np.array_equal(picks, again):
        raise LawBroken("same", "The same examples gave two different policies.")
    if scores.shape != (len(rows.owners),) or not np.isfinite(scores).all():
        raise LawBroken("finite", f"Scores must be one finite number per row. Got shape {scores.shape}.")
    share = float(np.mean(picks == rows.offsets[:-1] + 2))
    if share <= 1.5 / ITEMS:
        raise LawBroken("learns", f"The best item was picked in {share:.0%} of easy states: no better than by chance.")


def _teach(learner: Learner, n_rounds: int, random_state: RandomState) -> Policy:
    """Return the policy of a learner after `n_rounds` rounds; in the second round there is nothing to learn."""
    rng, policy = as_generator(random_state), learner.first_policy()
    for number in range(n_rounds):
        rows = _rows(rng)
        every, gains = np.ones(len(rows.owners), dtype=bool), 0.1 + 0.8 * rows.table[:, 0].astype(np.float64)
        picks, _ = policy.drawn(STATES, rng).pick(rows, every, 0, rng)
        learned = np.full(STATES, number != 1)  # in the second round nothing can be learned
        learner.learn(Examples(rows, gains, 0.5, 0, np.ones_like(every), picks, learned, np.arange(STATES) % 5))
        policy = learner.policy()
    return policy


def _rows(rng: np.random.Generator) -> Rows:
    """Return made-up states of `ITEMS` candidates in which item 2 is best, and in which the first column marks it."""
    owners = np.repeat(np.arange(STATES), ITEMS)
    items = np.tile(np.arange(ITEMS), STATES)
    table = rng.random((STATES * ITEMS, 2)).astype(np.float32)
    table[:, 0] = items == 2
    states = np.ones((STATES, 1), dtype=np.float32)
    return Rows(table, owners, np.arange(STATES + 1) * ITEMS, Crossed(items, ITEMS, states))


def _picks(policy: Policy, rows: Rows) -> tuple[Ints, Floats]:
    rng = np.random.default_rng(2)
    return policy.drawn(STATES, rng).pick(rows, np.ones(len(rows.owners), dtype=bool), 0, rng)
