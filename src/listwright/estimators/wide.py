"""Tables with more columns than their rows can support, such as embeddings: few columns that say what all of them say.

A linear policy sees each column three times (itself, and two distances to the list), so that sums of products grow with
the square of thrice the columns. Here the columns are first summed up in a basis of a few dozen.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.parameters import clone
from listwright._internal.progress import report_progress
from listwright._internal.ragged import folds_of
from listwright._internal.saved import saved_as
from listwright._internal.threads import one_thread
from listwright._kernels.linear import linear_scores
from listwright.estimators.basis import basis_of
from listwright.features import Features, Rows
from listwright.features.auto import auto_features
from listwright.features.base import Crossed
from listwright.features.candidate import feature_names
from listwright.features.cross_fitting import CrossFitted
from listwright.problems import Problems
from listwright.rewards import reward_of

WIDE = 200  # columns past which they are summed up; fewer are quick as they are


def suited_features(problems: Problems) -> Features:
    """Return automatic features, behind a compression to few columns where there are more than 200."""
    auto = auto_features(problems)
    return Compressed(auto) if problems.n_features > WIDE else auto


@saved_as("features.Compressed")
class Compressed(CrossFitted):
    """Other features, of problems whose many columns are summed up in a few."""

    group = "relevance"

    def __init__(self, inner: Features, *, n_columns: int = 16, n_directions: int = 32) -> None:
        self.inner = inner
        self.n_columns = n_columns
        self.n_directions = n_directions

    def fit(self, problems: Problems) -> Self:
        """Learn the basis, and fit the inner features on what the policy sees while learning."""
        self.begun(problems)
        self.inner_ = clone(self.inner).fit(self.for_training(problems).narrowed(problems))
        return self

    def begun(self, example: Problems) -> Self:
        """Learn the basis from an example; the inner features can then be fitted part by part."""
        report_progress(f"{example.n_features:,} columns, summed up")
        reward, names = reward_of(example), feature_names(example)
        with one_thread():
            self.basis_ = basis_of(
                example,
                reward.gains(reward.start(example)),
                folds_of(example.problem_ids),
                columns=self.n_columns,
                components=self.n_directions,
            )
        directions = len(self.basis_.weights) - 1 - len(self.basis_.own)
        self.names_ = [f"score of {example.n_features:,} columns", *(names[column] for column in self.basis_.own)]
        self.names_ += [f"direction {i} of {example.n_features:,} columns" for i in range(1, directions + 1)]
        return self

    def summary(self, problems: Problems) -> dict[str, Any]:
        """Return what the inner features need to know of a part of the problems."""
        return self.inner.summary(self.narrowed(problems))

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        """Fit the inner features from the summaries of all parts."""
        self.inner_ = clone(self.inner).fit_from_summary(summary)
        return self

    def streams(self) -> bool:
        """Return whether it can be fitted part by part: once there is a basis."""
        return hasattr(self, "basis_") and self.inner.streams()

    def uses_training_data(self) -> bool:
        """True, as the basis depends on all training problems."""
        return True

    def without_training_state(self) -> Self:
        """Return a copy without the scores that only training problems get."""
        twin = copy.copy(self)
        twin.basis_ = self.basis_._replace(fold_scores=self.basis_.fold_scores[:0])
        twin.inner_ = self.inner_.without_training_state()
        return twin

    def for_training(self, problems: Problems) -> Self:
        """Return a twin that scores each training problem without having learned from its fold."""
        twin = super().for_training(problems)
        if hasattr(self, "inner_"):
            twin.inner_ = self.inner_.for_training(self.narrowed(problems))
        return twin

    def narrowed(self, problems: Problems) -> Problems:
        """Return the problems with the few columns in place of the many."""
        table = np.empty((problems.n_rows, len(self.basis_.weights)), dtype=np.float32)
        for column, weights in enumerate(self.basis_.weights):
            table[:, column] = _sums(problems.features, weights)
        if self.out_of_fold:
            folds = folds_of(problems.problem_ids)[problems.owners]
            for fold, weights in enumerate(self.basis_.fold_scores):
                rows = np.flatnonzero(folds == fold)
                table[rows, 0] = _sums(problems.features[rows], weights)
        return problems.with_features(table, self.names_)

    def start(self, problems: Problems) -> Any:
        """Start the inner features on the narrowed problems."""
        return self.inner_.start(self.narrowed(problems))

    def columns(self, seen: Any) -> Floats32:
        """Return the columns of the inner features."""
        return self.inner_.columns(seen)

    def crossed(self, seen: Any) -> Crossed | None:
        """Return the columns that the inner features cross with items, if any."""
        return self.inner_.crossed(seen)

    def rows(self, seen: Any) -> Rows:
        """Return what the policy sees."""
        return self.inner_.rows(seen)

    def add(self, seen: Any, picks: Ints) -> Any:
        """Pass the picks on to the inner features."""
        return self.inner_.add(seen, picks)

    def names(self) -> list[str]:
        """Return the names of the inner columns."""
        return self.inner_.names()

    def parts_seen(self, seen: Any) -> Iterator[tuple[Features, Any]]:
        """Yield the parts of the inner features, with what they have seen."""
        return self.inner_.parts_seen(seen)

    def problems_of(self, seen: Any) -> Problems:
        """Return the narrowed problems behind a state."""
        return self.inner_.problems_of(seen)


def _sums(table: Any, weights: Floats) -> Floats:
    """Return the weighted sum of each row, added up in the same order whatever the batch, so that results are
    reproducible.
    """
    if sparse.issparse(table):
        return np.asarray(table @ weights)
    return linear_scores(table, weights)
