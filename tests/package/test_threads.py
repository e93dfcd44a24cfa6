"""The same seed gives the same result on any number of threads, bit for bit."""

from __future__ import annotations

import hashlib
from typing import Any

import numba
import numpy as np
import pytest
import sklearn.ensemble  # noqa: F401  (brings OpenMP)
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_info, threadpool_limits

import listwright as lw
from listwright._internal import threads
from listwright._internal.threads import one_thread
from listwright.learners import RidgeFTRL
from tests.problem_tools import small_problems


def make_problems(n: int, items: int, columns: int) -> lw.Problems:
    rng = np.random.default_rng(0)
    reward = lw.rewards.ProbabilisticCoverage(rng.random((n, items, 6)) ** 4)
    return small_problems(n, items, columns, reward=reward, catalogue=np.arange(items), context=rng.random((n, 3)))


def bytes_of(policy: Any) -> bytes:
    if hasattr(policy, "policies"):
        return b"".join(map(bytes_of, policy.policies))
    if hasattr(policy, "estimator"):
        return np.asarray(policy.estimator.coef_).tobytes()
    return policy.weights.tobytes() + (b"" if policy.item_weights is None else policy.item_weights.tobytes())


def picture(model: Any, problems: lw.Problems, threads: int) -> tuple[str, str]:
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, before))
    try:
        with threadpool_limits(threads):
            model.fit(problems)
            lists = model.predict(problems)
    finally:
        numba.set_num_threads(before)
    scores = lists.rows.tobytes() + lists.picked_scores.tobytes()
    return hashlib.sha256(bytes_of(model.policy_)).hexdigest(), hashlib.sha256(scores).hexdigest()


# Sizes past which BLAS splits its work: many rows for the sums, many columns for the solver.
CASES = {
    "many rows": (lw.SCP(2, learner=RidgeFTRL(1.0), batch_size=900, n_passes=1), (900, 30, 17)),
    "many columns": (lw.SCP(2, learner=RidgeFTRL(1.0), batch_size=100, n_passes=1), (100, 8, 90)),
    "penalty chosen": (lw.SCP(3, n_passes=2, effort="fast"), (300, 20, 10)),
    "a policy for each position": (lw.ConSeqOpt(3, n_passes=2), (300, 20, 10)),
    "gradient": (lw.SCP(3, learner="hinge_rank", n_passes=1), (200, 20, 10)),
    "estimator": (lw.SCP(2, learner=Ridge(), batch_size=900, n_passes=1), (900, 30, 17)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_number_of_threads_does_not_matter(name: str) -> None:
    model, shape = CASES[name]
    model.set_params(random_state=0)
    problems = make_problems(*shape)
    assert picture(model, problems, 1) == picture(model, problems, 2)


def test_the_number_of_threads_is_given_back() -> None:
    def blas() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        before = blas()
        with one_thread():
            assert set(blas()) <= {1}
        assert blas() == before


def openmp() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"}


class Watched(RegressorMixin, BaseEstimator):
    """Notes how many threads it has, in a set that clones share."""

    seen: set[tuple[str, int]] = set()  # noqa: RUF012

    def fit(self, x: Any, y: Any) -> Watched:
        self.seen.update(("fit", count) for count in openmp())
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, x: Any) -> Any:
        self.seen.update(("predict", count) for count in openmp())
        return x[:, 0]


@pytest.mark.parametrize(("small", "count"), [(threads.SMALL, 1), (0, 2)], ids=["small tables", "large tables"])
def test_boosting_does_not_fight_for_threads_over_small_tables(
    monkeypatch: pytest.MonkeyPatch, small: int, count: int
) -> None:
    monkeypatch.setattr(threads, "SMALL", small)
    problems = make_problems(20, 5, 3)
    for model in (lw.SCP(2, learner=Watched(), random_state=0), lw.baselines.TopK(Watched(), 2)):
        Watched.seen.clear()
        with threadpool_limits(2, user_api="openmp"):
            before = openmp()
            model.fit(problems).predict(problems)
            assert openmp() == before
        assert Watched.seen == {("fit", count), ("predict", count)}
