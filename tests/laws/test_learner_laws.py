"""Every learner keeps every law, and what breaks a law is caught and named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import listwright as lw
from listwright.checks import LawBroken, check_learner
from listwright.features import Rows
from listwright.learners import (
    KNOWN,
    Aggregate,
    Exp3,
    Exp4,
    FollowLeader,
    FollowPerturbedLeader,
    GradientDescent,
    HingeLeader,
    Learner,
    PerPosition,
    RidgeFTRL,
    SoftmaxLeader,
    WeightedMajority,
)
from listwright.learners.examples import Examples
from listwright.policies import Linear, Policy, Uniform


def experts() -> list[Policy]:
    return [Linear(np.array([1.0, 0.0])), Linear(np.array([-1.0, 0.0]))]


LEARNERS: dict[str, Callable[[], Learner]] = {
    "ridge": RidgeFTRL,
    "ridge, fixed penalty": lambda: RidgeFTRL(1.0),
    "ridge, as printed": lambda: RidgeFTRL(1.0, target="cost", center=False),
    "gradient": GradientDescent,
    "gradient, hinge": lambda: GradientDescent("hinge_rank"),
    "softmax": SoftmaxLeader,
    "hinge": HingeLeader,
    "regressor": lambda: Aggregate(Ridge()),
    "classifier": lambda: Aggregate(LogisticRegression()),
    "per position": lambda: PerPosition(RidgeFTRL()),
    "majority": WeightedMajority,
    "majority, policies": lambda: WeightedMajority(experts()),
    "leader": FollowLeader,
    "leader, policies": lambda: FollowLeader(experts()),
    "perturbed leader": FollowPerturbedLeader,
    "perturbed leader, policies": lambda: FollowPerturbedLeader(experts()),
    "exp3": Exp3,
    "exp4": lambda: Exp4(experts()),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_keeps_the_laws(name: str) -> None:
    quick = name.startswith(("gradient", "classifier", "hinge"))  # solved anew in every round
    check_learner(LEARNERS[name](), n_rounds=20 if quick else 60)


@pytest.mark.parametrize("name", [name for name in KNOWN if name not in ("gradient", "hinge", "hinge_rank")])
def test_every_learner_by_name_keeps_the_laws(name: str) -> None:
    check_learner(lw.learners.as_learner(name))


def test_every_learner_has_an_example() -> None:
    public = [getattr(lw.learners, name) for name in lw.learners.__all__]
    learners = {kind for kind in public if isinstance(kind, type) and issubclass(kind, Learner)}
    assert {type(build()) for build in LEARNERS.values()} == learners - {Learner, lw.learners.Experts}


class Mean(Learner):
    """Keeps the laws: weighs a column by how it goes with the gains. Those below each break one."""

    def learn(self, examples: Examples) -> None:
        if not hasattr(self, "total_"):
            self.total_ = np.zeros(examples.rows.table.shape[1])
        used = np.flatnonzero(examples.row_mask)
        self.total_ = self.total_ + examples.rows.table[used].T @ examples.gains[used]

    def policy(self) -> Policy:
        return Linear(self.total_ * np.array([1.0, 0.0]))


class ChangesWhatItCameFrom(Mean):
    def __sklearn_clone__(self) -> ChangesWhatItCameFrom:
        return self


class Remembers(Mean):
    """What one run learned is there in the next."""

    runs: ClassVar[list[int]] = []

    def policy(self) -> Policy:
        self.runs.append(1)
        return Linear(np.array([1.0, 0.0]) if len(self.runs) <= 10 else np.array([0.0, 1.0]))


class NotFinite(Mean):
    def policy(self) -> Policy:
        return Linear(np.array([np.nan, 0.0]))


class OneScoreAState(Mean):
    def policy(self) -> Policy:
        return Wrong()


class Wrong(Uniform):
    def pick(self, rows: Rows, open_rows: Any, position: int, rng: Any) -> Any:
        return rows.offsets[:-1] + 2, np.zeros(len(rows.offsets) - 1)


class NeverLearns(Mean):
    def policy(self) -> Policy:
        return Uniform()


class LikesCosts(Mean):
    """The classic slip: costs where gains are due."""

    def policy(self) -> Policy:
        return Linear(-self.total_ * np.array([1.0, 0.0]))


class HarmedByNothing(Mean):
    """A mean over no rows is not a number, and stays so."""

    def learn(self, examples: Examples) -> None:
        super().learn(examples)
        with np.errstate(all="ignore"):
            self.total_ = self.total_ / examples.row_mask.sum() * examples.row_mask.sum()


BREAKERS = {
    ChangesWhatItCameFrom: ["clone"],
    Remembers: ["same"],
    NotFinite: ["finite"],
    OneScoreAState: ["finite"],
    NeverLearns: ["learns"],
    LikesCosts: ["learns"],
    HarmedByNothing: ["finite"],
}


def test_the_plain_learner_keeps_the_laws() -> None:
    check_learner(Mean(), n_rounds=10)


@pytest.mark.parametrize("breaker", BREAKERS)
def test_what_breaks_a_law_is_caught(breaker: type[Learner]) -> None:
    with pytest.raises(LawBroken) as caught:
        check_learner(breaker(), n_rounds=10)
    assert caught.value.law in BREAKERS[breaker]
