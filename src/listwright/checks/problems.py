"""Diagnoses problems before training: what would spoil learning."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, RandomState, as_generator
from listwright.checks import LawBroken, check_reward
from listwright.checks.mistakes import dense_row, first_names, leaks_of, name_columns
from listwright.problems import Problems
from listwright.rewards import Function, reward_of

TRIED, TRIED_OWN = 200, 20  # problems on which the laws are tried; fewer for Python functions, which may be slow


@dataclass(frozen=True)
class Finding:
    """The result of one test of problems: its level, its name and a sentence."""

    level: str  # how serious it is
    check: str  # short name of the test
    message: str  # what was found, in a sentence

    def to_dict(self) -> dict[str, str]:
        """Return level, check and message as a dict of plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.level:<7}  {self.message}"


def examine(problems: Problems, *, n_trials: int = 30, random_state: RandomState = 0) -> list[Finding]:
    """Tests problems with a reward for what would spoil learning."""
    # The tests: whether the reward obeys its laws, whether there are problems without anything to gain, candidates with
    # the same features, features that never vary, and features that give the reward away.
    reward = reward_of(problems, "examine")
    gains = reward.gains(reward.start(problems))
    return [
        _laws(problems, n_trials, as_generator(random_state)),
        _reachable(problems, gains),
        _duplicates(problems),
        _constant(problems),
        _leaks(problems, gains),
    ]


def _laws(problems: Problems, n_trials: int, rng: np.random.Generator) -> Finding:
    """Test the laws of the reward on a sample of the problems: fewer for Python functions, which may be slow."""
    most = TRIED_OWN if isinstance(problems.reward, Function) else TRIED
    some = problems[np.sort(rng.permutation(len(problems))[:most])]
    try:
        check_reward(some.reward, some, n_trials=n_trials, random_state=rng)
    except LawBroken as error:
        return Finding("error", error.law, str(error))
    many = f"{len(some):,} problem{'' if len(some) == 1 else 's'}"
    laws = "monotone, submodular" if some.reward.submodular else "monotone"
    return Finding("ok", "laws", f"The reward keeps its laws ({laws}) on all lists tried, of {many}.")


def _reachable(problems: Problems, gains: Floats) -> Finding:
    """Find problems in which no item gains anything."""
    best = np.maximum.reduceat(gains, problems.offsets[:-1])
    lost = best <= 0
    if lost.all():
        return Finding("error", "unreachable", "No item of any problem gains anything: check the reward's column.")
    if lost.any():
        message = f"{lost.sum():,} of {len(problems):,} problems gain nothing from any item, and so teach nothing"
        return Finding("warning", "unreachable", f"{message}: {first_names(problems.problem_ids[lost])}.")
    return Finding("ok", "unreachable", "Every problem has an item that gains something.")


def _duplicates(problems: Problems) -> Finding:
    """Find candidates that have the same features as an earlier one of their problem."""
    if not problems.n_features:
        return Finding("ok", "duplicates", "Candidates have no features of their own.")
    twins = _twins(problems)
    if not twins.any():
        return Finding("ok", "duplicates", "No problem has two candidates with the same features.")
    owners = np.unique(problems.owners[twins])
    message = f"{twins.sum():,} of {problems.n_rows:,} candidates have the same features as another of the same problem"
    return Finding("warning", "duplicates", f"{message}: see {first_names(problems.problem_ids[owners])}.")


def _twins(problems: Problems) -> Bools:
    """Return per row whether an earlier row of its problem has the same features, by two random sums of each row."""
    if problems.catalogue is not None:
        return np.zeros(problems.n_rows, dtype=bool)  # the catalogue tells them apart
    draw = np.random.default_rng(0).standard_normal((problems.n_features, 2))
    sums = np.stack([_row_sums(problems.features, column) for column in draw.T])
    order = np.lexsort((sums[1], sums[0], problems.owners))
    same = (np.diff(problems.owners[order]) == 0) & (np.diff(sums[:, order], axis=1) == 0).all(axis=0)
    found = np.zeros(problems.n_rows, dtype=bool)
    found[order[1:][same]] = True
    return found


def _row_sums(features: Any, column: Floats) -> Floats:
    if sparse.issparse(features):
        return np.asarray(features @ column)
    return np.einsum("ij,j->i", features, column)


def _constant(problems: Problems) -> Finding:
    low, high = (dense_row(getattr(problems.features, name)(axis=0)) for name in ("min", "max"))
    flat = np.flatnonzero(low == high)
    if not len(flat):
        return Finding("ok", "constant", "Every feature varies.")
    message = f"{len(flat):,} of {problems.n_features:,} features are constant and carry no information"
    return Finding("warning", "constant", f"{message}: {name_columns(problems, flat)}.")


def _leaks(problems: Problems, gains: Floats) -> Finding:
    """Find features that order the items of nearly every problem by their gains, and may not be known in time."""
    names = leaks_of(problems, gains)
    if not names:
        return Finding("ok", "leak", "No feature gives the reward away.")
    return Finding("error", "leak", f"The reward can be computed from {names}: will that be known for new problems?")
