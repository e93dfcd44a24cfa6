"""Splits a policy's scores into the contributions of its features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats
from listwright.features import Features, Rows
from listwright.policies import Policy

NO_PARTS = "this policy gives a score and no contributions"


class Block(NamedTuple):
    """Some columns of what the policy sees, with the group of features they belong to."""

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
        """Return the contributions of each group, shape (rows, columns); blocks of the same group are put side
        by side.
        """
        found: dict[str, Floats] = {}
        for block, table in zip(self.blocks, self.tables, strict=True):
            found[block.group] = np.concatenate([found[block.group], table], axis=1) if block.group in found else table
        return found

    def largest(self, row: int, count: int) -> dict[str, float]:
        """Return by name the `count` columns that change the score of a row most."""
        named = [
            (name, float(share))
            for block, table in zip(self.blocks, self.tables, strict=True)
            for name, share in zip(block.names, table[row], strict=True)
            if share != 0.0
        ]
        return dict(sorted(named, key=lambda pair: -abs(pair[1]))[:count])


def shares_of(policy: Policy, features: Features, seen: Any, rows: Rows) -> Shares:
    """Return contributions that add up to the scores if the policy knows them, else the scores alone with a note."""
    scores, parts = policy.score(rows), policy.contributions(rows)
    if parts is None:
        return Shares(scores, [], [], NO_PARTS)
    every = blocks_of(features, seen)
    blocks = [block for block in every if block.names]
    ends = np.cumsum([len(block.names) for block in blocks])
    tables = np.split(parts.columns, ends[:-1], axis=1)
    if parts.crossed is not None:
        blocks.append(Block(_crossing(every), list(parts.crossed_names)))
        tables.append(parts.crossed)
    if parts.base is not None:
        blocks.append(Block("base", ["base"]))
        tables.append(parts.base[:, None])
    return Shares(scores, blocks, tables, parts.note)


def blocks_of(features: Features, seen: Any) -> list[Block]:
    """Return one block per part of the features, with one name per column."""
    blocks = []
    for part, one in features.parts_seen(seen):
        width, names = part.columns(one).shape[1], part.names()
        if len(names) != width:
            names = [f"{part.group} {j}" for j in range(width)]
        blocks.append(Block(part.group, names))
    return blocks


def _crossing(blocks: list[Block]) -> str:
    """Return the group of the part that has only crossed columns."""
    return next((block.group for block in blocks if not block.names), "identity")
