"""Learners that were saved without the data they learned from: they predict, but learn no more."""

from __future__ import annotations

from typing import NoReturn

from listwright.errors import InputError
from listwright.examples import Examples
from listwright.learners.aggregate import Aggregate
from listwright.learners.softmax import SoftmaxLeader

DATA = {
    "learners.Aggregate": ("rows_", "targets_", "weights_", "groups_"),
    "learners.SoftmaxLeader": ("tables_", "shares_", "counts_", "weights_"),
}


class SpentAggregate(Aggregate):
    """An `Aggregate` without its rows."""

    def learn(self, examples: Examples) -> NoReturn:
        """Always an error."""
        raise _spent()


class SpentSoftmaxLeader(SoftmaxLeader):
    """A `SoftmaxLeader` without its rows."""

    def learn(self, examples: Examples) -> NoReturn:
        """Always an error."""
        raise _spent()


def spent_name(name: str) -> str:
    """The name of the class that takes the place of one that keeps its data."""
    return name.replace("learners.", "learners.Spent") if name in DATA else name


def _spent() -> InputError:
    return InputError("This model was saved with slim=True, without its training data: it cannot learn on. Fit again.")
