"""`Random`, `StaticList` and `Oracle`: the range from chance, by one list for all, to knowing the reward."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats, RandomState, as_generator
from listwright._internal.saved import saved_as
from listwright.baselines.base import Baseline, PerGroup, lists_by_score
from listwright.baselines.cover import cover_of, items_of, static_order
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.selection.greedy import greedy
from listwright.training.signature import with_catalogue


@saved_as("baselines.Random")
class Random(Baseline):
    """Lists drawn evenly from the candidates, no item twice.

    Parameters
    ----------
    length, budget, per_group
        Limits of a list: see `Baseline`.
    random_state : int, numpy.random.Generator or None
        Seed or numpy Generator; with a seed, every call draws the same lists.

    See Also
    --------
    Oracle : The upper reference.

    Examples
    --------
    >>> problems = Problems.from_arrays(np.zeros((4, 10, 1)))
    >>> Random(length=3, random_state=0).fit(problems).predict(problems)
    Lists: 4 lists of 3 items
    """

    def __init__(
        self,
        length: int = 5,
        *,
        budget: float | None = None,
        per_group: PerGroup = None,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(length, budget=budget, per_group=per_group)
        self.random_state = random_state

    def _learns(self, problems: Problems) -> bool:
        return False

    def _lists(self, problems: Problems, steps: int, room: Floats | None) -> Lists:
        rng = as_generator(self.random_state)
        return lists_by_score(problems, rng.random(problems.n_rows), steps, room)


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

    def _lists(self, problems: Problems, steps: int, room: Floats | None) -> Lists:
        rank = np.empty(len(self.order_))
        rank[self.order_] = np.arange(len(self.order_))
        return lists_by_score(problems, -rank[items_of(problems)], steps, room)


class Oracle(Baseline):
    """Clairvoyant greedy: it needs the reward of the problems that it predicts, and learns nothing.

    Use it to see how much there is to gain. For a monotone submodular reward, its lists are worth at least 1 - 1/e of
    the best lists of the same length. It is no competitor: it cannot be used, or saved, for problems without a reward.

    Parameters
    ----------
    length, budget, per_group
        Limits of a list: see `Baseline`.

    See Also
    --------
    listwright.greedy : The same as a function.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=lw.rewards.AnySuccess([[0, 0, 1]]))
    >>> Oracle(length=1).fit(problems).predict(problems)[0]
    array([2])
    """

    needs_reward = True  # predict does not hide the reward from it

    @property
    def unsavable(self) -> str:
        """It needs a reward."""
        return "it learns nothing, and builds lists with the reward in sight, which no file of a model holds"

    def _learns(self, problems: Problems) -> bool:
        return False

    def _lists(self, problems: Problems, steps: int, room: Floats | None) -> Lists:
        reward_of(problems, "Oracle")
        return greedy(problems, steps, room)
