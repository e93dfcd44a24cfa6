"""The laws of rewards, a search for lists that break them, and what else spoils learning from problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Unpack

import numpy as np
from narwhals.typing import IntoFrame
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Ints, RandomState, as_generator
from listwright.checks.base import (
    LawBroken,
    RecordedLists,
    format_apart,
    picks_at,
    random_picks,
    short_lists_of,
    snapshot,
)
from listwright.checks.mistakes import (
    counting_columns,
    dense_row,
    first_names,
    leaks_of,
    measured_afterwards,
    name_columns,
)
from listwright.frames.columns import FrameKeywords, with_column_options
from listwright.problems import Problems
from listwright.rewards import Function, reward_of
from listwright.tables import read_with_columns

FEW = 5  # problems with at most this many candidates are searched exhaustively
SHORT = 3  # length of the lists in that search
LONG = 6  # length of random lists


def check_reward(reward: Any, problems: Problems | Any, *, n_trials: int = 30, random_state: RandomState = 0) -> None:
    """Search for lists on which a reward breaks a law, and raise `LawBroken` at the first one found.

    Use it in the tests of your own reward, and on a sample of real problems before training. The laws of the paper
    (Section 3): an empty list is worth 0; a list with one more item, at the end or at the front, is never worth less;
    gains never rise as a list grows; values stay within [0, 1]. The laws of the interface: gains are differences of
    values, `gains_of` agrees with `gains`, `add` does not change the state it is given, -1 picks nothing, and a slice
    of the problems gives the same numbers.

    Parameters
    ----------
    reward : Reward or str
        The reward to test; with a frame also its name, such as "any:clicked". Gains may rise where its `submodular` is
        False, and values may exceed 1 where its `bounded` is False.
    problems : Problems or a frame
        The problems to build lists for. In problems of at most five candidates all lists of up to three items are
        tried, with repeats.
    n_trials : int, default 30
        Random lists of six items, tried for all problems.
    random_state : int, numpy.random.Generator or None, default 0
        Seed of the random lists.

    See Also
    --------
    listwright.rewards.Function : Makes a reward from a Python function.
    check_features, check_learner : The same for features and learners.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)))
    >>> check_reward(lw.rewards.AnySuccess([[0, 0.3, 1]]), problems)
    >>> check_reward(lw.rewards.Function(lambda problem, items: len(set(items)) ** 2 / 9), problems)
    Traceback (most recent call last):
        ...
    listwright.checks.base.LawBroken: Gain of item 1 rose from 0.11 to 0.33 after adding item 0 to [] in problem 0: ...
    """
    if isinstance(problems, Problems):
        problems = problems.with_reward(reward)
    else:
        problems = read_with_columns(problems, reward=reward)[0]
    reward, rng = reward_of(problems, "check_reward"), as_generator(random_state)
    start = RecordedLists.empty(reward, problems)
    _check_lists(start)
    empty_is_worth_nothing(start)
    slices_agree(start, rng.permutation(len(problems)))
    few = np.flatnonzero(problems.counts <= FEW)
    if len(few):  # short lists first, because their counterexamples are easy to read
        _check_short_lists(RecordedLists.empty(problems[few].reward, problems[few]))
    for _ in range(n_trials):
        _check_random_list(start, rng)


def _check_short_lists(start: RecordedLists) -> None:
    grown: dict[tuple[int, ...], RecordedLists] = {(): start}
    for positions in short_lists_of(start.problems, most=FEW, length=SHORT):
        picks = picks_at(start.problems, positions[-1], most=FEW)
        grown[positions] = _check_step(grown[positions[:-1]], picks)
        more_in_front_is_not_less(grown[positions[1:]], grown[positions])


def _check_random_list(start: RecordedLists, rng: np.random.Generator) -> None:
    """Check every step of one random list per problem, then the list without its first item, and a slice."""
    grown = start
    for _ in range(LONG):
        grown = _check_step(grown, random_picks(start.problems, grown.picks[-1] if grown.picks else None, rng))
    more_in_front_is_not_less(start.replay(grown.picks[1:]), grown)
    slices_agree(grown, rng.permutation(len(grown.problems))[: 1 + len(grown.problems) // 2])


def _check_step(before: RecordedLists, picks: Ints) -> RecordedLists:
    """Add picks and return the new record, after checking the laws of a step and of the new lists."""
    kept = snapshot(before.state)
    after = before.add(picks)
    if any(array.tobytes() != bytes_before for array, bytes_before in kept):
        _impure(before, picks, int((picks >= 0).argmax()))
    add_is_pure(before, picks)
    _check_lists(after)
    for law in STEP_LAWS:
        law(before, picks, after)
    return after


def _check_lists(grown: RecordedLists) -> None:
    for law in LIST_LAWS:
        law(grown)


def one_number_each(grown: RecordedLists) -> None:
    """`gains` returns one finite number per row, and `value` one per problem."""
    for name, numbers, n, each in (
        ("gains", grown.gains, grown.problems.n_rows, "row"),
        ("value", grown.values, len(grown.problems), "problem"),
    ):
        if numbers.shape != (n,):
            raise LawBroken("shape", f"{name} must give one number per {each} ({n}). Got shape {numbers.shape}.")
        if not np.isfinite(numbers).all():
            raise LawBroken("shape", f"{name} must give finite numbers. Got {numbers[~np.isfinite(numbers)][0]}.")


def empty_is_worth_nothing(grown: RecordedLists) -> None:
    """f([]) = 0."""
    for i in _first(np.abs(grown.values) > grown.tolerance):
        (value,) = format_apart(grown.values[i])
        raise LawBroken("empty", f"An empty list is worth {value} {grown.place(i)}: it must be worth 0.")


def values_are_bounded(grown: RecordedLists) -> None:
    """0 <= f(L) <= 1, if the reward says that it is bounded."""
    low, high = grown.values < -grown.tolerance, grown.values > 1 + grown.tolerance
    for i in _first((low | high) & grown.reward.bounded):
        value, _ = format_apart(grown.values[i], float(high[i]))
        where = f"{grown.items(i)} is worth {value} {grown.place(i)}"
        raise LawBroken("bounded", f"{where}: this reward does not stay within [0, 1].")


def more_is_not_less(grown: RecordedLists) -> None:
    """f(L + s) >= f(L): appending an item never lowers the value."""
    for row in _first(grown.gains < -grown.tolerance):
        i = int(grown.problems.owners[row])
        fall, _ = format_apart(-grown.gains[row], 0.0)
        where = f"Adding {grown.item(row)} to {grown.items(i)} {grown.place(i)}"
        raise LawBroken("monotone", f"{where} lowers its value by {fall}: this reward is not monotone.")


def gains_of_agrees(grown: RecordedLists) -> None:
    """gains_of(rows) = gains[rows], here for all rows in reverse order."""
    rows = np.arange(grown.problems.n_rows)[::-1].copy()
    some = np.asarray(grown.reward.gains_of(grown.state, rows))[::-1]
    for row in _first(_differ(some, grown.gains, grown.tolerance)):
        i = int(grown.problems.owners[row])
        larger, other = format_apart(some[row], grown.gains[row])
        where = f"{grown.item(row)} after {grown.items(i)} {grown.place(i)}"
        raise LawBroken("gains_of", f"gains_of says {larger} and gains says {other} for {where}: they must agree.")


def add_is_pure(before: RecordedLists, picks: Ints) -> None:
    """Return the state that was passed to `add` still gives the same gains and values."""
    again = RecordedLists.after(before.reward, before.problems, before.picks, before.state)
    for i in _first(again.values != before.values):
        _impure(before, picks, i)
    for row in _first(again.gains != before.gains):
        _impure(before, picks, int(before.problems.owners[row]))


def _impure(before: RecordedLists, picks: Ints, i: int) -> None:
    added = before.item(int(picks[i])) if picks[i] >= 0 else "nothing"
    where = f"Adding {added} to {before.items(i)} {before.place(i)}"
    raise LawBroken("pure", f"{where} changed the state it started from: add must return a new state.")


def no_pick_changes_nothing(before: RecordedLists, picks: Ints, after: RecordedLists) -> None:
    """A pick of -1 leaves a problem as it is, whatever the other problems pick."""
    for i in _first((picks < 0) & (after.values != before.values)):
        old, new = format_apart(before.values[i], after.values[i])
        what = f"The value of {before.items(i)} {before.place(i)} went from {old} to {new}"
        raise LawBroken("no pick", f"{what} without a pick: -1 must change nothing.")
    for row in _first((picks < 0)[before.problems.owners] & (after.gains != before.gains)):
        old, new = format_apart(before.gains[row], after.gains[row])
        what = f"{_gain_after(before, row)} went from {old} to {new}"
        raise LawBroken("no pick", f"{what} without a pick: -1 must change nothing.")


def gains_are_differences(before: RecordedLists, picks: Ints, after: RecordedLists) -> None:
    """b(s | L) = f(L + s) - f(L)."""
    rise = after.values - before.values
    said = np.where(picks >= 0, before.gains[picks], 0.0)
    for i in _first(_differ(rise, said, max(before.tolerance, after.tolerance))):
        gain, change = format_apart(said[i], rise[i])
        what = f"Gain of {before.item(int(picks[i]))} was {gain}, but adding it to {before.items(i)} {before.place(i)}"
        raise LawBroken("difference", f"{what} changed the value by {change}: gains must be differences of values.")


def gains_only_fall(before: RecordedLists, picks: Ints, after: RecordedLists) -> None:
    """b(s | L + t) <= b(s | L), if the reward says that it is submodular."""
    for row in _first((after.gains > before.gains + before.tolerance) & before.reward.submodular):
        i = int(before.problems.owners[row])
        old, new = format_apart(before.gains[row], after.gains[row])
        what = f"Gain of {before.item(row)} rose from {old} to {new}"
        where = f"after adding {before.item(int(picks[i]))} to {before.items(i)} {before.place(i)}"
        raise LawBroken("submodular", f"{what} {where}: this reward is not submodular.")


def more_in_front_is_not_less(without: RecordedLists, with_front: RecordedLists) -> None:
    """f(s + L) >= f(L): the other half of the paper's monotonicity, for rewards that depend on the order."""
    for i in _first(with_front.values < without.values - without.tolerance):
        old, new = format_apart(without.values[i], with_front.values[i])
        what = f"{without.items(i)} is worth {old} {without.place(i)}, but {with_front.items(i)} is worth {new}"
        raise LawBroken("monotone", f"{what}: this reward is not monotone.")


def slices_agree(grown: RecordedLists, which: Ints) -> None:
    """Return a selection of the problems, in another order, has the same gains and values."""
    part = grown.problems[which]
    moved = part.offsets[:-1] - grown.problems.offsets[which]
    picks = tuple(np.where(step[which] >= 0, step[which] + moved, -1) for step in grown.picks)
    sliced = RecordedLists.empty(reward_of(part), part).replay(picks)
    if sliced.gains.shape != (part.n_rows,) or sliced.values.shape != (len(part),):
        got = f"gains of shape {sliced.gains.shape} and values of shape {sliced.values.shape}"
        raise LawBroken("slice", f"A slice of {len(part)} problems and {part.n_rows} rows has {got}: see Reward.take.")
    rows = np.arange(part.n_rows) - np.repeat(moved, part.counts)
    _same_in_slice(grown.values[which], sliced.values, lambda i: f"The value of {sliced.items(i)} {sliced.place(i)}")
    _same_in_slice(grown.gains[rows], sliced.gains, lambda row: _gain_after(sliced, row))


def _gain_after(grown: RecordedLists, row: int) -> str:
    i = int(grown.problems.owners[row])
    return f"Gain of {grown.item(row)} after {grown.items(i)} {grown.place(i)}"


def _same_in_slice(whole: Floats, part: Floats, name: Callable[[int], str]) -> None:
    for i in _first(_differ(part, whole, 1e-9 * max(1.0, float(np.abs(whole).max())))):
        larger, other = format_apart(whole[i], part[i])
        raise LawBroken("slice", f"{name(i)} is {larger} in the whole batch but {other} in a slice: see Reward.take.")


def _differ(a: Floats, b: Floats, tolerance: float) -> Bools:
    return np.abs(a - b) > tolerance


def _first(bad: Bools) -> list[int]:
    return [int(i) for i in np.flatnonzero(bad)[:1]]


LIST_LAWS = (one_number_each, more_is_not_less, values_are_bounded, gains_of_agrees)
STEP_LAWS = (no_pick_changes_nothing, gains_are_differences, gains_only_fall)


TRIED, TRIED_OWN = 200, 20  # problems on which the laws are tried; fewer for Python functions, which may be slow


@dataclass(frozen=True)
class Finding:
    """The result of one test of training problems.

    Attributes
    ----------
    level : {"ok", "warning", "error"}
        How serious it is.
    check : str
        Short name of the test, such as "leak".
    message : str
        What was found, in a sentence.

    See Also
    --------
    examine : Returns one for each test.

    Examples
    --------
    >>> print(Finding("warning", "constant", "1 of 9 features is constant."))
    warning  1 of 9 features is constant.
    """

    level: str
    check: str
    message: str

    def to_dict(self) -> dict[str, str]:
        """Return level, check and message as a dict of plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.level:<7}  {self.message}"


@with_column_options
def examine(
    problems: Problems | IntoFrame,
    *,
    reward: Any = None,
    n_trials: int = 30,
    random_state: RandomState = 0,
    **columns: Unpack[FrameKeywords],
) -> list[Finding]:
    """Look for what would spoil learning, as `listwright check` does.

    It tests whether the reward obeys its laws, and whether there are problems without anything to gain, candidates with
    the same features, features that never vary, and features that give the reward away.

    Parameters
    ----------
    problems : Problems, or a frame of pandas, polars, pyarrow or DuckDB
        What a model is to learn from.
    reward : str or Reward, optional
        With a frame: what a list is worth, such as "any:clicked".
    n_trials : int, default 30
        Number of random lists on which the laws of the reward are tested.
    random_state : int, numpy.random.Generator or None, default 0
        Seed or generator of the random numbers.
    **columns
        With a frame: the options of `Problems.from_frame`.

    Returns
    -------
    list of Finding
        One for each test.

    See Also
    --------
    check_reward : The laws of a reward alone.

    Examples
    --------
    >>> import listwright as lw
    >>> x = np.random.default_rng(0).random((40, 5, 2))
    >>> success = x[..., 0] > 0.6
    >>> leaky = np.concatenate([x, 9.0 * success[..., None]], axis=2)
    >>> problems = lw.Problems.from_arrays(leaky, reward=lw.rewards.AnySuccess(success))
    >>> [finding.check for finding in examine(problems) if finding.level == "error"]
    ['leak']
    """
    if not isinstance(problems, Problems):
        problems = read_with_columns(problems, reward=reward, **columns)[0]
    measured = reward_of(problems, "examine")
    gains = measured.gains(measured.start(problems))
    return [
        _laws(problems, n_trials, as_generator(random_state)),
        _reachable(problems, gains),
        _duplicates(problems),
        _constant(problems),
        _leaks(problems, gains),
    ]


def _laws(problems: Problems, n_trials: int, rng: np.random.Generator) -> Finding:
    """Test the laws of the reward on a sample of the problems: fewer for Python functions, which may be slow."""
    most = TRIED_OWN if isinstance(problems.reward, Function) else TRIED
    some = problems[np.sort(rng.permutation(len(problems))[:most])]
    try:
        check_reward(some.reward, some, n_trials=n_trials, random_state=rng)
    except LawBroken as error:
        return Finding("error", error.law, str(error))
    many = f"{len(some):,} problem{'' if len(some) == 1 else 's'}"
    laws = "monotone, submodular" if some.reward.submodular else "monotone"
    return Finding("ok", "laws", f"The reward satisfies its laws ({laws}) on all lists tried, of {many}.")


def _reachable(problems: Problems, gains: Floats) -> Finding:
    best = np.maximum.reduceat(gains, problems.offsets[:-1])
    lost = best <= 0
    if lost.all():
        return Finding("error", "unreachable", "No item of any problem gains anything: check the reward's column.")
    if lost.any():
        message = f"{lost.sum():,} of {len(problems):,} problems gain nothing from any item, and so teach nothing"
        return Finding("warning", "unreachable", f"{message}: {first_names(problems.problem_ids[lost])}.")
    return Finding("ok", "unreachable", "Every problem has an item that gains something.")


def _duplicates(problems: Problems) -> Finding:
    if not problems.n_features:
        return Finding("ok", "duplicates", "Candidates have no features of their own.")
    twins = _twins(problems)
    if not twins.any():
        return Finding("ok", "duplicates", "No problem has two candidates with the same features.")
    owners = np.unique(problems.owners[twins])
    message = f"{twins.sum():,} of {problems.n_rows:,} candidates have the same features as another of the same problem"
    return Finding("warning", "duplicates", f"{message}: see {first_names(problems.problem_ids[owners])}.")


def _twins(problems: Problems) -> Bools:
    """Return per row whether an earlier row of its problem has the same features, by two random sums of each row."""
    if problems.catalogue is not None:
        return np.zeros(problems.n_rows, dtype=bool)  # the catalogue tells them apart
    draw = np.random.default_rng(0).standard_normal((problems.n_features, 2))
    sums = np.stack([_row_sums(problems.features, column) for column in draw.T])
    order = np.lexsort((sums[1], sums[0], problems.owners))
    same = (np.diff(problems.owners[order]) == 0) & (np.diff(sums[:, order], axis=1) == 0).all(axis=0)
    twins = np.zeros(problems.n_rows, dtype=bool)
    twins[order[1:][same]] = True
    return twins


def _row_sums(features: Any, column: Floats) -> Floats:
    if sparse.issparse(features):
        return np.asarray(features @ column)
    return np.einsum("ij,j->i", features, column)


def _constant(problems: Problems) -> Finding:
    low, high = (dense_row(getattr(problems.features, name)(axis=0)) for name in ("min", "max"))
    flat = np.flatnonzero(low == high)
    if not len(flat):
        return Finding("ok", "constant", "Every feature varies.")
    message = f"{len(flat):,} of {problems.n_features:,} features are constant and carry no information"
    return Finding("warning", "constant", f"{message}: {name_columns(problems, flat)}.")


def _leaks(problems: Problems, gains: Floats) -> Finding:
    names = leaks_of(problems, gains)
    if not names:
        return _suspects(problems)
    return Finding("error", "leak", f"The reward can be computed from {names}: will that be known for new problems?")


def _suspects(problems: Problems) -> Finding:
    """Point out features that may not be known in time, by their names or because they count the candidates."""
    if len(columns := counting_columns(problems)):
        message = f"{name_columns(problems, columns)} counts the candidates of every problem (1, 2, 3, ...)"
        return Finding("error", "leak", f"{message}, like the position at which they were shown: leave it out.")
    if len(columns := measured_afterwards(problems)):
        message = f"{name_columns(problems, columns)} sounds like what is measured after a list was shown"
        return Finding("warning", "leak", f"{message}: will that be known for new problems?")
    return Finding("ok", "leak", "No feature gives the reward away.")
