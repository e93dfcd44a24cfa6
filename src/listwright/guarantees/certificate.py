"""A certificate: what is proved of one run, as numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

from listwright.guarantees.bounds import approximation_ratio


@dataclass(frozen=True)
class Certificate:
    """What is proved of the mixture of a run's policies, from what was measured while learning.

    Regrets are sums over the rounds, as in the paper, and None where they do not apply or cannot be known.
    """

    length: int  # m
    rival_length: int  # k
    rounds: int  # T: states visited
    delta: float
    value_seen: float  # mean of f(L_t) while learning
    regret_bound_used: float  # R / T, or a bound on it
    confidence_term: float
    expected_regret: float | None = None  # E[R]
    regret: float | None = None  # R
    surrogate_regret: float | None = None  # R-tilde, or a bound on it: the notes say which, or why there is none
    surrogate_gap: float | None = None  # G, with 0 for the loss of the best policy, which nobody can compute
    breaches: tuple[str, ...] = ()  # what the theorem assumes and the run does not keep
    notes: tuple[str, ...] = ()  # how the numbers came about

    @property
    def effective_length(self) -> int:
        """k' = min(m, k)."""
        return min(self.length, self.rival_length)

    @property
    def approximation_ratio(self) -> float:
        """1 - exp(-m / k)."""
        return approximation_ratio(self.length, self.rival_length)

    @property
    def assumptions_met(self) -> bool:
        """Whether the run keeps what the theorem assumes, as far as can be told: not whether states are independent."""
        return not self.breaches

    @property
    def slack(self) -> float:
        """Average regret and confidence terms: what is taken off the rival's share."""
        return self.regret_bound_used + self.confidence_term

    def lower_bound(self, rival_value: float) -> float:
        """What the mixture is worth at least, where the best list of `rival_length` policies is worth `rival_value`.

        The theorem's formula, with probability 1 - delta; a guarantee only where `assumptions_met`.
        """
        return self.approximation_ratio * rival_value - self.slack

    @property
    def lower_bound_on_value(self) -> float:
        """What the mixture is worth at least, by the lists seen alone: no rival, and no submodularity needed.

        F(pi_t) - f(L_t) has mean 0 given all earlier rounds and lies in an interval of width 1, from F(pi_t) - 1 to
        F(pi_t). So by Hoeffding and Azuma its average over T rounds passes e with probability at most exp(-2 T e^2),
        which is delta for e = sqrt(ln(1 / delta) / (2 T)). With probability 1 - delta, where `assumptions_met`.
        """
        return self.value_seen - sqrt(log(1 / self.delta) / (2 * self.rounds))

    def __str__(self) -> str:
        measured = (
            f"Over {self.rounds:,} states the average regret was at most {self.regret_bound_used:.3f} "
            f"and the lists were worth {self.value_seen:.3f}."
        )
        if self.surrogate_regret is not None:
            measured += f" The learner's own loss was at most {self.surrogate_regret / self.rounds:.3g} a state above "
            measured += "that of the best policy in hindsight."
        if self.breaches:
            return f"No guarantee: {'; '.join(self.breaches)}. {measured}"
        return f"{self._claim()} {measured} This takes the states to be independent draws, each visited once."

    def _claim(self) -> str:
        rival = f"{self.approximation_ratio:.3f} times the best list of {self.rival_length} policies"
        claim = (
            f"With probability {1 - self.delta:.3g}, lists of {self.length} from the mixture of all rounds' policies "
            f"are worth at least {rival}, less {self.slack:.3f}"
        )
        if self.slack >= self.approximation_ratio:
            claim += ", which is more than that can be: it takes more states to say anything against rivals"
        return f"{claim}. They are worth at least {self.lower_bound_on_value:.3f} with the same probability."
