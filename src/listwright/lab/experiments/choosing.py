"""Settings chosen on the training part alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from listwright.evaluation.values import list_values
from listwright.lists import Lists
from listwright.problems import Problems

FOLDS = 3


@dataclass
class Chosen:
    """The one of several methods whose lists are worth most in cross-validation over the training problems.

    With fewer than three problems it is the first.

    >>> from listwright.baselines import Random, TopK
    >>> import listwright as lw
    >>> features = np.random.default_rng(0).random((30, 6, 1))
    >>> problems = lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(features[..., 0] > 0.8))
    >>> Chosen({"chance": lambda: Random(1), "learned": lambda: TopK(length=1)}).fit(problems).name_
    'learned'
    """

    options: Mapping[str, Callable[[], Any]]
    budget: float | None = None

    def fit(self, problems: Problems) -> Self:
        """Compares, then fits the best to all problems."""
        names = list(self.options)
        self.name_ = names[0]
        if len(names) > 1 and len(problems) >= FOLDS:
            values = [_held_out(self.options[name], problems, self.budget) for name in names]
            self.name_ = names[int(np.argmax(values))]
        self.method_ = self.options[self.name_]().fit(problems)
        return self

    def predict(self, problems: Problems, **limits: Any) -> Lists:
        """The lists of the chosen method."""
        lists: Lists = self.method_.predict(problems, **limits)
        return lists


def _held_out(make: Callable[[], Any], problems: Problems, budget: float | None) -> float:
    """Mean value of lists for problems that were held out, each once."""
    fold, values = np.arange(len(problems)) % FOLDS, []
    for held in range(FOLDS):
        rest, out = problems[fold != held], problems[fold == held]
        values.append(list_values(make().fit(rest).predict(out, budget=budget), out))
    return float(np.concatenate(values).mean())
