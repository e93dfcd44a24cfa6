"""What learners with partial feedback share: gains estimated from the picks alone (inverse propensity weighting)."""

from __future__ import annotations

from typing import Self

import numpy as np

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.learners.experts import Experts
from listwright.learners.rates import doubled, exponential_weights


class Partial(Experts):
    """Base of Exp3 and Exp4: gains are estimated from the picks alone, and a share of picks explores.

    An observed gain counts 1 / chance times, where chance is the probability that the row was picked, so that the
    estimates are unbiased. Nothing else is used: not the gains of other rows, nor what follows from them.
    """

    rate: str | float
    explore: str | float

    def start(self, n_experts: int) -> None:
        """Check `rate` and `explore`, and reset all sums to 0."""
        for name, value, high in (("rate", self.rate, np.inf), ("explore", self.explore, 1.0)):
            known = value == "auto" if isinstance(value, str) else 0 <= value <= high
            if not known:
                limits = "from 0" if np.isinf(high) else "from 0 to 1"
                raise InputError(f'{name} must be "auto" or a number {limits}. Got {value!r}.')
        self.n_rows_ = 0
        super().start(n_experts)

    def join(self, part: Self) -> None:
        """Add part of a round, and the number of arms seen in it."""
        super().join(part)
        if hasattr(part, "n_rows_"):
            self.n_rows_ = max(self.n_rows_, part.n_rows_)

    def expected_regret(self) -> float | None:
        """None: the loss of experts that were not shown is only estimated."""
        return None

    def regret(self) -> float | None:
        """None: the loss of experts that were not shown is only estimated."""
        return None

    def _distribution(self) -> Floats:
        self.rate_, self.explore_ = self._next_rates()
        return exponential_weights(self.gains_, self.rate_)

    def _next_rates(self) -> tuple[float, float]:
        """Return the rates of Auer et al. (2002, Corollary 3.2), for gains up to `most_` and a horizon that doubles."""
        if self.n_rounds_ == 0:
            return 0.0, 1.0
        arms, states = self.n_rows_, doubled(self.n_states_)
        share = np.sqrt(arms * np.log(len(self.gains_)) * self.most_ / ((np.e - 1.0) * states))
        rate = min(1.0, share) / (arms * self.most_) if isinstance(self.rate, str) else self.rate
        return float(rate), float(min(1.0, share) if isinstance(self.explore, str) else self.explore)
