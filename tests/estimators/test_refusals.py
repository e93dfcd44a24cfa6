"""Wrong input is named, and the fitted state stays as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.features import Identity
from tests.estimators.models import ALL, BOTH, state_of
from tests.problem_tools import problems_of_kinds, recurring_problems, sized_problems, unfitted


def without(problems: lw.Problems, *, columns: slice = slice(None), **given: Any) -> lw.Problems:
    """The same problems with some columns, or with other data."""
    return lw.Problems.from_arrays(problems.features[:, columns], offsets=problems.offsets, **given)


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("use", ["fit", "partial_fit"])
def test_wrong_parameters_are_named_and_nothing_is_lost(cls: type, use: str) -> None:
    problems = sized_problems(catalogue=np.arange(8))
    model = unfitted(cls, 3, random_state=0).fit(problems)
    before, lists = state_of(model), model.predict(problems)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"length": 0}, r"length must be at least 1. Got 0."),
        ({"length": 2.5}, r"length must be a whole number of at least 1. Got 2.5."),
        ({"length": True}, r"length must be a whole number of at least 1. Got True."),
        ({"comparator_length": 0}, r"comparator_length must be at least 1. Got 0."),
        ({"n_passes": 0}, r"n_passes must be at least 1. Got 0."),
        ({"batch_size": -1}, r"batch_size must be at least 1. Got -1."),
        ({"keep": "all"}, r"keep must be one of last, best, mixture. Got 'all'."),
        ({"random_state": "seed"}, r"random_state must be an integer, a numpy Generator or None. Got 'seed'."),
    ]
    if cls is not lw.ContextFreeSCP:
        wrong += [
            ({"budget": 0}, r"budget must be above 0"),
            ({"budget": -2.0}, r"budget must be above 0"),
            ({"budget": float("nan")}, r"budget must be above 0"),
            ({"budget": [3.0] * 60}, r"The budget for training must be one number"),
            ({"budget": "much"}, r"budget must be an array of numbers"),
            ({"per_size": "yes"}, r"per_size must be True, False or \"auto\". Got 'yes'."),
        ]
    if use == "fit":
        wrong += [
            ({"weighting": "late"}, r"weighting must be one of discounted, min_sum, uniform. Got 'late'."),
            ({"learner": "rigde"}, r"learner must be one of auto, ridge, gradient.*Got 'rigde'."),
        ]
        if cls is not lw.ContextFreeSCP:
            wrong.append(({"features": "papers"}, r"features must be \"auto\" or come from listwright.features"))
        else:
            wrong.append(({"learner": "ridge"}, r"one over items, such as majority. Got 'ridge'."))
    good = model.get_params()
    for change, message in wrong:
        model.set_params(**change)
        with pytest.raises(InputError, match=message):
            getattr(model, use)(problems)
        model.set_params(**good)
        assert state_of(model) == before
    assert model.predict(problems) == lists


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("use", ["fit", "partial_fit", "score"])
def test_learning_needs_a_reward(cls: type, use: str) -> None:
    problems = recurring_problems()
    model = unfitted(cls, 2, random_state=0).fit(problems)
    before = state_of(model)
    with pytest.raises(
        InputError, match=r"needs a reward, but these problems have none\. Rewards may only be missing in"
    ):
        getattr(model, use)(problems.without_reward())
    assert state_of(model) == before


@pytest.mark.parametrize("cls", BOTH)
def test_too_few_candidates_are_named_and_short_lists_accepted_when_asked_for(cls: type) -> None:
    few = problems_of_kinds(5, 2, problem_ids=list("abcde"))
    message = r"Problem a has 2 candidates but length=3. Pass allow_short=True to accept shorter lists."
    with pytest.raises(InputError, match=message):
        unfitted(cls, 3).fit(few)
    model = unfitted(cls, 3).fit(problems_of_kinds())
    with pytest.raises(InputError, match=message):
        model.predict(few)
    assert (model.predict(few, allow_short=True).lengths == 2).all()
    assert (model.predict(few, length=2).lengths == 2).all()
    assert (unfitted(cls, 3, allow_short=True).fit(few).predict(few).lengths == 2).all()


@pytest.mark.parametrize("cls", BOTH)
def test_wrong_arguments_of_predict_are_named(cls: type) -> None:
    problems = sized_problems()
    model = unfitted(cls, 3).fit(problems)
    for given, message in (
        ({"length": 0}, "length must be at least 1. Got 0."),
        ({"length": 1.0}, "length must be a whole number of at least 1. Got 1.0."),
        ({"budget": 0}, "budget must be above 0"),
        ({"budget": [1.0, 2.0]}, r"budget must be above 0: one number, or one per problem \(60\)"),
    ):
        with pytest.raises(InputError, match=message):
            model.predict(problems, **given)
    with pytest.raises(InputError, match="A budget needs sizes, but these problems have none"):
        model.predict(problems_of_kinds(), budget=3)
    with pytest.raises(InputError, match="A budget needs sizes"):
        unfitted(cls, budget=3).fit(problems_of_kinds())
    with pytest.raises(InputError, match="per_size=True needs sizes"):
        unfitted(cls, per_size=True).fit(problems_of_kinds())


def test_other_features_than_trained_are_named() -> None:
    names = ["a", "b", "c", "quality"]
    problems = problems_of_kinds(feature_names=names)
    model = lw.SCP(2, effort="fast").fit(problems)
    before = state_of(model)
    for given, message in (
        (without(problems, columns=slice(3), feature_names=names[:3]), r"missing: quality"),
        (without(problems, feature_names=["a", "b", "x", "y"]), r"missing: c, quality; not known: x, y"),
        (without(problems, feature_names=names[::-1]), "they come in a different order"),
        (without(problems, columns=slice(3)), r"trained on 4 features. Got 3."),
        (without(problems, context=np.zeros((60, 2))), r"no context columns. Got 2."),
        (without(problems, vectors=np.zeros((480, 2))), r"no vector columns. Got 2."),
    ):
        for use in (model.predict, model.partial_fit):
            with pytest.raises(InputError, match=message):
                use(given.with_reward(problems.reward))
    assert state_of(model) == before
    assert len(model.predict(without(problems))) == 60  # without names, the number of columns has to do


@pytest.mark.parametrize("cls", ALL)
def test_another_catalogue_than_trained_is_refused(cls: type) -> None:
    problems = recurring_problems()
    model = unfitted(cls, 2, random_state=0).fit(problems)
    before = state_of(model)
    larger = without(problems, catalogue=np.tile(np.arange(1, 9), 60), reward=problems.reward)
    for use in ("partial_fit", "predict"):
        with pytest.raises(InputError, match=f"{use}: catalogue item 8 is new; the model was trained on items 0 to 7"):
            getattr(model, use)(larger)
    if cls is not lw.ContextFreeSCP:  # which takes the position for the item
        with pytest.raises(InputError, match=r"trained with a catalogue of 8. Got none."):
            model.partial_fit(problems_of_kinds())
    else:
        with pytest.raises(InputError, match="catalogue item 8 is new"):
            model.predict(larger, best_list=True)
    assert state_of(model) == before
    fewer = without(problems, catalogue=np.tile(np.arange(8)[::-1], 60), reward=problems.reward)
    assert len(model.predict(fewer)) == 60  # the same items in another order are the same catalogue


class FailsLater(lw.rewards.Reward):
    """Breaks down in the second half of a fit."""

    def __init__(self, inner: Any, calls: list[int]) -> None:
        self.inner, self.calls = inner, calls

    def bind(self, offsets: Any) -> FailsLater:
        return FailsLater(self.inner.bind(offsets), self.calls)

    def take(self, which: Any) -> FailsLater:
        return FailsLater(self.inner.take(which), self.calls)

    def start(self, problems: Any) -> Any:
        self.calls.append(1)
        if len(self.calls) > 3:
            raise RuntimeError("the simulator went away")
        return self.inner.start(problems)

    def gains(self, state: Any) -> Any:
        return self.inner.gains(state)

    def add(self, state: Any, picks: Any) -> Any:
        return self.inner.add(state, picks)

    def value(self, state: Any) -> Any:
        return self.inner.value(state)


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("use", ["fit", "partial_fit"])
@pytest.mark.parametrize("keep", ["last", "mixture"])
def test_an_error_in_the_middle_of_learning_leaves_the_fitted_state(cls: type, use: str, keep: str) -> None:
    problems = recurring_problems()
    model = unfitted(cls, 2, keep=keep, batch_size=7, random_state=0).fit(problems)
    before, lists = state_of(model), model.predict(problems)
    breaking = problems.with_reward(FailsLater(problems.reward, []))
    with pytest.raises(RuntimeError, match="the simulator went away"):
        getattr(model, use)(breaking)
    assert state_of(model) == before
    assert model.predict(problems) == lists


def test_a_first_fit_that_fails_leaves_no_half_fitted_model() -> None:
    problems = recurring_problems()
    for cls in ALL:
        model = unfitted(cls, 2, batch_size=7)
        with pytest.raises(RuntimeError):
            model.fit(problems.with_reward(FailsLater(problems.reward, [])))
        assert not [name for name in vars(model) if name.endswith("_")]


def test_two_crossed_features_are_refused() -> None:
    with pytest.raises(InputError, match="Only one part"):
        lw.SCP(2, features=Identity() + Identity(("list",))).fit(recurring_problems())


def test_sizes_that_add_up_but_for_rounding_fit_the_budget() -> None:
    problems = problems_of_kinds(sizes=np.full((60, 8), 0.1))  # 0.3 - 0.1 - 0.1 is less than 0.1 in binary
    model = lw.SCP(budget=0.3, effort="fast", random_state=0).fit(problems)
    assert (model.predict(problems).lengths == 3).all()
    assert (lw.baselines.TopK().fit(problems).predict(problems, budget=0.3).lengths == 3).all()
    assert lw.greedy(problems, budget=0.3).lengths.max() == 3
