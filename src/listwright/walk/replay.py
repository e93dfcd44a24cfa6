"""What each feature contributes to a policy's scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats
from listwright.features import Features, Rows, Sum
from listwright.policies import Policy

NO_PARTS = "this policy gives a score and no contributions"


class Block(NamedTuple):
    """Some columns of what the policy sees."""

    group: str
    names: list[str]


@dataclass(frozen=True, eq=False)
class Shares:
    """Scores of all rows, and what every column adds to them, block by block."""

    scores: Floats
    blocks: list[Block]
    tables: list[Floats]  # by block: (rows, columns)
    note: str = ""

    def by_group(self) -> dict[str, Floats]:
        """(rows, columns) of each group; blocks of one group side by side."""
        found: dict[str, Floats] = {}
        for block, table in zip(self.blocks, self.tables, strict=True):
            found[block.group] = np.concatenate([found[block.group], table], axis=1) if block.group in found else table
        return found

    def largest(self, row: int, count: int) -> dict[str, float]:
        """The columns that add or take most, by name."""
        named = [
            (name, float(share))
            for block, table in zip(self.blocks, self.tables, strict=True)
            for name, share in zip(block.names, table[row], strict=True)
            if share != 0.0
        ]
        return dict(sorted(named, key=lambda pair: -abs(pair[1]))[:count])


def shares_of(policy: Policy, features: Features, seen: Any, rows: Rows) -> Shares:
    """Contributions that add up to the score, where the policy knows them; else the score alone."""
    scores, told = policy.score(rows), policy.contributions(rows)
    if told is None:
        return Shares(scores, [], [], NO_PARTS)
    every = _blocks(features, seen)
    blocks = [block for block in every if block.names]
    ends = np.cumsum([len(block.names) for block in blocks])
    tables = np.split(told.columns, ends[:-1], axis=1)
    if told.crossed is not None:
        blocks.append(Block(_crossing(every), list(told.crossed_names)))
        tables.append(told.crossed)
    if told.base is not None:
        blocks.append(Block("base", ["base"]))
        tables.append(told.base[:, None])
    return Shares(scores, blocks, tables, told.note)


def _blocks(features: Features, seen: Any) -> list[Block]:
    """One block for each part, with a name for each column."""
    parts = list(zip(features.parts_, seen, strict=True)) if isinstance(features, Sum) else [(features, seen)]
    blocks = []
    for part, one in parts:
        width, names = part.columns(one).shape[1], part.names()
        if len(names) != width:
            names = [f"{part.group} {j}" for j in range(width)]
        blocks.append(Block(part.group, names))
    return blocks


def _crossing(blocks: list[Block]) -> str:
    """The group of the part that has only crossed columns."""
    return next((block.group for block in blocks if not block.names), "identity")
