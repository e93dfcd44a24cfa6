"""The arrays of a model in one safetensors member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from listwright.errors import InputError

KINDS = "biuf"  # bool, whole numbers, floats


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Bytes of all arrays; numbers that are not finite are refused, for no model works with them."""
    for array in arrays.values():
        if not _finite(array):
            raise InputError(
                "The model holds numbers that are not finite, so it is not saved. Check the training data."
            )
    return bytes(save({name: np.array(array, order="C") for name, array in arrays.items()}))


def unpack(data: bytes, name: str) -> dict[str, NDArray[Any]]:
    """The arrays, checked to be numbers and finite; each owns its memory."""
    try:
        found = load(data)
    except (SafetensorError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise InputError(f"{name} is damaged: its arrays cannot be read ({error!s:.100}).") from None
    for key, array in found.items():
        if array.dtype.kind not in KINDS:
            raise InputError(f"{name} is damaged: array {key!r:.40} is of type {array.dtype}.")
        if not _finite(array):
            raise InputError(f"{name} is damaged: array {key!r:.40} holds numbers that are not finite.")
    return {key: np.array(array, order="C") for key, array in found.items()}


def _finite(array: NDArray[Any]) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())
