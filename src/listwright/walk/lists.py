"""The walk: a policy builds the lists of a batch item by item, without a reward; and what its scores consist of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.threads import in_parallel, one_thread
from listwright._kernels.rows import crossed_scores, linear_scores
from listwright._kernels.walk import SlotDraws, Weights, walk_lists
from listwright.features import Candidate, Distance, Features, Identity, Position, Rows, Sum
from listwright.features.scale import Scale
from listwright.lists import Lists
from listwright.policies import Linear, Policy
from listwright.problems import Problems
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
    budgets: Floats | None = None,
    repeats: bool = False,
    last_by_gain: bool = False,
) -> Iterator[Step]:
    # An option is a row that fits into what is left of the budget and, unless repeats are allowed, is not yet in the
    # list. This is the list construction of Algorithm 2; training measures gains at each step. With `last_by_gain`,
    # scores estimate gains per size, and the last pick that fits goes by scores times sizes.
    policy = policy.drawn(len(problems), rng)
    seen = features.start(problems)
    left = Constraints(problems, budgets, length, replays=getattr(policy, "replays", False))
    untaken = np.ones(problems.n_rows, dtype=bool)
    for position in count() if length is None else range(length):
        fits = left.fits()
        options = untaken & fits
        if not options.any():
            return
        rows = features.rows(seen)
        picks, scores = policy.pick(rows, options, position, rng)
        if last_by_gain and budgets is not None and not repeats:
            picks = left.swap_last(picks, scores, options)
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
    budgets: Floats | None = None,
    repeats: bool = False,
    last_by_gain: bool = False,
) -> Lists:
    """Return the lists that a walk builds, with the score of each pick. Uses the compiled walk if it applies."""
    compiled = compiled_walk(problems, features, policy)
    if compiled is not None and not (length is None and repeats):
        most = int(problems.counts.max())
        steps = most if length is None else length if repeats else min(length, most)
        rows, row_scores, _ = compiled.lists(steps, budgets, repeats, last_by_gain=last_by_gain)
        used = steps if rows[:, -1].max() >= 0 else max(1, int((rows >= 0).any(axis=0).sum()))
        return Lists(problems, rows[:, :used], picked_scores=row_scores[:, :used])
    limits: dict[str, Any] = {"length": length, "budgets": budgets, "repeats": repeats, "last_by_gain": last_by_gain}
    with one_thread():
        return plain_lists(problems, features, policy, rng=rng, **limits)


def plain_lists(problems: Problems, features: Features, policy: Policy, **settings: Any) -> Lists:
    picks, scores = [], []
    for step in walk(problems, features, policy, **settings):
        picks.append(step.picks)
        scores.append(np.where(step.picks >= 0, step.scores[step.picks], 0.0))
    if not picks:
        return Lists(problems, np.full((len(problems), 1), -1), picked_scores=np.zeros((len(problems), 1)))
    return Lists(problems, np.stack(picks, axis=1), picked_scores=np.stack(scores, axis=1))


KINDS = (Candidate, Distance, Position, Identity)
MANY = 2_000_000  # steps; with fewer, a second thread costs more than it saves
# Parts that a policy lacks. They are made once, because a short list takes little longer than to make them.
NO_WEIGHTS, NOT_HELD = np.zeros(0), np.zeros((0, 0))
NO_DISTANCES, NO_ITEMS = np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.int64)

Parts = dict[type[Features], tuple[Any, Floats]]  # by kind: the features, and the policy's weights for them


def compiled_walk(problems: Problems, features: Features, policy: Policy) -> CompiledWalk | None:
    if type(policy) is not Linear or sparse.issparse(problems.features):
        return None
    quotas = problems.quotas
    if quotas is not None and (quotas.pins or quotas.needs or quotas.alternatives.shape[1]):
        return None  # the compiled walk closes rows for good
    parts: Parts = {}
    at = 0
    for part in features.parts_ if type(features) is Sum else [features]:
        kind = type(part)
        if kind not in KINDS or kind in parts:
            return None
        width = _width(kind, part, problems)
        parts[kind] = part, policy.weights[at : at + width]
        at += width
    crossed = policy.item_weights is not None
    applies = at == len(policy.weights) and (Identity in parts) == crossed
    return CompiledWalk(problems, parts, policy) if applies else None


class CompiledWalk(NamedTuple):
    problems: Problems  # the problems, with dense features
    parts: Parts  # by kind of features: the fitted features, and the policy's weights for them
    policy: Linear  # the policy

    def lists(
        self,
        length: int,
        budgets: Floats | None,
        repeats: bool = False,
        draws: SlotDraws | None = None,
        *,
        last_by_gain: bool = False,
    ) -> tuple[Ints, Floats, Floats]:
        """Return the rows of each list, their scores, and the probabilities of those drawn, by problem and position."""
        problems, weights = self.problems, self.weights()
        limits = Constraints(problems, budgets, length).limits(repeats=repeats)
        lists, picked = np.full((len(problems), length), -1), np.zeros((len(problems), length))
        explores = draws is not None
        chances = np.full((len(problems), length), np.nan) if explores else NOT_HELD
        most = problems.n_rows if len(problems) == 1 else int(np.diff(problems.offsets).max(initial=0))
        quotas = limits[2:6] if len(limits.groups) else None
        limited = limits.sizes, limits.budgets, repeats, last_by_gain and not repeats, quotas, draws
        batch = problems.offsets, problems.features, weights, *limited, lists, picked, chances

        def some(low: int, high: int) -> None:
            space, least = np.empty((5 + explores, most)), np.empty((most, len(weights.smallest)), dtype=np.float32)
            walk_lists(low, high, *batch, space, least)

        in_parallel(some, problems.offsets, problems.n_rows * length * max(problems.n_features, 1) > MANY)
        return lists, picked, chances

    def weights(self) -> Weights:
        """Return the policy's weights folded with the features' scales, so that they apply to raw features."""
        problems = self.problems
        level, first, d = np.zeros(len(problems)), 0.0, problems.n_features
        candidate = identity = NO_WEIGHTS
        smallest = mean = NO_DISTANCES
        items, held = NO_ITEMS, NOT_HELD
        for kind, (part, mine) in self.parts.items():
            if kind is Candidate:
                candidate, shift = _unscale(part.scale_, mine[:d])
                level += shift
                if part.context_scale_ is not None:
                    level += linear_scores(part.context_scale_.apply(problems.context), mine[d:])
            elif kind is Distance:
                scaled = (mine.reshape(part.minimum + part.mean, d) / part.scale_.spread).astype(np.float32)
                smallest = scaled[0] if part.minimum else np.zeros(d, dtype=np.float32)
                mean = scaled[-1] if part.mean else np.zeros(d, dtype=np.float32)
            elif kind is Position:
                level += mine[0]
                first = float(mine[1])
            else:
                identity, items, held = _identity_scores(problems, part, self.policy)
        return Weights(level, first, candidate, smallest, mean, identity, items, held)


def _width(kind: type[Features], part: Any, problems: Problems) -> int:
    if kind is Candidate:
        scale = None if problems.context is None else part.context_scale_
        return problems.n_features + (0 if scale is None else len(scale.mean))
    if kind is Distance:
        return problems.n_features * (part.minimum + part.mean)
    return 2 if kind is Position else 0


def _unscale(scale: Scale, weights: Floats) -> tuple[Floats, float]:
    """Return the weights for raw columns, and the constant to add, from w . (x - mean) / spread."""
    folded = np.divide(weights, scale.spread, dtype=np.float64)
    return folded, -float(np.add.reduce(folded * scale.mean))


def _identity_scores(problems: Problems, identity: Identity, policy: Linear) -> tuple[Floats, Ints, Floats]:
    """Return by row what the weights of its item give for the state; and items and weights if crossed with the list."""
    assert policy.item_weights is not None
    seen = identity.start(problems)
    items = identity.cross_columns(seen).items
    scores = crossed_scores(items, problems.owners, seen.states, policy.item_weights)
    if seen.in_list < 0:
        return scores, NO_ITEMS, NOT_HELD
    held = np.ascontiguousarray(policy.item_weights[:, seen.in_list : seen.in_list + identity.n_items_])
    more = np.maximum(0, int(items.max(initial=0)) + 1 - np.array(held.shape))
    return scores, items, np.pad(held, ((0, more[0]), (0, more[1]))) if more.any() else held


NO_PARTS = "this policy gives a score and no contributions"


class Block(NamedTuple):
    group: str
    names: list[str]


@dataclass(frozen=True, eq=False)
class Shares:
    """Scores of all rows, and what every column adds to them, block by block."""

    scores: Floats  # the scores
    blocks: list[Block]  # the columns of each table
    tables: list[Floats]  # by block, shape (rows, columns): what each column adds
    note: str = ""  # says if the contributions do not add up to the scores

    def by_group(self) -> dict[str, Floats]:
        terms: dict[str, Floats] = {}
        for block, table in zip(self.blocks, self.tables, strict=True):
            terms[block.group] = np.concatenate([terms[block.group], table], axis=1) if block.group in terms else table
        return terms

    def largest(self, row: int, count: int) -> dict[str, float]:
        named = [
            (name, float(share))
            for block, table in zip(self.blocks, self.tables, strict=True)
            for name, share in zip(block.names, table[row], strict=True)
            if share != 0.0
        ]
        return dict(sorted(named, key=lambda pair: -abs(pair[1]))[:count])


def shares_of(policy: Policy, every: list[Block], rows: Rows) -> Shares:
    """Return contributions that add up to the scores if the policy knows them, else the scores alone with a note."""
    scores, parts = policy.score(rows), policy.contributions(rows)
    if parts is None:
        return Shares(scores, [], [], NO_PARTS)
    blocks = [block for block in every if block.names]
    ends = np.cumsum([len(block.names) for block in blocks])
    tables = np.split(parts.columns, ends[:-1], axis=1)
    if parts.crossed is not None:
        crossing = next((block.group for block in every if not block.names), "identity")
        blocks.append(Block(crossing, list(parts.crossed_names)))
        tables.append(parts.crossed)
    if parts.base is not None:
        blocks.append(Block("base", ["base"]))
        tables.append(parts.base[:, None])
    return Shares(scores, blocks, tables, parts.note)


def blocks_of(features: Features, seen: Any) -> list[Block]:
    blocks = []
    for part, state in features.parts_seen(seen):
        width, names = part.columns(state).shape[1], part.names()
        if len(names) != width:
            names = [f"{part.group} {j}" for j in range(width)]
        blocks.append(Block(part.group, names))
    return blocks
