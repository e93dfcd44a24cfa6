"""Sums of products: all that ridge regression needs to know of the data.

`RidgeFTRL` keeps one `RidgeSums` per fold. Sums of disjoint parts add up, and those of a fold can be subtracted
again, which gives streaming, parallel parts and cross-validation without the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.linalg import solve
from listwright._internal.saved import saved_as
from listwright.features import Crossed, Rows


@saved_as("learners.RidgeSums")
@dataclass(eq=False)
class RidgeSums:
    """Gram matrix and products with the targets, for the table's columns and for crossed columns block by block.

    Crossed columns of different items never meet in a row, so their Gram matrix is block diagonal; and while every
    state offers every item, all blocks are the same and one is kept.
    """

    gram: Floats  # (d, d)
    right: Floats  # (d,)
    squares: float  # y'Wy
    n_items: int  # size of the catalogue, 0 where nothing is crossed
    cross_gram: Floats  # (1 or items, z, z)
    between: Floats  # (items, d, z)
    cross_right: Floats  # (items, z)

    def validation_error(self) -> str:
        """Return what is wrong with sums read from a file, "" for nothing."""
        d, z = len(self.right), self.cross_gram.shape[-1] if self.cross_gram.ndim == 3 else -1
        right = self.right.ndim == 1 and self.gram.shape == (d, d) and self.between.shape == (self.n_items, d, z)
        blocks = self.cross_gram.shape in {(1, z, z), (self.n_items, z, z)}
        own = self.cross_right.shape == (self.n_items, z)
        return "" if right and blocks and own else "sums are of the wrong shape"

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of the table's sums, of those between table and crossed columns, and of a crossed block."""
        return self.gram.shape, self.between.shape, self.cross_gram.shape[1:]

    @classmethod
    def like(cls, rows: Rows) -> RidgeSums:
        """Empty sums for rows of this shape."""
        d = rows.table.shape[1]
        items = 0 if rows.crossed is None else rows.crossed.n_items
        z = 0 if rows.crossed is None else rows.crossed.states.shape[1]
        return cls(
            np.zeros((d, d)),
            np.zeros(d),
            0.0,
            items,
            np.zeros((1, z, z)),
            np.zeros((items, d, z)),
            np.zeros((items, z)),
        )

    def take_in(self, table: Floats, target: Floats, weight: float) -> None:
        """Add rows with one weight. The cost is rows times columns squared; nothing added before is touched."""
        self.gram += weight * (table.T @ table)
        self.right += weight * (table.T @ target)
        self.squares += weight * float(target @ target)

    def take_in_crossed(
        self, crossed: Crossed, owners: Ints, rows: Ints, table: Floats, target: Floats, weight: float
    ) -> None:
        """Add the crossed columns of rows that `take_in` has added; rows of a state must be contiguous."""
        new = np.ones(len(owners), dtype=bool)
        np.not_equal(owners[1:], owners[:-1], out=new[1:])
        learned, places = owners[new], np.cumsum(new) - 1
        states, items = crossed.states[learned].astype(np.float64), crossed.items[rows]
        by_item = np.zeros((len(learned), self.n_items))
        by_item[places, items] = target
        self.cross_right += weight * (by_item.T @ states)
        if len(rows) == by_item.size:
            self.cross_gram += weight * (states.T @ states)
            tables = np.empty((len(learned), self.n_items, table.shape[1]))
            tables[places, items] = table
            products = tables.reshape(len(learned), -1).T @ states
            self.between += weight * products.reshape(self.between.shape)
        else:
            self.take_in_blocks(states[places], items, table, weight)

    def take_in_blocks(self, states: Floats, items: Ints, table: Floats, weight: float) -> None:
        """Add crossed columns item by item, where some states do not offer all of them; `states` by row."""
        if len(self.cross_gram) == 1 and self.n_items > 1:
            self.cross_gram = np.repeat(self.cross_gram, self.n_items, axis=0)
        order = np.argsort(items, kind="stable")
        ends = np.searchsorted(items[order], np.arange(self.n_items + 1))
        for item in np.flatnonzero(np.diff(ends)):
            mine = order[ends[item] : ends[item + 1]]
            self.cross_gram[item] += weight * (states[mine].T @ states[mine])
            self.between[item] += weight * (table[mine].T @ states[mine])

    def solve(self, penalty: float) -> tuple[Floats, Floats | None]:
        """Weights that minimise squared error + penalty * |weights|^2, through the Schur complement of the blocks."""
        gram = self.gram + penalty * np.eye(len(self.gram))
        if not self.n_items:
            return solve(gram, self.right), None
        blocks = self.cross_gram + penalty * np.eye(self.cross_gram.shape[1])
        own, mixed = self._solve_blocks(blocks)
        schur = gram - np.einsum("idz,ize->de", self.between, mixed)
        right = self.right - np.einsum("idz,iz->d", self.between, own)
        weights = solve(schur, right)
        return weights, own - mixed @ weights

    def _solve_blocks(self, blocks: Floats) -> tuple[Floats, Floats]:
        """blocks^-1 @ (cross_right, between'), for each item."""
        d = len(self.gram)
        right = np.concatenate([self.cross_right[:, :, None], self.between.transpose(0, 2, 1)], axis=2)
        if len(blocks) == 1:
            z = blocks.shape[1]
            flat = right.transpose(1, 0, 2).reshape(z, self.n_items * (d + 1))
            weights = solve(blocks[0], flat).reshape(z, self.n_items, d + 1).transpose(1, 0, 2)
        else:
            weights = np.linalg.solve(blocks, right)
        return weights[:, :, 0], weights[:, :, 1:]

    def loss(self, weights: Floats, item_weights: Floats | None) -> float:
        """Squared error of given weights on everything added so far."""
        fitted = 2.0 * float(self.right @ weights) - float(weights @ self.gram @ weights)
        if item_weights is not None:
            fitted += 2.0 * float((self.cross_right * item_weights).sum())
            fitted -= float(((item_weights[:, None] @ self.cross_gram)[:, 0] * item_weights).sum())
            fitted -= 2.0 * float(((weights @ self.between) * item_weights).sum())
        return self.squares - fitted

    def smallest_loss(self) -> float:
        """Squared error of the best weights without a penalty (a tiny one keeps the solve stable)."""
        tiny = 1e-9 * max(1.0, float(np.trace(self.gram)), float(np.trace(self.cross_gram, axis1=1, axis2=2).max()))
        return max(self.loss(*self.solve(tiny)), 0.0)

    def combined(self, other: RidgeSums, sign: float = 1.0) -> RidgeSums:
        """Return the sums of both, or with sign -1 those of this one without the other."""
        return RidgeSums(
            self.gram + sign * other.gram,
            self.right + sign * other.right,
            self.squares + sign * other.squares,
            self.n_items,
            self.cross_gram + sign * other.cross_gram,  # one block for all items joins many as each of them
            self.between + sign * other.between,
            self.cross_right + sign * other.cross_right,
        )
