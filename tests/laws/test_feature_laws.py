"""Every feature keeps every law, and what breaks a law is caught and named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse

import listwright as lw
from listwright.checks import LawBroken, check_features
from listwright.errors import InputError
from listwright.features import (
    Aspects,
    BestColumn,
    Candidate,
    Distance,
    Features,
    Identity,
    Links,
    Position,
    Similarity,
    Sum,
    UncoveredTerms,
    Volume,
)
from listwright.features.auto import auto_features, paper_features
from listwright.features.outcomes import Forest
from tests.problem_tools import ragged_problems

FEATURES: dict[str, Callable[[], Features]] = {
    "aspects": Aspects,
    "best column": BestColumn,
    "candidate": Candidate,
    "candidate, as it is": lambda: Candidate(standardize=False),
    "distance": Distance,
    "distance, minimum": lambda: Distance(mean=False),
    "expected gain": lambda: lw.features.ExpectedGain(("static", "neighbours", "ridge", "kernel", Forest(5))),
    "first position": lw.features.FirstPosition,
    "identity": Identity,
    "identity x context x list": lambda: Identity(("context", "list")),
    "links": Links,
    "links, no thresholds": lambda: Links(()),
    "links, strongest only": lambda: Links((), sums=False),
    "position": Position,
    "similarity": Similarity,
    "sum": lambda: Candidate() + Volume() + Identity(("list",)) + Position(),
    "the paper's": paper_features,
    "uncovered_terms": UncoveredTerms,
    "volume": Volume,
    "volume, relative": lambda: Volume(relative=True, times_features=False),
}


def make_problems(counts: list[int], *, csr: bool = False, seed: int = 0) -> lw.Problems:
    """Numbers from a coarse grid, so that ties and duplicates are common; everything that a feature may ask for."""
    rng = np.random.default_rng(seed)
    rows = sum(counts)
    table, vectors = rng.integers(3, size=(rows, 2)).astype(float), rng.integers(3, size=(rows, 3)).astype(float)
    return ragged_problems(
        counts,
        table,
        rng,
        items=6,
        csr=csr,
        vectors=sparse.csr_array(vectors) if csr else vectors,
        links={"cites": np.concatenate([_links(count, max(counts), rng) for count in counts])},
        aspects={"sub-queries": rng.integers(3, size=(rows, 4)) / 2, "senses": rng.integers(2, size=(rows, 1))},
        query_terms=_query_terms(counts, rng),
        reward=lw.rewards.AnySuccess(rng.random(rows) < 0.4),
    )


def _query_terms(counts: list[int], rng: np.random.Generator) -> lw.QueryTerms:
    """Five query terms per problem, and up to three parts per candidate."""
    covered = [
        [np.flatnonzero(rng.random(5) < 0.4).tolist() for _ in range(rng.integers(4))] for _ in range(sum(counts))
    ]
    return lw.QueryTerms.from_lists(rng.integers(3, size=(len(counts), 5)).tolist(), covered)


def _links(count: int, width: int, rng: np.random.Generator) -> np.ndarray:
    """A few links within one problem."""
    return np.pad(rng.integers(2, size=(count, count)), ((0, 0), (0, width - count)))


@pytest.mark.parametrize("name", FEATURES)
def test_every_feature_keeps_the_laws(name: str) -> None:
    check_features(FEATURES[name](), make_problems([3, 1, 6, 4, 6, 2]))


@pytest.mark.parametrize("name", [name for name in FEATURES if name != "expected gain"])  # one state teaches nothing
def test_laws_hold_where_there_is_one_candidate(name: str) -> None:
    check_features(FEATURES[name](), make_problems([1]), n_trials=2)


@pytest.mark.parametrize("name", [name for name in FEATURES if name != "expected gain"])
def test_laws_hold_for_sparse_features(name: str) -> None:
    check_features(FEATURES[name](), make_problems([3, 1, 6, 4], csr=True), n_trials=2)


def test_laws_hold_where_every_problem_has_the_whole_catalogue() -> None:
    problems = make_problems([6, 6, 6])
    check_features(Identity(("candidates", "context", "list")), problems)
    check_features(auto_features(problems), problems)


REWARDS: dict[str, Callable[[np.ndarray], Any]] = {
    "any success": lambda amounts: lw.rewards.AnySuccess(amounts[:, 0] > 1),
    "coverage": lambda amounts: lw.rewards.Coverage(amounts > 1, np.arange(1.0, 4.0)),
    "probabilistic coverage": lambda amounts: lw.rewards.ProbabilisticCoverage(amounts / 3),
    "concave coverage": lambda amounts: lw.rewards.ConcaveCoverage(amounts, "cap", 2.0),
    "square root": lambda amounts: lw.rewards.ConcaveCoverage(amounts, normalize=False),
    "no topics": lambda amounts: lw.rewards.LogDet(amounts),
}


@pytest.mark.parametrize("csr", [False, True])
@pytest.mark.parametrize("name", REWARDS)
def test_expected_gains_of_candidates_known_by_features_keep_the_laws(name: str, csr: bool) -> None:
    counts = [3, 1, 6, 4, 6, 2]
    amounts = np.random.default_rng(1).integers(3, size=(sum(counts), 3)).astype(float)
    problems = replace(make_problems(counts, csr=csr), catalogue=None).with_reward(REWARDS[name](amounts))
    check_features(lw.features.ExpectedGain(("static", "ridge", Forest(5))), problems)


def test_expected_gains_need_the_view_that_they_were_fitted_with() -> None:
    fitted = FEATURES["expected gain"]().fit(make_problems([6, 6, 6, 6, 6, 6]))
    with pytest.raises(InputError, match="whole catalogue"):
        fitted.start(make_problems([3, 6]))


def test_every_feature_has_an_example() -> None:
    bases = {"Features", "Rows", "Crossed"}
    assert {type(build()).__name__ for build in FEATURES.values()} == set(lw.features.__all__) - bases


class Held(NamedTuple):
    problems: lw.Problems
    taken: np.ndarray


class Plain(Features):
    """Keeps the laws: a flag for what is in the list. Those below each break one."""

    def start(self, problems: lw.Problems) -> Held:
        return Held(problems, np.zeros(problems.n_rows, dtype=np.float32))

    def columns(self, seen: Held) -> Any:
        return seen.taken[:, None].copy()

    def add(self, seen: Held, picks: Any) -> Held:
        taken = seen.taken.copy()
        taken[picks[picks >= 0]] = 1.0
        return seen._replace(taken=taken)

    def names(self) -> list[str]:
        return ["taken"]


class DoubleNumbers(Plain):
    def columns(self, seen: Held) -> Any:
        return super().columns(seen).astype(np.float64)


class RowMissing(Plain):
    def columns(self, seen: Held) -> Any:
        return super().columns(seen)[1:]


class FlatColumns(Plain):
    def columns(self, seen: Held) -> Any:
        return seen.taken


class NoNames(Plain):
    def names(self) -> list[str]:
        return []


class OneOverZero(Plain):
    def columns(self, seen: Held) -> Any:
        return np.where(seen.taken[:, None] > 0, np.inf, 0.0).astype(np.float32)


class InPlace(Plain):
    def add(self, seen: Held, picks: Any) -> Held:
        seen.taken[picks[picks >= 0]] = 1.0
        return seen


class CountsSteps(Plain):
    def add(self, seen: Held, picks: Any) -> Held:
        return seen._replace(taken=seen.taken + 1)


class LastRowForNone(Plain):
    """The classic slip: -1 as an index is the last row of the batch."""

    def add(self, seen: Held, picks: Any) -> Held:
        taken = seen.taken.copy()
        taken[picks] = 1.0
        return seen._replace(taken=taken)


class MixesProblems(Plain):
    def columns(self, seen: Held) -> Any:
        return np.full((len(seen.taken), 1), seen.taken.sum(), dtype=np.float32)


class CountsTheBatch(Plain):
    def columns(self, seen: Held) -> Any:
        return np.full((len(seen.taken), 1), len(seen.problems), dtype=np.float32)


class LooksAtTheReward(Plain):
    def columns(self, seen: Held) -> Any:
        return np.full((len(seen.taken), 1), seen.problems.reward is None, dtype=np.float32)


class CrossesTheBatch(Plain):
    """The crossed states mix problems."""

    def cross_columns(self, seen: Held) -> lw.features.Crossed:
        states = np.full((len(seen.problems), 1), len(seen.problems), dtype=np.float32)
        return lw.features.Crossed(seen.problems.catalogue, 6, states)


BREAKERS = {
    DoubleNumbers: "shape",
    RowMissing: "shape",
    FlatColumns: "shape",
    NoNames: "names",
    OneOverZero: "finite",
    InPlace: "pure",
    CountsSteps: "no pick",
    LastRowForNone: "no pick",
    MixesProblems: "(slice|no pick)",
    CountsTheBatch: "slice",
    CrossesTheBatch: "slice",
    LooksAtTheReward: "reward",
}


def test_the_plain_feature_keeps_the_laws() -> None:
    check_features(Plain(), make_problems([3, 1, 6, 4]))


@pytest.mark.parametrize("breaker", BREAKERS)
def test_what_breaks_a_law_is_caught(breaker: type[Features]) -> None:
    with pytest.raises(LawBroken) as caught:
        check_features(breaker(), make_problems([3, 1, 6, 4]), n_trials=10)
    assert caught.value.law in BREAKERS[breaker].strip("()").split("|")


def test_a_breaker_is_caught_inside_a_sum() -> None:
    with pytest.raises(LawBroken):
        check_features(Sum([Candidate(), CountsSteps()]), make_problems([3, 1, 6, 4]))


def test_the_check_leaves_the_features_alone() -> None:
    feature = Candidate()
    check_features(feature, make_problems([3, 2]))
    assert not hasattr(feature, "scale_")
