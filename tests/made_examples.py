"""Examples made by hand, for tests of learners."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright.features import Rows
from listwright.learners.examples import Examples


def made(rows: Rows, gains: Any, *, weight: float = 1.0, position: int = 0, **given: Any) -> Examples:
    """Examples in which everything can be picked and is learned from, unless given otherwise."""
    n = len(rows.offsets) - 1
    fields = {
        "options": np.ones(len(rows.owners), dtype=bool),
        "picks": np.full(n, -1),
        "learned": np.ones(n, dtype=bool),
        "folds": np.arange(n) % 5,
    }
    return Examples(
        rows=rows, gains=np.asarray(gains, dtype=np.float64), weight=weight, position=position, **fields | given
    )


def changed(examples: Examples, **changes: Any) -> Examples:
    """The same examples but for some fields."""
    fields = {name: getattr(examples, name) for name in Examples.__dataclass_fields__}
    return Examples(**fields | changes)
