"""Dot products and lengths of the rows of a dense or sparse table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._kernels import inline, inner, kernel


class Space(NamedTuple):
    """The rows that cosines are measured on: dense, or CSR with sorted columns. `starts` is empty for a dense table."""

    dense: Floats32  # the rows; empty for a sparse table
    starts: Ints  # CSR arrays; empty for a dense table
    columns: Ints
    values: Floats32  # CSR values
    inverse: Floats  # 1 / length of each row, 0 for rows of zeros; filled by `inverse_lengths`


@inner(fastmath={"reassoc", "nsz", "contract"})
def dense_dot(left: Floats32, other: Floats32) -> float:
    total = 0.0
    for i in range(len(left)):
        total += np.float64(left[i]) * np.float64(other[i])
    return total


@inner(fastmath={"reassoc", "nsz", "contract"})
def square_and_dot(row: Floats32, other: Floats) -> tuple[float, float]:
    """Return the squared length of a row and its dot product with other numbers, in one read."""
    square, total = 0.0, 0.0
    for i in range(len(row)):
        number = np.float64(row[i])
        square += number * number
        total += number * other[i]
    return square, total


@inner()
def sparse_dot(i: int, j: int, starts: Ints, columns: Ints, values: Floats32) -> float:
    """Return the dot product of rows i and j of a CSR table with sorted columns, summed in float64."""
    total, a, b = 0.0, starts[i], starts[j]
    while a < starts[i + 1] and b < starts[j + 1]:
        if columns[a] == columns[b]:
            total += np.float64(values[a]) * np.float64(values[b])
            a += 1
            b += 1
        elif columns[a] < columns[b]:
            a += 1
        else:
            b += 1
    return total


@inner()
def inverse_length(numbers: Floats32) -> float:
    square = dense_dot(numbers, numbers)
    return 1.0 / np.sqrt(square) if square > 0 else 0.0


@inline
def inverse_lengths(space: Space) -> None:
    dense, starts, _, values, inverse = space
    for row in range(len(inverse)):
        inverse[row] = inverse_length(dense[row] if len(starts) == 0 else values[starts[row] : starts[row + 1]])


@kernel(fastmath={"contract"})
def _centre(start: int, end: int, space: Space, centre: Floats) -> float:
    """Sum the unit rows of a problem into `centre`, and return the length of the sum."""
    dense, starts, columns, values, inverse = space
    centre[:] = 0.0
    for row in range(start, end):
        if len(starts) == 0:
            for j in range(len(centre)):
                centre[j] += dense[row, j] * inverse[row]
        else:
            for j in range(starts[row], starts[row + 1]):
                centre[columns[j]] += values[j] * inverse[row]
    return np.sqrt((centre * centre).sum())


@kernel(fastmath={"reassoc", "nsz", "contract"})
def centrality(offsets: Ints, space: Space, width: int) -> Floats:
    """Return the cosine of each row with the mean unit row of its problem."""
    dense, starts, columns, values, inverse = space
    cosines, centre = np.zeros(len(inverse)), np.zeros(width)
    inverse_lengths(space)
    for problem in range(len(offsets) - 1):
        length = _centre(offsets[problem], offsets[problem + 1], space, centre)
        for row in range(offsets[problem], offsets[problem + 1]):
            total = 0.0
            if len(starts) == 0:
                for j in range(width):
                    total += dense[row, j] * centre[j]
            else:
                for j in range(starts[row], starts[row + 1]):
                    total += values[j] * centre[columns[j]]
            cosines[row] = total * inverse[row] / length if length > 0 else 0.0
    return cosines
