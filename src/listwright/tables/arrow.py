"""Arrow columns as NumPy arrays, without pandas.

pyarrow's own conversions import pandas wherever it is installed, which takes half a second of a short command.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Ints


def flags_of(column: Any) -> NDArray[np.bool_]:
    """Return a column of booleans without missing values."""
    return _values(column.cast(pa.uint8())).view(np.bool_)


def floats_of(column: Any) -> Floats:
    """Return a column of numbers as float64; missing values are NaN."""
    numbers = column.cast(pa.float64(), safe=False)
    return _values(numbers.fill_null(np.nan) if numbers.null_count else numbers)


def codes_of(column: Any) -> Ints:
    """Return a column of whole numbers without missing values as int64."""
    return _values(column.cast(pa.int64()))


def _values(column: Any) -> Any:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return np.from_dlpack(whole)
