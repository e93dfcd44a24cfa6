"""Features that learn from rewards: what they say of a training problem was learned without it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Bools
from listwright._internal.folds import FOLDS, folds_of
from listwright._internal.progress import tell
from listwright.features.base import Features
from listwright.problems import Problems


class Fold(NamedTuple):
    """One of the parts that training problems are cut into."""

    number: int
    held: Bools  # by problem: whether it is in this fold
    rest: Bools  # by problem: whether its fold may learn from it


class CrossFitted(Features):
    """A base for features that would know their training problems too well.

    A policy that learns on top of such features must see training problems as it will see new ones: through what was
    learned from the other folds. `fit` learns once from everything and once for each of `folds(problems)`;
    `for_training` gives a twin whose `out_of_fold` is true.
    """

    out_of_fold_: bool
    n_folds: int = FOLDS

    @property
    def out_of_fold(self) -> bool:
        """Whether problems are training problems, to be seen through what was learned without them."""
        return bool(vars(self).get("out_of_fold_", False))

    def folds(self, problems: Problems) -> Iterator[Fold]:
        """The folds that hold some problems. If all fall into one, there are no others to learn from: all teach it."""
        numbers = folds_of(problems.problem_ids, self.n_folds)
        present = np.unique(numbers)
        for number in present.tolist():
            held = numbers == number
            tell(f"{self.group}, without fold {number + 1} of {self.n_folds}")
            yield Fold(number, held, ~held if len(present) > 1 else held)

    def for_training(self, problems: Problems) -> Self:
        """A twin that sees the training problems through what was learned without them."""
        twin = copy.copy(self)
        twin.out_of_fold_ = True
        return twin
