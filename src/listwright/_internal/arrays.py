"""Array types, and the few checks that every array argument goes through.

`Floats`, `Floats32`, `Ints`, `Hashes` and `Bools` are the types of all annotations. The `as_...` functions convert what
a user passed and raise `InputError` with the argument's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from typing import Annotated, Any, NamedTuple

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
    """Return a random generator from a seed, a generator or None."""
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
        if array.dtype.kind not in "biuf":
            array = array.astype(np.float64)
        with np.errstate(over="ignore"):  # a number too large for float32 turns into inf, which the callers report
            return np.asarray(array, dtype=dtype, order="C")
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        reason = _odd_row(values) or f"Got {_kind(values)}: {error}"
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
    texts = array.flat if array.dtype.kind in "OUS" else ()
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
    """Index of the first True in a one-dimensional array, or None."""
    where = int(bad.argmax()) if bad.size else 0
    return where if bad.size and bad[where] else None


def starts_of(lengths: Sequence[int] | Ints) -> Ints:
    """Cumulative sum with a leading 0: where each segment starts, and the end of the last."""
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _kind(values: object) -> str:
    return f"{type(values).__name__}" + (f" of {values.dtype}" if isinstance(values, np.ndarray) else "")


def at_least_one(name: str, value: object) -> None:
    """Raise InputError unless `value` is a positive integer."""
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
