"""Arrays as bytes: exact, or rounded to an even grid between the smallest and the largest value of each column."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Floats32
from listwright._kernels.grid import to_grid

LEVELS = ((65_536, "<u2"), (256, "<u1"), (128, "<u1"))


class Table(msgspec.Struct, array_like=True):
    """A stored array.

    Attributes
    ----------
    dtype : str
        NumPy type of `data`.
    shape : tuple of int
        Shape of the array.
    levels : int
        Number of quantization levels; 0 if `data` is exact.
    ends : bytes
        Lowest and highest value of each column, as the upper 16 bits of float32.
    data : bytes
        Values, or level indices.
    """

    dtype: str
    shape: tuple[int, ...]
    levels: int
    ends: bytes  # lowest and highest of each column, in halved float32
    data: bytes


def precision(room: int, total: int) -> tuple[int, str]:
    """Choose the quantization for `total` bytes of float32 that should fit into `room` bytes."""
    if total <= room:
        return 0, ""
    bits = {levels: int(levels).bit_length() - 1 for levels, _ in LEVELS}
    return next((entry for entry in LEVELS if total * bits[entry[0]] // 32 <= room), LEVELS[-1])


def exact(array: NDArray[Any]) -> Table:
    """Store an array as it is, little-endian."""
    return Table(array.dtype.newbyteorder("<").str, array.shape, 0, b"", np.ascontiguousarray(array).tobytes())


def rounded(array: Floats32, levels: int, dtype: str) -> Table:
    """Quantize a float32 array of shape (n_rows, n_columns) to `levels` evenly spaced values per column."""
    ends, steps = np.empty((2, array.shape[1]), dtype=np.uint16), np.empty(array.shape, dtype=np.uint16)
    to_grid(array, levels, ends, steps)
    return Table(dtype, array.shape, levels, ends.astype("<u2").tobytes(), steps.astype(dtype).tobytes())


def _whole(ends: NDArray[np.uint16]) -> Floats32:
    """Return the float32 values of upper halves, with zeros in the lower 16 bits."""
    return (ends.astype("<u4") << 16).view("<f4")


def _widths(low: NDArray[np.uint16], high: NDArray[np.uint16]) -> Floats:
    """Return the widths of the columns in float64; 1 for constant columns, to avoid a division by zero."""
    widths = _whole(high).astype(np.float64) - _whole(low)
    return np.where(widths > 0, widths, 1.0)


def array_of(table: Table) -> NDArray[Any]:
    """Restore an array; quantized values become float32."""
    found = np.frombuffer(table.data, dtype=table.dtype).reshape(table.shape)
    if not table.levels:
        return found
    low, high = np.frombuffer(table.ends, dtype="<u2").reshape(2, -1)
    return (_whole(low) + found * (_widths(low, high) / (table.levels - 1))).astype(np.float32)
