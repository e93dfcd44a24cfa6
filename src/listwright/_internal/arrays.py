"""Array types, the checks that every array argument goes through, and rows of unequal problems, groups and folds."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Sized
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, sparse
from scipy.linalg import lapack

from listwright.errors import InputError


class Dtype(NamedTuple):
    """The dtype of an annotated array, in our own terms: how numpy spells `NDArray` changes between versions."""

    name: str


Floats = Annotated[NDArray[np.float64], Dtype("float64")]
Floats32 = Annotated[NDArray[np.float32], Dtype("float32")]
Ints = Annotated[NDArray[np.int64], Dtype("int64")]
Hashes = Annotated[NDArray[np.uint64], Dtype("uint64")]
Bools = Annotated[NDArray[np.bool_], Dtype("bool")]
RandomState = int | np.random.Generator | None
SEEDS = (int, np.integer, np.random.Generator, type(None))


def as_generator(random_state: RandomState) -> np.random.Generator:
    # A generator is passed through, so that callers share its stream; the same seed always gives the same numbers.
    if isinstance(random_state, bool) or not isinstance(random_state, SEEDS):
        raise InputError(f"random_state must be an integer, a numpy Generator or None. Got {random_state!r}.")
    return np.random.default_rng(random_state)


def as_numbers(values: ArrayLike, name: str, dtype: type[np.generic] = np.float64) -> NDArray[Any]:
    """Return the values as a C-contiguous array of `dtype`, without a copy where none is needed."""
    try:
        _refuse_ragged(values, name)
        array = _stack_lists(values)
        if array.dtype == dtype:
            return np.asarray(array, order="C")
        _refuse_text(array, name)
        if array.dtype.kind == "c":
            raise InputError(f"{name} must hold real numbers. Got complex ones.")
        if array.dtype.kind not in "biuf":
            array = array.astype(np.float64)
        with np.errstate(over="ignore"):  # a number too large for float32 turns into inf, which the callers report
            return np.asarray(array, dtype=dtype, order="C")
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        kind = type(values).__name__ + (f" of {values.dtype}" if isinstance(values, np.ndarray) else "")
        reason = _odd_row(values) or f"Got {kind}: {error}"
        raise InputError(f"{name} must be an array of numbers. {reason}") from None


def _stack_lists(values: ArrayLike) -> NDArray[Any]:
    """Return the values as an array; a column of lists, as frames hold embeddings, becomes one of two dimensions."""
    array = np.asarray(values)
    nested = array.dtype.kind == "O" and array.ndim == 1 and any(isinstance(row, list | np.ndarray) for row in array)
    return np.asarray(array.tolist()) if nested else array


def _odd_row(values: Any) -> str:
    """Name the first of several rows that is missing or of another length than most; "" where none is."""
    rows = list(values) if isinstance(values, Iterable) else []
    lengths = [len(row) if isinstance(row, Sized) else -1 for row in rows]
    usual = max(lengths, key=lengths.count, default=-1)
    odd = next((i for i, length in enumerate(lengths) if length != usual), None)
    if odd is None or usual < 0:
        return ""
    return f"Row {odd} (from 0) " + (
        f"has {lengths[odd]} numbers, most have {usual}." if lengths[odd] >= 0 else f"is {rows[odd]!r:.40}."
    )


def _refuse_ragged(values: ArrayLike, name: str) -> None:
    """Raise InputError for a list of arrays of different lengths, as problems of different sizes often come."""
    lengths = [len(part) for part in values if isinstance(part, np.ndarray | list)] if isinstance(values, list) else []
    if lengths and min(lengths) < max(lengths):
        raise InputError(
            f"{name} must be one array. Got a list whose parts have {min(lengths)} to {max(lengths)} entries. For "
            "problems of different sizes, concatenate the rows of all problems (np.concatenate) and pass `offsets`."
        )


def _refuse_text(array: NDArray[Any], name: str) -> None:
    """Raise InputError for text: parsing a column of "1,5" or "n/a" would silently turn it into something else."""
    texts = array.ravel().tolist() if array.dtype.kind in "OUS" else ()
    text = next((value for value in texts if isinstance(value, str | bytes)), None)
    if text is not None:
        reason = f"Got text, such as {text!r:.40}. Convert it first: .astype(float)."
        raise InputError(f"{name} must be an array of numbers. {reason}")


def as_whole_numbers(values: ArrayLike, name: str) -> Ints:
    """Return the values as int64; raise InputError for fractions instead of cutting them off."""
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        return np.asarray(values, order="C")
    array = as_numbers(values, name)
    bad = ~(np.isfinite(array) & (array == np.floor(array)))
    if bad.any():
        raise InputError(f"{name} must hold whole numbers. Got {array[bad][0]}.")
    exact = np.asarray(values)  # float64 does not hold every large integer
    return np.asarray(exact if exact.dtype.kind in "iu" else array, dtype=np.int64, order="C")


def first_bad(bad: NDArray[np.bool_]) -> int | None:
    where = int(bad.argmax()) if bad.size else 0
    return where if bad.size and bad[where] else None


def starts_of(lengths: Sequence[int] | Ints) -> Ints:
    """Cumulative sum with a leading 0: where each segment starts, and the end of the last."""
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def at_least_one(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} must be a whole number of at least 1. Got {value!r}.")
    if value < 1:
        raise InputError(f"{name} must be at least 1. Got {value!r}.")


def solve(matrix: Floats, right: Floats) -> Floats:
    """matrix^-1 @ right for a symmetric positive definite matrix, regardless of the scales of its columns."""
    if not len(matrix):
        return right.copy()
    scale = 1.0 / np.sqrt(np.maximum(np.diag(matrix), np.finfo(np.float64).tiny))
    scaled, right = matrix * scale[:, None] * scale, (right.T * scale).T
    _, answer, failed = lapack.dposv(scaled.T, right)  # symmetric, and LAPACK takes the columns first
    if failed:
        answer = linalg.pinvh(scaled, rtol=1e-12) @ right
    return (answer.T * scale).T


def unit_rows(vectors: Any) -> Any:
    """Rows scaled to Euclidean length 1 in float64, CSR if they were sparse; rows of zeros stay zero."""
    if sparse.issparse(vectors):
        table = sparse.csr_array(vectors, dtype=np.float64)
        rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
        lengths = np.sqrt(np.bincount(rows, table.data**2, minlength=table.shape[0]))
        scaled = table.data / np.where(lengths > 0, lengths, 1.0)[rows]
        return sparse.csr_array((scaled, table.indices, table.indptr), shape=table.shape)
    table = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths > 0, lengths, 1.0)


def row_dots(left: Any, right: Any) -> Floats:
    """Return the product of each row of a table with the same row of the other, dense or sparse."""
    if sparse.issparse(left):
        return np.asarray(left.multiply(right).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", left, right)


def pieces(offsets: Ints, which: Ints) -> Ints:
    """Indices of all entries of the chosen pieces, in the order chosen."""
    lengths = np.diff(offsets)[which]
    ends = np.cumsum(lengths)
    return np.repeat(offsets[which] - ends + lengths, lengths) + np.arange(lengths.sum())


def is_run(which: Ints) -> bool:
    """Return whether the indices are consecutive, such as 4, 5, 6, so that a view can replace a copy."""
    return which.size > 0 and bool((np.diff(which) == 1).all())


def resolve_indices(key: int | slice | ArrayLike, length: int) -> Ints:
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        if not -length <= key < length:
            raise IndexError(f"There are {length} problems. Got index {key}.")
        return np.array([int(key) % length])
    array = np.arange(length)[key] if isinstance(key, slice) else np.asarray(key)
    if array.dtype == bool:
        if array.shape != (length,):
            raise IndexError(f"A mask needs one entry per problem ({length}). Got shape {array.shape}.")
        array = np.flatnonzero(array)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise InputError(f"A selection must name at least one problem by index or mask. Got {key!r}.")
    if array.min() < -length or array.max() >= length:
        raise IndexError(f"There are {length} problems. Got indices {array.min()} to {array.max()}.")
    return array.astype(np.int64) % length


@dataclass(frozen=True, eq=False)
class Ragged:
    """A table in which `values[offsets[i]:offsets[i + 1]]` belongs to problem i."""

    values: NDArray[Any]  # entries of all problems, one after the other
    offsets: Ints  # where each problem starts, and the end of the last

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, which: Ints) -> Ragged:
        """Return the pieces of the chosen problems; a view where these are consecutive, else a copy."""
        offsets = starts_of(np.diff(self.offsets)[which])
        if is_run(which):
            return Ragged(self.values[self.offsets[which[0]] : self.offsets[which[-1] + 1]], offsets)
        return Ragged(self.values[pieces(self.offsets, which)], offsets)

    @staticmethod
    def concat(parts: Sequence[Ragged]) -> Ragged:
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        return Ragged(np.concatenate([part.values for part in parts]), starts_of(lengths))


def per_problem(values: NDArray[Any]) -> Ragged:
    return Ragged(values, np.arange(len(values) + 1))


def codes_of(values: NDArray[Any]) -> Ints:
    """Numbers the different values in order of first appearance; equal values get the same number."""
    seen: dict[Any, int] = {}
    try:
        return np.array([seen.setdefault(value, len(seen)) for value in values.tolist()], dtype=np.int64)
    except TypeError:
        odd = next((value for value in values.tolist() if not isinstance(value, Hashable)), "one that is not")
        raise InputError(f"Ids must be strings, numbers or other hashable values. Got {odd!r:.40}.") from None


def number_within(labels: NDArray[Any], offsets: Ints) -> Ints:
    """By row: the number of its label among those of its problem, from 0 and below the problem's number of rows."""
    codes = codes_of(labels)
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    keys, rows = np.unique(owners * (int(codes.max()) + 1) + codes, return_inverse=True)
    firsts = np.searchsorted(keys // (int(codes.max()) + 1), np.arange(len(offsets) - 1))
    numbers: Ints = rows - firsts[owners]
    return numbers


FOLDS = 5


def folds_of(names: Iterable[Any], n_folds: int = FOLDS) -> Ints:
    return np.array([fold_of(str(name), n_folds) for name in names], dtype=np.int64)


@lru_cache(maxsize=100_000)  # the same problems come up in every pass
def fold_of(name: str, n_folds: int = FOLDS) -> int:
    """Return the fold of one name, from 0 to `n_folds` - 1: its CRC-32 modulo the number of folds."""
    return crc32(name.encode()) % n_folds
