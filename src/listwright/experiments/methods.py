"""Features and methods that only experiments need: products with the context, a regression, and a choice among
settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Floats, Floats32
from listwright._internal.parameters import Parameters, clone
from listwright.errors import InputError
from listwright.estimators.scp import SCP
from listwright.evaluation.compare import fold_numbers
from listwright.evaluation.values import best_of, list_values
from listwright.features import Candidate
from listwright.features.base import Features
from listwright.features.scale import Scale
from listwright.learners import RidgeFTRL
from listwright.lists import Lists
from listwright.problems import Problems


class CrossedSeen(NamedTuple):
    """The state of `CandidateByContext` for a batch of problems: the scaled products, which no pick changes."""

    problems: Problems
    table: Floats32


class CandidateByContext(Features):
    """Every feature of a candidate times every number of the context."""

    group = "relevance in this context"

    def __init__(self, *, standardize: bool = True) -> None:
        self.standardize = standardize

    def fit(self, problems: Problems) -> Self:
        self.scale_ = Scale.of(_products(problems), standardize=self.standardize)
        return self

    def start(self, problems: Problems) -> CrossedSeen:
        return CrossedSeen(problems, self.scale_.apply(_products(problems)))

    def columns(self, seen: CrossedSeen) -> Floats32:
        """Return the products; they are the same at every position of the list."""
        return seen.table


def _products(problems: Problems) -> Floats32:
    """Return the products, shape (candidates, features x context); raise if the problems have no context."""
    if problems.context is None:
        raise InputError("Features are to be crossed with the context, but these problems have none.")
    products = problems.features[:, :, None] * problems.context[problems.owners][:, None, :]
    return np.ascontiguousarray(products.reshape(problems.n_rows, -1), dtype=np.float32)


FOLDS = 3


class Regression(Parameters):
    """Ridge regression of success on a candidate's own features, sorted: a rival that looks at relevance only."""

    def __init__(self, length: int = 5, *, features: Any = None, penalty: float = 1.0) -> None:
        self.length = length
        self.features = features
        self.penalty = penalty

    def fit(self, problems: Problems) -> Self:
        """Fit a ridge regression of each candidate's gain in an empty list."""
        features = Candidate() if self.features is None else self.features
        learner = RidgeFTRL(self.penalty)
        settings: dict[str, Any] = {"effort": "fast", "allow_short": True, "random_state": 0}
        self.model_ = SCP(1, features=features, learner=learner, **settings).fit(problems)
        return self

    def predict(self, problems: Problems, *, length: int | None = None, **limits: Any) -> Lists:
        """Return lists with the highest predictions first."""
        return self.model_.predict(problems, length=self.length if length is None else length, **limits)


class Tuned(Parameters):
    """The one of several methods whose lists are worth most on problems that it was not fitted to."""

    def __init__(
        self,
        options: Mapping[str, Any],
        *,
        length: int = 5,
        budget: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.options = options
        self.length = length
        self.budget = budget
        self.random_state = random_state

    def fit(self, problems: Problems) -> Self:
        """Compare the options on held-out problems, and fit the best of them to all training problems."""
        names = list(self.options)
        self.name_ = names[0]
        if len(names) > 1 and len(problems) >= FOLDS:
            self.name_ = best_of(names, lambda name: self._worth(name, problems))
        self.method_ = self._fit_option(self.name_, problems)
        return self

    def predict(self, problems: Problems, **limits: Any) -> Lists:
        """Return the lists of the chosen option, under the limits given or those of the constructor."""
        lists: Lists = self.method_.predict(problems, **(limits or self._limits()))
        return lists

    def _worth(self, name: str, problems: Problems) -> Floats:
        """Return the values of one option's lists on held-out problems: three folds joined."""
        fold = fold_numbers(FOLDS, len(problems), seed=0)
        parts = [self._values(name, problems[fold != held], problems[fold == held]) for held in range(FOLDS)]
        return np.concatenate(parts)

    def _values(self, name: str, train: Problems, held: Problems) -> Floats:
        lists = self._fit_option(name, train).predict(held.without_reward(), allow_short=True, **self._limits())
        return list_values(lists, held)

    def _fit_option(self, name: str, problems: Problems) -> Any:
        method = clone(self.options[name])
        known, wanted = method.get_params(), {**self._limits(), "random_state": self.random_state}
        return method.set_params(**{key: value for key, value in wanted.items() if key in known}).fit(problems)

    def _limits(self) -> dict[str, Any]:
        return {"length": self.length} if self.budget is None else {"budget": self.budget}
