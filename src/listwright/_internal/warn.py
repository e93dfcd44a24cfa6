"""Warnings that point at the user's code, however deep in listwright they come from."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from types import FrameType

PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning at the line outside of this package that the call came from."""
    warnings.warn(message, category, stacklevel=_outside())


def _outside() -> int:
    """Return the `stacklevel`, as seen from `warn`, of the innermost frame that is not of this package."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
