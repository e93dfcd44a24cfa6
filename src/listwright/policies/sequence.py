"""One policy per position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features import Rows
from listwright.policies.base import Policy
from listwright.policies.linear import Linear


@saved_as("policies.Sequence")
@dataclass(frozen=True, eq=False)
class Sequence(Policy):
    """Lets policy i pick at position i; positions after the last policy use the last one.

    `ConSeqOpt` makes it: the list of policies that the paper's Section 2 compares with.

    Attributes
    ----------
    policies : tuple of Policy
        The policy of each position.

    See Also
    --------
    Linear : One policy for all positions, as `SCP` learns.

    Examples
    --------
    >>> from listwright.policies import Linear
    >>> both = Sequence((Linear(np.array([1.0])), Linear(np.array([-1.0]))))
    >>> both.at_position(5).weights
    array([-1.])
    """

    policies: tuple[Policy, ...]

    def validation_error(self) -> str:
        """Return what is wrong with a policy that was read from a file; "" if nothing is."""
        return "" if self.policies else "policies are missing"

    def score(self, rows: Rows) -> Floats:
        """Raise `InputError`, because scores depend on the position: use `pick`."""
        raise InputError("A sequence of policies scores by position. Use pick.")

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Return the pick of the position's policy."""
        return self.at_position(position).pick(rows, open_rows, position, rng)

    def at_position(self, position: int) -> Policy:
        """Return the policy of a position."""
        return self.policies[min(position, len(self.policies) - 1)].at_position(position)

    @property
    def certain(self) -> bool:
        """Whether all policies are certain."""
        return all(policy.certain for policy in self.policies)

    def chances(self, rows: Rows, open_rows: Bools, position: int) -> Floats:
        """Return the probabilities of the position's policy."""
        return self.at_position(position).chances(rows, open_rows, position)

    def linear(self) -> list[Linear] | None:
        """Return the linear policy of each position; None if one of them is not linear."""
        each = [policy.linear() for policy in self.policies]
        return None if None in each else [one[0] for one in each if one is not None]

    @property
    def nbytes(self) -> int | None:
        """Memory of all policies together; None if it is unknown for one."""
        each = [policy.nbytes for policy in self.policies]
        return None if None in each else sum(size for size in each if size is not None)
