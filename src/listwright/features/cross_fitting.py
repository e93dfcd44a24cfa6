"""Cross-fitting for features that learn from rewards: a training problem is seen through models fitted without it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Bools
from listwright._internal.progress import report_progress
from listwright._internal.ragged import FOLDS, folds_of
from listwright.features.base import Features
from listwright.problems import Problems


class Fold(NamedTuple):
    """One of the parts that training problems are cut into."""

    number: int  # index of the fold
    held: Bools  # by problem: whether it is in this fold
    rest: Bools  # by problem: whether its fold may learn from it


class CrossFitted(Features):
    """Base of features that learn from rewards and would otherwise know their training problems too well.

    A policy that learns on top of such features must see training problems as it will see new ones: through what was
    learned from the other folds. `fit` learns once from everything and once for each of `folds(problems)`;
    `for_training` gives a twin whose `out_of_fold` is true.
    """

    out_of_fold_: bool  # set on twins made by `for_training`
    n_folds: int = FOLDS  # number of folds

    @property
    def out_of_fold(self) -> bool:
        """Whether problems passed in are training problems, to be seen through models fitted without them."""
        return bool(vars(self).get("out_of_fold_", False))

    def folds(self, problems: Problems) -> Iterator[Fold]:
        """Yield the folds that hold any problems, and reports progress."""
        # If all problems fall into one fold there are no others to learn from, so that fold learns from itself.
        numbers = folds_of(problems.problem_ids, self.n_folds)
        present = np.unique(numbers)
        for number in present.tolist():
            held = numbers == number
            report_progress(f"{self.group}, without fold {number + 1} of {self.n_folds}")
            yield Fold(number, held, ~held if len(present) > 1 else held)

    def for_training(self, problems: Problems) -> Self:
        """Return a shallow copy that sees the training problems out of fold."""
        twin = copy.copy(self)
        twin.out_of_fold_ = True
        return twin
