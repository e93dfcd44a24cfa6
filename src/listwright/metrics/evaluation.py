"""All metrics of some lists at once."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from listwright._arrays import Floats, RandomState, as_generator
from listwright.errors import InputError
from listwright.evaluation import measured
from listwright.lists import Lists
from listwright.metrics.distance import intra_list_distance
from listwright.metrics.intervals import Estimate, estimate
from listwright.metrics.topics import alpha_ndcg, err_ia, has_topics, subtopic_recall
from listwright.problems import Problems
from listwright.rewards import AnySuccess, reward_of


@dataclass(frozen=True)
class Evaluation:
    """Metrics by name, and the value of the first 1, 2, ... items; each a mean over problems with its interval."""

    metrics: dict[str, Estimate]
    by_position: tuple[Estimate, ...]
    lists: Lists = field(repr=False)
    per_problem: dict[str, Floats] = field(repr=False)  # for comparing two methods problem by problem

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, as JSON takes them."""
        return {
            "n_problems": len(self.lists),
            "metrics": {name: asdict(one) for name, one in self.metrics.items()},
            "value_by_position": [asdict(one) for one in self.by_position],
        }

    def __str__(self) -> str:
        rows = [(name.replace("_", " "), str(one)) for name, one in self.metrics.items()]
        rows += [(f"value of the first {i}", str(one)) for i, one in enumerate(self.by_position, start=1)]
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:<{width}}  {numbers}" for name, numbers in rows]
        return "\n".join([f"{len(self.lists):,} problems: mean (95 % interval)", *lines])


def evaluate(
    model_or_lists: Any,
    problems: Problems,
    *,
    length: int | None = None,
    budget: ArrayLike | None = None,
    interval: str = "normal",
    random_state: RandomState = 0,
) -> Evaluation:
    """What lists are worth on problems with a reward, and how diverse they are.

    Value; failure (the list earned nothing; of probabilities, the expected share); alpha-nDCG, ERR-IA and subtopic
    recall where the reward knows topics; intra-list distance where there are vectors or features.

    Parameters
    ----------
    model_or_lists : a fitted model, whose lists are built first, or lists for the same problems.
    length, budget : of the lists to build, where not the model's own.
    interval : "normal" or "bootstrap".
    random_state : of the bootstrap.

    >>> import listwright as lw
    >>> reward = lw.rewards.Coverage([[[1, 0], [0, 1], [1, 1]]] * 4)
    >>> problems = lw.Problems.from_arrays(np.eye(12).reshape(4, 3, 12), reward=reward)
    >>> print(evaluate(lw.greedy(problems, length=1), problems))
    4 problems: mean (95 % interval)
    value                 1.000 (1.000 to 1.000)
    failure               0.000 (0.000 to 0.000)
    alpha ndcg            1.000 (1.000 to 1.000)
    err ia                0.500 (0.500 to 0.500)
    subtopic recall       1.000 (1.000 to 1.000)
    value of the first 1  1.000 (1.000 to 1.000)
    """
    reward_of(problems, "evaluate")
    lists = measured(_lists(model_or_lists, problems, length, budget), problems)
    assert lists.picked_gains is not None
    found = _per_problem(lists, problems)
    rng = as_generator(random_state)
    metrics = {name: estimate(values, interval=interval, rng=rng) for name, values in found.items()}
    sums = np.cumsum(np.where(lists.rows >= 0, lists.picked_gains, 0.0), axis=1)
    positions = [estimate(values, interval=interval, rng=rng) for values in sums.T]
    return Evaluation(
        {name: one for name, one in metrics.items() if one is not None},
        tuple(one for one in positions if one is not None),
        lists,
        found,
    )


def _lists(model_or_lists: Any, problems: Problems, length: int | None, budget: ArrayLike | None) -> Lists:
    if isinstance(model_or_lists, Lists):
        if length is not None or budget is not None:
            raise InputError("length and budget are for a model's lists. These lists are built already.")
        return model_or_lists
    if not hasattr(model_or_lists, "predict"):
        raise InputError(f"evaluate takes a fitted model, or lists. Got {type(model_or_lists).__name__}.")
    found = model_or_lists.predict(problems.without_reward(), length=length, budget=budget)
    assert isinstance(found, Lists)
    return found


def _per_problem(lists: Lists, problems: Problems) -> dict[str, Floats]:
    values = lists.values
    assert values is not None
    probable = isinstance(problems.reward, AnySuccess)
    found = {"value": values, "failure": 1.0 - values if probable else (values <= 0).astype(np.float64)}
    if has_topics(problems):
        found["alpha_ndcg"] = alpha_ndcg(lists, problems)
        found["err_ia"] = err_ia(lists, problems)
        found["subtopic_recall"] = subtopic_recall(lists, problems)
    if problems.vectors is not None or problems.n_features:
        found["intra_list_distance"] = intra_list_distance(lists, problems)
    return found
