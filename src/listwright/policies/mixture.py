"""Policies made of several: one that is drawn anew for each list, and one per position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features import Rows
from listwright.policies.base import Policy
from listwright.policies.linear import Linear


@saved_as("policies.PolicyMixture")
@dataclass(frozen=True, eq=False)
class PolicyMixture(Policy):
    """Builds each list with one policy, drawn uniformly at its start.

    This is the mixture over rounds of the paper's theorems (pi-bar), which `keep="mixture"` returns. Use it if you need
    the online guarantee; the last policy (`keep="last"`) usually builds better lists.

    Attributes
    ----------
    policies : tuple of Policy
        The policies, all equally likely.

    See Also
    --------
    PolicyDistribution : Draws a policy per position.

    Examples
    --------
    >>> from listwright.policies import Linear
    >>> mixture = PolicyMixture((Linear(np.array([1.0])), Linear(np.array([-1.0]))))
    >>> mixture.drawn(4, np.random.default_rng(0)).choice
    array([1, 1, 1, 0])
    """

    policies: tuple[Policy, ...]

    def validation_error(self) -> str:
        return "" if self.policies else "policies are missing"

    def score(self, rows: Rows) -> Floats:
        raise InputError("A mixture of policies has no score of its own. Use drawn.")

    def drawn(self, n_problems: int, rng: np.random.Generator) -> Policy:
        return Drawn(self.policies, rng.integers(len(self.policies), size=n_problems))

    def linear(self) -> list[Linear] | None:
        each = [policy for policy in self.policies if isinstance(policy, Linear)]
        if not each or len(each) < len(self.policies):
            return None
        own = [policy.item_weights for policy in each if policy.item_weights is not None]
        return [Linear(np.mean([policy.weights for policy in each], axis=0), np.mean(own, axis=0) if own else None)]

    certain = False


@dataclass(frozen=True, eq=False)
class Drawn(Policy):
    """The policies that a mixture has drawn: policy `choice[i]` for problem i."""

    policies: tuple[Policy, ...]
    choice: Ints

    def score(self, rows: Rows) -> Floats:
        scores = np.empty(len(rows.owners))
        chosen = self.choice[rows.owners]
        for i in np.unique(self.choice):
            scores[chosen == i] = self.policies[i].score(rows)[chosen == i]
        return scores

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        picks, scores = np.full(len(self.choice), -1), np.zeros(len(rows.owners))
        for i in np.unique(self.choice):
            mine = self.choice == i
            i_picks, i_scores = self.policies[i].pick(rows, open_rows & mine[rows.owners], position, rng)
            picks[mine] = i_picks[mine]
            scores[mine[rows.owners]] = i_scores[mine[rows.owners]]
        return picks, scores

    def of_problem(self, i: int) -> Policy:
        return self.policies[self.choice[i]]

    certain = False


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
        return "" if self.policies else "policies are missing"

    def score(self, rows: Rows) -> Floats:
        raise InputError("A sequence of policies scores by position. Use pick.")

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        return self.at_position(position).pick(rows, open_rows, position, rng)

    def at_position(self, position: int) -> Policy:
        return self.policies[min(position, len(self.policies) - 1)].at_position(position)

    @property
    def certain(self) -> bool:  # type: ignore[override]
        return all(policy.certain for policy in self.policies)

    def chances(self, rows: Rows, open_rows: Bools, position: int) -> Floats:
        return self.at_position(position).chances(rows, open_rows, position)

    def linear(self) -> list[Linear] | None:
        each = [policy.linear() for policy in self.policies]
        return None if None in each else [pair[0] for pair in each if pair is not None]

    @property
    def nbytes(self) -> int | None:
        each = [policy.nbytes for policy in self.policies]
        return None if None in each else sum(size for size in each if size is not None)
