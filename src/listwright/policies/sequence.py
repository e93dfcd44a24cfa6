"""A policy for each position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features import Rows
from listwright.policies.base import Policy


@saved_as("policies.Sequence")
@dataclass(frozen=True, eq=False)
class Sequence(Policy):
    """Position i is picked by policy i; positions past the end by the last one."""

    policies: tuple[Policy, ...]

    def flaw(self) -> str:
        """What is wrong with it, where it was read from a file."""
        return "" if self.policies else "policies are missing"

    def score(self, rows: Rows) -> Floats:
        """Depends on the position: see `pick`."""
        raise InputError("A sequence of policies scores by position. Use pick.")

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """The pick of the position's policy."""
        return self.at_position(position).pick(rows, open_rows, position, rng)

    def at_position(self, position: int) -> Policy:
        """The position's policy, or what that one has for the position."""
        return self.policies[min(position, len(self.policies) - 1)].at_position(position)

    @property
    def certain(self) -> bool:
        """Whether all are."""
        return all(policy.certain for policy in self.policies)

    def chances(self, rows: Rows, open_rows: Bools, position: int) -> Floats:
        """Those of the position's policy."""
        return self.at_position(position).chances(rows, open_rows, position)

    @property
    def nbytes(self) -> int | None:
        """Of all policies together."""
        each = [policy.nbytes for policy in self.policies]
        return None if None in each else sum(size for size in each if size is not None)
