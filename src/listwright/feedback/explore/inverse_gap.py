"""Inverse gap weighting: the further a candidate is behind the best one, the more seldom it is shown."""

from __future__ import annotations

import math

from listwright._kernels.draw import INVERSE_GAP
from listwright.errors import InputError
from listwright.feedback.explore.base import ByScore


class InverseGap(ByScore):
    """Inverse gap weighting over a regression of gains (Foster & Rakhlin 2020), at each slot of a list.

    Of A open rows, one whose foretold gain is `gap` below the best is shown with chance 1 / (A + gamma * gap), and the
    best one takes the rest. gamma = scale * sqrt(A * lists learned from): even odds at first, then ever closer to the
    best list. The square root is that of the theory, which for sets drawn around a local optimum proves regret of order
    sqrt(T * regret of the regression) against half of the best set (arXiv 2112.02165). Here each slot is drawn given
    the slots before it, which that proof does not cover.

    Parameters
    ----------
    scale : how soon exploration fades.

    >>> import numpy as np
    >>> from listwright._kernels.draw import segment_chances
    >>> kind, strength = InverseGap(scale=1.0).compiled(learned=8)
    >>> segment_chances(kind, strength, np.array([0.5, 0.0]), np.array([0, 2]))[0]  # 1 / (2 + 4 * 0.5)
    array([0.75, 0.25])
    """

    def __init__(self, scale: float = 10.0) -> None:
        self.scale = scale

    def compiled(self, learned: float) -> tuple[int, float]:
        """The strength is gamma / sqrt(A)."""
        if not (isinstance(self.scale, int | float) and 0 < self.scale < math.inf):
            raise InputError(f"scale must be above 0. Got {self.scale!r}.")
        return INVERSE_GAP, self.scale * math.sqrt(learned)
