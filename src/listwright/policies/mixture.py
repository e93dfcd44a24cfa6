"""Mixtures: one of several policies, drawn anew for each list."""

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
        """Return what is wrong with a policy that was read from a file; "" if nothing is."""
        return "" if self.policies else "policies are missing"

    def score(self, rows: Rows) -> Floats:
        """Raise `InputError`, because the score depends on the draw: use `drawn`."""
        raise InputError("A mixture of policies has no score of its own. Use drawn.")

    def drawn(self, n_problems: int, rng: np.random.Generator) -> Policy:
        """Draw a policy for each problem."""
        choice = rng.integers(len(self.policies), size=n_problems)
        return Drawn(self.policies, choice)

    def linear(self) -> list[Linear] | None:
        """Return the policy with the mean weights of all; None if one of them is not linear."""
        each = [policy for policy in self.policies if isinstance(policy, Linear)]
        if not each or len(each) < len(self.policies):
            return None
        own = [policy.item_weights for policy in each if policy.item_weights is not None]
        return [Linear(np.mean([policy.weights for policy in each], axis=0), np.mean(own, axis=0) if own else None)]

    @property
    def certain(self) -> bool:
        """False: every list draws its policy."""
        return False


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

    @property
    def certain(self) -> bool:
        """False, because the mixture has drawn."""
        return False
