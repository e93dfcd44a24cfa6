"""Joins batches of problems into one: the fields of `Problems.concat`.

A batch is known here by its fields only, as `Problems` stands above this room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import Floats32, Ints, starts_of
from listwright.errors import InputError

KINDS_OF_DATA = (
    *("context", "catalogue", "sizes", "reward", "item_ids", "vectors"),
    *("links", "aspects", "needs", "groups", "caps"),
)  # that all parts of a batch have, or none


def joined(parts: Sequence[Any]) -> dict[str, Any]:
    """Return the fields of one batch that holds the problems of all parts, in order."""
    first, others = parts[0], parts[1:]
    for part in others:
        _same_shape(first, part)
    ids, numbered = _joined_ids(parts)
    by_row = ("context", "catalogue", "sizes", "item_ids", "groups", "caps")
    return {name: _joined([getattr(part, name) for part in parts]) for name in by_row} | {
        "features": _stack([part.features for part in parts]),
        "offsets": starts_of(np.concatenate([part.counts for part in parts])),
        "reward": None if first.reward is None else first.reward.join([part.reward for part in others]),
        "problem_ids": ids,
        "vectors": None if first.vectors is None else _stack([part.vectors for part in parts]),
        "links": _joined_links([part.links for part in parts]),
        "aspects": _joined_aspects([part.aspects for part in parts]),
        "needs": None if first.needs is None else first.needs.join([part.needs for part in others]),
        "numbered": numbered,
    }


def _same_shape(first: Any, other: Any) -> None:
    """Raise `InputError` unless two batches have the same columns and the same kinds of data."""
    if first.n_features != other.n_features:
        raise InputError(f"Cannot concat problems of {first.n_features} and {other.n_features} features.")
    if first.feature_names != other.feature_names:
        raise InputError(f"Cannot concat features named {first.feature_names} and {other.feature_names}.")
    for field in KINDS_OF_DATA:
        if (getattr(first, field) is None) != (getattr(other, field) is None):
            raise InputError(f"Cannot concat problems with and without {field}.")
    if first.context is not None and other.context is not None and first.context.shape[1] != other.context.shape[1]:
        raise InputError(f"Cannot concat contexts of {first.context.shape[1]} and {other.context.shape[1]} columns.")
    for field in ("links", "aspects"):
        mine, theirs = getattr(first, field), getattr(other, field)
        if mine is not None and theirs is not None and set(mine) != set(theirs):
            raise InputError(f"Cannot concat {field} named {', '.join(mine)} and {', '.join(theirs)}.")


def _stack(tables: list[Any]) -> Any:
    """Stack tables of rows; the result is CSR if any of them is."""
    if any(sparse.issparse(table) for table in tables):
        return sparse.vstack(tables, format="csr", dtype=np.float32)
    return np.concatenate(tables)


def _joined(arrays: list[Any]) -> Any:
    """Concatenates arrays that are either all present or all None."""
    return None if arrays[0] is None else np.concatenate(arrays)


def _joined_links(parts: list[dict[str, Any] | None]) -> dict[str, Any] | None:
    """Stack the tables of links by name. Tables are as wide as their largest problem, so narrower ones are widened."""
    tables = [part for part in parts if part is not None]
    return {name: _widened([part[name] for part in tables]) for name in tables[0]} if tables else None


def _widened(tables: list[Any]) -> Any:
    """Stack CSR tables of different widths into one of the largest width."""
    width = max(table.shape[1] for table in tables)
    wide = [sparse.csr_array((t.data, t.indices, t.indptr), shape=(t.shape[0], width)) for t in tables]
    return sparse.vstack(wide, format="csr", dtype=np.float32)


def _joined_aspects(parts: list[dict[str, Floats32] | None]) -> dict[str, Floats32] | None:
    """Stack the tables of aspects by name, with zeros for the columns that narrower ones lack."""
    tables = [part for part in parts if part is not None]
    if not tables:
        return None
    width = {name: max(part[name].shape[1] for part in tables) for name in tables[0]}
    return {
        name: np.concatenate([np.pad(part[name], ((0, 0), (0, most - part[name].shape[1]))) for part in tables])
        for name, most in width.items()
    }


def _joined_ids(parts: Sequence[Any]) -> tuple[NDArray[Any], bool]:
    """Return the ids of all parts and whether they are just numbers; numbered problems are numbered anew."""
    ids = np.concatenate([part.problem_ids for part in parts])
    numbered = all(part.numbered for part in parts)
    names, counts = np.unique(ids, return_counts=True) if ids.dtype != object else _counted(ids)
    if (counts == 1).all():
        return ids, numbered
    if numbered:
        return np.arange(len(ids)), True
    raise InputError(f"Problem {names[counts > 1][0]!s} is in two of the parts. Give each problem its own id.")


def _counted(ids: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the distinct ids and their counts, for ids that numpy cannot sort."""
    counts: dict[Any, int] = {}
    for name in ids:
        counts[name] = counts.get(name, 0) + 1
    names = np.empty(len(counts), dtype=object)
    names[:] = list(counts)
    return names, np.array(list(counts.values()))
