"""Splits problems into training and test sets, the same for every method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from listwright._internal.arrays import Ints
from listwright.errors import InputError
from listwright.problems import Problems


class Split(NamedTuple):
    """A training set and the problems that it is tested on, with the seed, fold and training size that made it."""

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
    """Return the seeds 0, 1, ... for a number of seeds, or a list of seeds as it is."""
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
    """Return a number of problems, from a share (a float up to 1.0) or a number."""
    is_share = isinstance(size, float | np.floating) and 0 < size <= 1
    count = max(1, round(size * available)) if is_share else int(size)
    if count < 1 or count > available or (not is_share and count != size):
        raise InputError(
            f"A training size is a share above 0 and up to 1.0, or a whole number up to {available}, the problems "
            f"there are to learn from. Got {size!r}."
        )
    return count
