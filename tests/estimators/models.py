"""The estimators that most tests run through, and a picture of their fitted state."""

from __future__ import annotations

import pickle  # noqa: TID251  (a byte for byte picture of the fitted state)
from typing import Any

import listwright as lw
from listwright.features import Candidate, Distance, Position

BOTH = [lw.SCP, lw.ConSeqOpt]
ALL = [lw.SCP, lw.ConSeqOpt, lw.ContextFreeSCP]
PLAIN = Candidate(standardize=False) + Distance(standardize=False) + Position()


def state_of(model: Any) -> bytes:
    """All that `fit` has set."""
    return pickle.dumps({name: value for name, value in vars(model).items() if name.endswith("_")})
