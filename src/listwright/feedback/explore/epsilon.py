"""Even exploration for a share of the slots."""

from __future__ import annotations

from listwright._kernels.draw import EPSILON
from listwright.errors import InputError
from listwright.feedback.explore.base import ByScore


class Epsilon(ByScore):
    """The best row, or for a share of the slots any open row: the plain baseline, which never stops exploring.

    Parameters
    ----------
    share : of the slots that are drawn evenly, from 0 to 1.

    >>> import numpy as np
    >>> from listwright._kernels.draw import segment_chances
    >>> segment_chances(*Epsilon(0.2).compiled(0), np.array([0.1, 0.9]), np.array([0, 2]))[0]
    array([0.1, 0.9])
    """

    def __init__(self, share: float = 0.1) -> None:
        self.share = share

    def compiled(self, learned: float) -> tuple[int, float]:
        """The strength is the share."""
        if not (isinstance(self.share, int | float) and 0 <= self.share <= 1):
            raise InputError(f"share must be from 0 to 1. Got {self.share!r}.")
        return EPSILON, float(self.share)
