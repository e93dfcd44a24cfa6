"""Small logs with a known truth, for the tests of this folder."""

from __future__ import annotations

from typing import Any

import numpy as np

import listwright as lw
from listwright.feedback import Log

ITEMS = 4


def likes(problems: lw.Problems) -> Any:
    """By candidate: the chance of a click when looked at."""
    return 0.8 * problems.features[:, 0]


def even_log(
    n: int, *, length: int = 2, looks: Any = None, seed: int = 0, ids: bool = False, known: bool = True
) -> Log:
    """Lists of a few of four items, drawn evenly; clicks by the first feature, and by how often users look."""
    rng = np.random.default_rng(seed)
    item_ids = np.tile([f"i{i}" for i in range(ITEMS)], n) if ids else None
    features = rng.random((n, ITEMS, 2))
    if ids:
        features[:, :, 0] = np.linspace(0.2, 1.0, ITEMS)
    found = lw.Problems.from_arrays(features, item_ids=item_ids)
    shown = lw.OnlineSCP(length, random_state=seed).recommend(found, list_ids=[str(i) for i in range(n)])
    seen = np.ones(length) if looks is None else np.asarray(looks)
    clicks = rng.random(shown.rows.shape) < likes(found)[shown.rows] * seen
    log = Log()
    if known:
        log.append(shown)
    else:
        log.append(lw.Lists(found, shown.rows), list_ids=shown.list_ids)
    log.feedback(shown.list_ids, clicks)
    return log


def best(problems: lw.Problems, length: int = 2) -> lw.Lists:
    """The items that are liked best."""
    order = np.argsort(-problems.features[:, 0].reshape(-1, ITEMS), axis=1, kind="stable")[:, :length]
    return lw.Lists(problems, problems.offsets[:-1, None] + order)


def worst(problems: lw.Problems) -> lw.Lists:
    """The two items that are liked least."""
    order = np.argsort(problems.features[:, 0].reshape(-1, ITEMS), axis=1, kind="stable")[:, :2]
    return lw.Lists(problems, problems.offsets[:-1, None] + order)


def first_two(problems: lw.Problems) -> lw.Lists:
    """As they come."""
    return lw.Lists(problems, problems.offsets[:-1, None] + np.array([0, 1]))


BEST = 0.8 * (0.8 + 0.6)  # of four even numbers the largest is 0.8 on average, the next 0.6
EVEN = 0.8 * (0.5 + 0.5)
