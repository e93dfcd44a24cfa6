"""What each feature contributes to a policy's scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats
from listwright.features import Features, Rows, Sum
from listwright.policies import Estimator, Linear, Policy

NO_PARTS = "this policy gives a score and no contributions"
LOG_ODDS = "contributions are in log-odds, the score is a probability"


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
    """Contributions that add up to the score: of linear policies and estimators, LightGBM and XGBoost.

    Of other policies there is the score alone. Contributions of boosted trees are the library's own, also of a model
    that was loaded from a file.
    """
    scores = policy.score(rows)
    blocks = _blocks(features, seen)
    if isinstance(policy, Linear):
        return Shares(scores, *_linear(policy, blocks, rows))
    if isinstance(policy, Estimator):
        table = _by_estimator(policy.estimator, rows.written_out())
        if table is not None:
            note = LOG_ODDS if hasattr(policy.estimator, "predict_proba") else ""
            return Shares(scores, *_split(table, _written_out(blocks, rows)), note)
    return Shares(scores, [], [], NO_PARTS)


def _linear(policy: Linear, blocks: list[Block], rows: Rows) -> tuple[list[Block], list[Floats]]:
    columns = [block for block in blocks if block.names]
    found, tables = _split(rows.table.astype(np.float64) * policy.weights, columns)
    if policy.item_weights is None or rows.crossed is None:
        return found, tables
    crossed = rows.crossed.states[rows.owners].astype(np.float64) * policy.item_weights[rows.crossed.items]
    own = Block(_crossing(blocks), ["the item itself", "the item in this state"])
    return [*found, own], [*tables, np.stack([crossed[:, 0], crossed[:, 1:].sum(axis=1)], axis=1)]


def _by_estimator(estimator: Any, table: Any) -> Floats | None:
    """(rows, columns + 1): the last is what no column explains. None where the estimator cannot tell."""
    if hasattr(estimator, "contributions"):
        return np.asarray(estimator.contributions(table), dtype=np.float64)
    library = type(estimator).__module__.partition(".")[0]
    if library == "lightgbm":
        return np.asarray(estimator.predict(table, pred_contrib=True), dtype=np.float64)
    if library == "xgboost":
        from xgboost import DMatrix

        return np.asarray(estimator.get_booster().predict(DMatrix(table), pred_contribs=True), dtype=np.float64)
    coefficients = getattr(estimator, "coef_", None)
    if coefficients is None or np.ndim(coefficients) != 1 or hasattr(estimator, "predict_proba"):
        return None
    base = np.full((len(table), 1), float(estimator.intercept_))
    return np.concatenate([table.astype(np.float64) * coefficients, base], axis=1)


def _written_out(blocks: list[Block], rows: Rows) -> list[Block]:
    """The blocks as estimators see them: crossed columns come last, then what no column explains."""
    found = [block for block in blocks if block.names]
    if rows.crossed is not None:
        states = [f"state {i}" for i in range(rows.crossed.states.shape[1])]
        found.append(Block(_crossing(blocks), states + [f"is item {i}" for i in range(rows.crossed.n_items)]))
    return [*found, Block("base", ["base"])]


def _blocks(features: Features, seen: Any) -> list[Block]:
    """One block a part, with a name for each column."""
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


def _split(table: Floats, blocks: list[Block]) -> tuple[list[Block], list[Floats]]:
    ends = np.cumsum([len(block.names) for block in blocks])
    return blocks, np.split(table, ends[:-1], axis=1)
