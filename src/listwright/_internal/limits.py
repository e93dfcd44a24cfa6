"""Checks of parameters that many constructors share."""

from __future__ import annotations

import numpy as np

from listwright.errors import InputError


def at_least_one(name: str, value: object) -> None:
    """Raise InputError unless `value` is a positive integer."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} must be a whole number of at least 1. Got {value!r}.")
    if value < 1:
        raise InputError(f"{name} must be at least 1. Got {value!r}.")
