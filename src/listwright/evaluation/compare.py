"""Fits and tests every method on the same splits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
from narwhals.typing import IntoFrame
from numpy.typing import ArrayLike, NDArray

from listwright._internal.arrays import Floats, Ints
from listwright._internal.parameters import clone
from listwright._internal.progress import fitting, progress_to, report_progress
from listwright.checks.mistakes import warn_of_mistakes
from listwright.errors import InputError
from listwright.evaluation.comparison import Comparison
from listwright.evaluation.table import Table
from listwright.evaluation.values import cumulative_values, failures, list_values, measure_lists
from listwright.frames.columns import FrameKeywords, with_column_options
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.tables import Scan, read_with_columns
from listwright.walk.constraints import check_problems


class _Limits(NamedTuple):
    name: str
    values: tuple[Any, ...]
    refit: bool


@with_column_options
def compare(
    methods: Mapping[str, Any],
    problems: Problems | Scan | IntoFrame,
    *,
    reward: Any = None,
    folds: int | ArrayLike = 5,
    test: Problems | Scan | IntoFrame | None = None,
    lengths: int | Sequence[int] = (1, 3, 5),
    budgets: float | Sequence[float] | None = None,
    train_sizes: Sequence[float] | None = None,
    seeds: int | Sequence[int] = 1,
    refit_lengths: bool = False,
    progress: Any = "auto",
    **columns: Unpack[FrameKeywords],
) -> Comparison:
    """Fit every method on the same training problems and measure its lists on the same test problems.

    Use it to find out whether a method is better than another on your data. Methods are cloned. Each is fitted once
    with the largest of `lengths`, and shorter lists are the beginnings of its lists. Methods never see the reward of
    test problems, except for one with a true `needs_reward` (the oracle). Problems with fewer candidates than a length
    get shorter lists.

    Parameters
    ----------
    methods : dict of str to estimator
        By name: `SCP`, `ConSeqOpt`, any of `listwright.baselines`, or your own class with the same methods.
    problems : Problems, Scan or frame
        Problems with a reward: those of all folds or, with `test`, the training problems. Methods need them in memory:
        of a scan, a sample is taken that fits into its `max_memory` (see `Scan.sample`).
    reward : str or Reward, optional
        With a frame: what a list is worth, such as "any:clicked".
    folds : int or array-like of shape (problems,), default 5
        A number of folds drawn at random, or the fold of each problem.
    test : Problems, Scan or frame, optional
        Problems to test on, instead of folds.
    lengths : int or sequence of int, default (1, 3, 5)
        Numbers of items.
    budgets : float or sequence of float, optional
        Total sizes, instead of lengths. A method with a `budget` parameter is fitted for each.
    train_sizes : sequence of float, optional
        Shares (floats up to 1.0) or numbers of the training problems to learn from. Smaller sets are subsets of larger
        ones.
    seeds : int or sequence of int, default 1
        Number of repetitions, or a list of seeds. A seed draws the folds and the training problems, and is the
        `random_state` of every method that has one.
    refit_lengths : bool, default False
        Fit for each length instead of using the beginnings of longer lists.
    progress : {"auto"}, bool or callable, default "auto"
        "auto" shows a line on a terminal, True elsewhere too. A callable is called as `progress(what, done, total)`
        after each fit.
    **columns
        With a frame: the options of `Problems.from_frame`, which name its columns.

    Returns
    -------
    Comparison
        Means, paired differences and charts.

    Raises
    ------
    InputError
        If a method is not an estimator, if problems have no reward, or if a length, fold or training size cannot be
        used.

    See Also
    --------
    evaluate : All metrics of one model.

    Examples
    --------
    >>> import listwright as lw
    >>> from listwright.baselines import Oracle, Random, TopK
    >>> features = np.random.default_rng(0).random((60, 8, 2))
    >>> problems = lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(features[..., 0] > 0.7))
    >>> compare({"random": Random(), "top-k": TopK(), "oracle": Oracle()}, problems, lengths=[1, 2])
    Comparison: mean value and its standard error on 60 problems
    method       length 1       length 2
    random  0.350 ± 0.062  0.550 ± 0.065
    top-k   0.967 ± 0.023  0.967 ± 0.023
    oracle  0.967 ± 0.023  0.967 ± 0.023
    """
    problems, test = _read(problems, test, reward, columns)
    _check(methods, problems, test)
    limits = _limits(lengths, budgets, refit_lengths)
    plan = splits(problems, folds=folds, test=test, train_sizes=train_sizes, seeds=as_seeds(seeds))
    free = limits.name == "budget" or any(getattr(method, "repeats", False) for method in methods.values())
    warn_of_mistakes(problems, None if free else max(limits.values))
    parts = []
    todo = [(split, name) for split in plan for name in methods]
    with fitting(), progress_to(progress):  # so that fits do not repeat the warnings
        for number, (split, name) in enumerate(todo, start=1):
            with progress_to(False):
                fold_values = list(_values(methods[name], split, limits))
            parts += [_records(name, split, limits.name, limit, values) for limit, values in fold_values]
            what = f"{name}: seed {split.seed}, fold {split.fold}, {len(split.train)} problems"
            report_progress(what, number, len(todo))
    table = {column: np.concatenate([part[column] for part in parts]) for column in parts[0]}
    bounded = reward_of(problems if test is None else test).bounded
    return Comparison(Table(table, getattr(problems, "backend", None)), tuple(methods), limits.name, bounded)


def _read(problems: Any, test: Any, reward: Any, columns: Any) -> tuple[Problems, Problems | None]:
    """Return training and test problems in memory; a test frame is read by the columns of the training frame."""
    if isinstance(problems, Problems | Scan):
        if reward is not None or columns:
            named = "reward" if reward is not None else min(columns)
            raise InputError(f"{named}= goes with a frame. Problems have their own: see Problems.from_frame.")
        return _in_memory(problems), None if test is None else _in_memory(test)
    training, read_as = read_with_columns(problems, reward=reward, **columns)
    if not isinstance(test, Problems | Scan | None):
        test = read_with_columns(test, reward=reward, references=columns.get("references"), columns=read_as)[0]
    return training, None if test is None else _in_memory(test)


def _in_memory(problems: Problems | Scan) -> Problems:
    return problems.sample() if isinstance(problems, Scan) else problems


def _check(methods: Mapping[str, Any], problems: Problems, test: Problems | None) -> None:
    if not isinstance(methods, Mapping) or not methods:
        raise InputError(f"methods must be a dictionary of at least one estimator by name. Got {methods!r}.")
    for name, method in methods.items():
        if isinstance(method, type) or not all(hasattr(method, what) for what in ("fit", "predict", "get_params")):
            raise InputError(f"Method {name!r} must be an estimator with fit and predict. Got {method!r}.")
    for part in (problems,) if test is None else (problems, test):
        check_problems(part)
        reward_of(part, "compare")


def _limits(lengths: int | Sequence[int], budgets: float | Sequence[float] | None, refit: bool) -> _Limits:
    name, given = ("length", lengths) if budgets is None else ("budget", budgets)
    values = tuple(np.atleast_1d(given).tolist())
    if not values or min(values) <= 0:
        raise InputError(f"{name}s must be above 0, at least one of them. Got {values!r}.")
    return _Limits(name, tuple(sorted(set(values))), refit)


def _values(method: Any, split: Split, limits: _Limits) -> Iterator[tuple[Any, Floats]]:
    hidden = split.test if getattr(method, "needs_reward", False) else split.test.without_reward()
    if limits.name == "length":
        for group in [[limit] for limit in limits.values] if limits.refit else [limits.values]:
            model = _fit_method(method, split, {"length": max(group)})
            lists = model.predict(hidden, length=max(group), allow_short=True)
            worth = cumulative_values(measure_lists(lists, split.test))
            yield from ((length, worth[:, min(length, worth.shape[1]) - 1]) for length in group)
        return
    takes_budget = "budget" in method.get_params() and getattr(method, "learns_budget", True)
    model = None
    for budget in limits.values:
        if model is None or takes_budget:
            model = _fit_method(method, split, {"budget": budget})
        yield budget, list_values(model.predict(hidden, budget=budget, allow_short=True), split.test)


def _fit_method(method: Any, split: Split, settings: dict[str, Any]) -> Any:
    model = clone(method)
    known = model.get_params()
    wanted = settings | {"random_state": split.seed, "allow_short": True}
    return model.set_params(**{name: value for name, value in wanted.items() if name in known}).fit(split.train)


def _records(method: str, split: Split, limit_name: str, limit: Any, values: Floats) -> dict[str, Any]:
    n = len(values)
    return {
        "method": np.full(n, method, dtype=object),
        "fold": np.full(n, split.fold),
        "seed": np.full(n, split.seed),
        "train_size": np.full(n, split.train_size),
        limit_name: np.full(n, limit),
        "problem": split.test.problem_ids,
        "value": values,
        "failure": failures(values, reward_of(split.test)),
    }


class Split(NamedTuple):
    seed: int  # draws the folds and the training problems
    fold: Any  # the fold that is tested
    train_size: float  # share or number of the problems to learn from
    train: Problems  # the training problems and the test problems
    test: Problems


def splits(
    problems: Problems,
    *,
    folds: int | ArrayLike,
    test: Problems | None,
    train_sizes: Sequence[float] | None,
    seeds: Sequence[int],
) -> Iterator[Split]:
    """Yield one split per seed, fold and training size. Smaller training sets are subsets of larger ones."""
    for seed in seeds:
        for fold, rest, held in _parts(problems, folds, test, seed):
            order = np.random.default_rng([seed, 1]).permutation(len(rest))
            for size in (1.0,) if train_sizes is None else train_sizes:
                count = _count(size, len(rest))
                yield Split(seed, fold, size, rest[np.sort(order[:count])], held)


def as_seeds(seeds: int | Sequence[int]) -> Sequence[int]:
    chosen = range(seeds) if isinstance(seeds, int | np.integer) else list(seeds)
    if len(chosen) == 0:
        raise InputError(f"seeds must be at least 1, or a list of seeds. Got {seeds!r}.")
    return chosen


def _parts(
    problems: Problems, folds: int | ArrayLike, test: Problems | None, seed: int
) -> Iterator[tuple[Any, Problems, Problems]]:
    """Yield (fold, training problems, test problems): one per fold, or a single one if there is a test set."""
    if test is not None:
        yield 0, problems, test
        return
    numbers = fold_numbers(folds, len(problems), seed)
    for fold in np.unique(numbers):
        yield fold.item(), problems[numbers != fold], problems[numbers == fold]


def fold_numbers(folds: int | ArrayLike, n_problems: int, seed: int) -> NDArray[Any]:
    """Return the fold in which each problem is tested: as given, or drawn at random in equal sizes."""
    if isinstance(folds, int | np.integer):
        if not 2 <= folds <= n_problems:
            raise InputError(f"folds must be between 2 and the number of problems ({n_problems}). Got {folds}.")
        shuffled: Ints = np.random.default_rng([seed, 0]).permutation(n_problems)
        return shuffled % folds
    numbers = np.asarray(folds)
    if numbers.shape != (n_problems,) or len(np.unique(numbers)) < 2:
        raise InputError(
            f"folds must give each of {n_problems} problems one of at least 2 folds. Got shape {numbers.shape} with "
            f"{len(np.unique(numbers))} different values."
        )
    return numbers


def _count(size: float, available: int) -> int:
    is_share = isinstance(size, float | np.floating) and 0 < size <= 1
    count = max(1, round(size * available)) if is_share else int(size)
    if count < 1 or count > available or (not is_share and count != size):
        raise InputError(
            f"A training size is a share above 0 and up to 1.0, or a whole number up to {available}, the problems "
            f"there are to learn from. Got {size!r}."
        )
    return count
