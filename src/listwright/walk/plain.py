"""The walk: a policy builds the lists of a batch item by item, without seeing a reward."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.threads import one_thread
from listwright.features import Features, Rows
from listwright.lists import Lists
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.walk.compiled import compiled_walk
from listwright.walk.constraints import Constraints


@dataclass(frozen=True, eq=False)
class Step:
    """What the policy saw and picked at one position, for all problems of the batch."""

    position: int  # position in the list, from 0
    rows: Rows  # what the policy saw
    fits: Bools  # which rows fit into what is left of the budget
    options: Bools  # which rows can be picked: they fit and, unless repeats are allowed, are not in the list
    picks: Ints  # the picked rows; -1 for none
    scores: Floats  # the policy's scores


def walk(
    problems: Problems,
    features: Features,
    policy: Policy,
    *,
    length: int | None,
    rng: np.random.Generator,
    room: Floats | None = None,
    repeats: bool = False,
) -> Iterator[Step]:
    """Build lists position by position, and yield a `Step` for each."""
    # An option is a row that fits into what is left of the budget and, unless repeats are allowed, is not yet in the
    # list. This is the list construction of Algorithm 2; training measures gains at each step.
    policy = policy.drawn(len(problems), rng)
    seen = features.start(problems)
    untaken, left = np.ones(problems.n_rows, dtype=bool), Constraints(problems, room, length)
    for position in count() if length is None else range(length):
        fits = left.fits()
        options = untaken & fits
        if not options.any():
            return
        rows = features.rows(seen)
        picks, scores = policy.pick(rows, options, position, rng)
        yield Step(position, rows, fits, options, picks, scores)
        if not repeats:
            untaken[picks[picks >= 0]] = False
        left.take(picks)
        if position + 1 != length:
            seen = features.add(seen, picks)


def build_lists(
    problems: Problems,
    features: Features,
    policy: Policy,
    *,
    length: int | None,
    rng: np.random.Generator,
    room: Floats | None = None,
    repeats: bool = False,
) -> Lists:
    """Return the lists that a walk builds, with the score of each pick. Uses the compiled walk if it applies."""
    compiled = compiled_walk(problems, features, policy)
    if compiled is not None and not (length is None and repeats):
        most = int(problems.counts.max())
        steps = most if length is None else length if repeats else min(length, most)
        rows, row_scores, _ = compiled.lists(steps, room, repeats)
        used = steps if rows[:, -1].max() >= 0 else max(1, int((rows >= 0).any(axis=0).sum()))
        return Lists(problems, rows[:, :used], picked_scores=row_scores[:, :used])
    with one_thread():
        return plain_lists(problems, features, policy, length=length, rng=rng, room=room, repeats=repeats)


def plain_lists(
    problems: Problems,
    features: Features,
    policy: Policy,
    *,
    length: int | None,
    rng: np.random.Generator,
    room: Floats | None = None,
    repeats: bool = False,
) -> Lists:
    """Return the lists that a walk builds position by position, with the score of each pick."""
    picks, scores = [], []
    for step in walk(problems, features, policy, length=length, rng=rng, room=room, repeats=repeats):
        picks.append(step.picks)
        scores.append(np.where(step.picks >= 0, step.scores[step.picks], 0.0))
    if not picks:
        return Lists(problems, np.full((len(problems), 1), -1), picked_scores=np.zeros((len(problems), 1)))
    return Lists(problems, np.stack(picks, axis=1), picked_scores=np.stack(scores, axis=1))
