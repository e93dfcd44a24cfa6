"""Readers and articles as a table: each reader wants one kind, which the table does not show, so a good list mixes."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.arrays import RandomState, as_generator

KINDS = ("sport", "music", "food")
ARTICLES = 12  # that each reader is offered
GOOD = 0.7  # quality above which a reader clicks


def table(n_readers: int, *, first: int = 0, clicks: bool = True, random_state: RandomState = None) -> dict[str, Any]:
    """Make columns with one row per article that is offered to a reader.

    Parameters
    ----------
    n_readers : int
        Number of readers; each is offered twelve articles.
    first : int
        Number of the first reader, so that two tables can have different ids.
    clicks : bool
        Whether there is a column "clicked"; without it, the table is one to predict for.
    random_state : int, Generator or None
        The same seed gives the same table.

    Returns
    -------
    dict of str to ndarray
        Columns, ready for `pandas.DataFrame`.

    See Also
    --------
    listwright.Problems.from_frame : Turns such a table into problems.

    Examples
    --------
    >>> columns = table(2, first=7, random_state=0)
    >>> list(columns), columns["problem"][[0, 12]], columns["quality"][:3]
    (['problem', 'item', 'sport', 'music', 'food', 'quality', 'clicked'], array(['r7', 'r8'], dtype='<U2'),
    array([0.857, 0.034, 0.73 ]))
    """
    rng = as_generator(random_state)
    kind, quality = rng.integers(len(KINDS), size=(n_readers, ARTICLES)), rng.random((n_readers, ARTICLES)).round(3)
    clicked = (kind == rng.integers(len(KINDS), size=(n_readers, 1))) & (quality > GOOD)
    columns: dict[str, Any] = {
        "problem": np.repeat([f"r{first + i}" for i in range(n_readers)], ARTICLES),
        "item": np.tile([f"a{j}" for j in range(ARTICLES)], n_readers),
    }
    columns |= {name: (kind == k).ravel().astype(np.int64) for k, name in enumerate(KINDS)}
    columns["quality"] = quality.ravel()
    return columns | ({"clicked": clicked.ravel().astype(np.int64)} if clicks else {})
