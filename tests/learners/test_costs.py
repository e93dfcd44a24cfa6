"""What things cost, without a clock: how often compiled functions are called, and how much memory is taken."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright._kernels import facility, topics
from listwright.baselines import DPP, MMR
from listwright.features import Candidate, Distance, Position
from listwright.learners import ridge
from listwright.learners.losses import hinge_rank
from listwright.problems import Problems
from listwright.rewards import AnySuccess, Coverage, FacilityLocation
from listwright.walk import lists

Counts = dict[str, int]

GREEDY = import_module("listwright.selection.greedy")  # its name in the package is the function


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch, *functions: tuple[Any, str]) -> Iterator[Counts]:
    """Counts the calls of functions, given as (where, name)."""
    calls: Counts = dict.fromkeys((name for _, name in functions), 0)

    def counting(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            calls[name] += 1
            return original(*args, **kwargs)

        return call

    with monkeypatch.context() as patch:
        for where, name in functions:
            patch.setattr(where, name, counting(name, getattr(where, name)))
        yield calls


def peak_bytes(call: Callable[[], Any]) -> int:
    """The most memory that a call's arrays take at one time, but for those inside compiled functions; second call."""
    call()
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def python_calls(call: Callable[[], Any]) -> int:
    """How many functions Python calls, its own and those of C; second call."""
    call()
    events = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal events
        events += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
    return events


def policy_for(d: int) -> lw.SCP:
    """A fitted policy with distance features."""
    features = np.random.default_rng(0).random((20, 8, d), dtype=np.float32)
    problems = Problems.from_arrays(features, reward=AnySuccess(features[:, :, 0] > 0.9))
    return lw.SCP(3, features=Candidate() + Distance() + Position(), n_passes=1, random_state=0).fit(problems)


@pytest.mark.parametrize("n_problems", [1, 300])
def test_predict_is_one_call_whatever_the_size(n_problems: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = policy_for(4)
    problems = Problems.from_arrays(np.random.default_rng(1).random((n_problems, 20, 4), dtype=np.float32))
    with counted(monkeypatch, (lists, "walk_lists"), (lists, "plain_lists")) as calls:
        model.predict(problems)
    assert calls == {"walk_lists": 1, "plain_lists": 0}


def test_predict_takes_no_copy_of_the_features() -> None:
    model = policy_for(64)
    problems = Problems.from_arrays(np.random.default_rng(1).random((500, 20, 64), dtype=np.float32))
    assert peak_bytes(lambda: model.predict(problems)) < problems.features.nbytes / 4


def test_lazy_greedy_is_one_call_however_long_the_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rewards = {
        "lazy_facility": FacilityLocation(rng.random((3, 30, 30))),
        "lazy_topics": Coverage(rng.random((90, 5)) > 0.8),
    }
    for name, reward in rewards.items():
        problems = Problems.from_arrays(np.zeros((3, 30, 1)), reward=reward)
        where = facility if name == "lazy_facility" else topics
        for length in (2, 20):
            with counted(monkeypatch, (where, name), (GREEDY, "best_rows")) as calls:
                lw.greedy(problems, length)
            assert calls == {name: 1, "best_rows": 0}


def test_greedy_takes_no_second_matrix() -> None:
    n = 600
    problems = Problems.from_arrays(
        np.zeros((1, n, 1)), reward=FacilityLocation(np.random.default_rng(0).random((n, n)))
    )
    assert peak_bytes(lambda: lw.greedy(problems, 10)) < n * n


def test_pairs_are_never_listed() -> None:
    n = 100_000  # 5 billion pairs: to list them, or to go through them, would not end
    rng = np.random.default_rng(0)
    losses, gradient_by_row = hinge_rank(rng.normal(size=n), rng.random(n), [0, n])
    assert losses[0] > n**2 / 10
    assert gradient_by_row.sum() == pytest.approx(0.0, abs=1e-6 * np.abs(gradient_by_row).sum())


def test_fit_takes_no_more_than_three_times_its_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ridge, "ROWS_AT_ONCE", 500)  # what a batch takes does not grow with the input
    features = np.random.default_rng(0).random((1000, 20, 16), dtype=np.float32)
    problems = Problems.from_arrays(features, reward=AnySuccess(features[:, :, 0] > 0.9))
    model = lw.SCP(3, features=Candidate() + Distance() + Position(), n_passes=1, random_state=0)
    assert peak_bytes(lambda: model.fit(problems)) < 3 * features.nbytes


@pytest.mark.parametrize("baseline", [MMR(relevance=0, length=5), DPP(relevance=0, length=5)])
def test_similar_lists_need_no_table_of_all_pairs(baseline: Any) -> None:
    n = 3000
    problems = Problems.from_arrays(np.random.default_rng(0).random((1, n, 4), dtype=np.float32))
    baseline.fit(problems)
    assert peak_bytes(lambda: baseline.predict(problems)) < n * n / 10


def works(n_problems: int, n: int) -> dict[str, Callable[[], Any]]:
    """What should take as many calls of Python for many candidates as for few."""
    rng = np.random.default_rng(0)
    features = rng.random((n_problems, n, 4), dtype=np.float32)
    problems = Problems.from_arrays(features, reward=Coverage(rng.random((n_problems * n, 6)) > 0.7))
    near = problems.with_reward(FacilityLocation(rng.random((n_problems, n, n))))
    learner, model = (
        lw.SCP(3, features=Candidate() + Distance() + Position(), random_state=0, batch_size=5),
        policy_for(4),
    )
    mmr, dpp = MMR(relevance=0, length=3).fit(problems), DPP(relevance=0, length=3).fit(problems)
    return {
        "predict": lambda: model.predict(problems),
        "fit": lambda: learner.fit(problems),
        "score": lambda: model.score(problems),
        "greedy": lambda: lw.greedy(problems, 3),
        "greedy, facility location": lambda: lw.greedy(near, 3),
        "mmr": lambda: mmr.predict(problems),
        "dpp": lambda: dpp.predict(problems),
        "pairs": lambda: hinge_rank(features.ravel(), features.ravel(), [0, features.size]),
    }


@pytest.mark.parametrize("name", works(1, 5))
def test_python_goes_through_no_items(name: str) -> None:
    few, many = python_calls(works(5, 20)[name]), python_calls(works(5, 60)[name])
    assert many <= 1.05 * few  # what is learned differs, and with it a few calls of fit


@pytest.mark.parametrize("name", ["predict", "score", "greedy", "mmr", "dpp"])
def test_python_goes_through_no_problems(name: str) -> None:
    assert python_calls(works(40, 10)[name]) == python_calls(works(5, 10)[name])
