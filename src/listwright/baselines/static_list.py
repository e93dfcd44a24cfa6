"""One list for all problems."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.saved import saved_as
from listwright.baselines.base import Baseline, lists_by_score
from listwright.baselines.weighted_cover import cover_of, items_of, static_order
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.training.signature import with_catalogue


@saved_as("baselines.StaticList")
class StaticList(Baseline):
    """The greedy list on the mean reward: at each step the item with the highest mean gain over all training problems.

    It needs a catalogue; without one, equally long problems are taken to list the same items in the same order. An item
    gains nothing where it is not offered. Problems that lack an item of the list get the next one.

    Parameters
    ----------
    length, budget, per_group
        Limits of a list: see `Baseline`.

    See Also
    --------
    NearestCover : One list per problem, from similar training problems.
    listwright.ContextFreeSCP : Learns a distribution over items online.

    Examples
    --------
    >>> import listwright as lw
    >>> success = [[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]
    >>> problems = lw.Problems.from_arrays(np.zeros((4, 4, 1)), reward=lw.rewards.AnySuccess(success))
    >>> StaticList(length=2).fit(problems).predict(problems)[0]
    array([0, 3])
    """

    def validation_error(self) -> str:
        """Return what is wrong with a model that was read from a file, "" if nothing is."""
        order = getattr(self, "order_", np.zeros(0, dtype=np.int64))
        return "" if np.array_equal(np.sort(order), np.arange(len(order))) else "its list must name every item once"

    def _view(self, problems: Problems) -> Problems:
        return with_catalogue(problems)

    def _learn(self, problems: Problems) -> None:
        self.order_ = static_order(cover_of(problems))

    def _lists(self, problems: Problems, steps: int, budgets: Floats | None) -> Lists:
        rank = np.empty(len(self.order_))
        rank[self.order_] = np.arange(len(self.order_))
        return lists_by_score(problems, -rank[items_of(problems)], steps, budgets)
