"""The certificate of an online run: what the paper's theorems prove of it, as numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

from listwright.guarantees.bounds import approximation_ratio

PREDICTS = {
    "last": "the last round's policy",
    "best": "the round that was best on a validation part",
    "mixture": "the mixture",
}


@dataclass(frozen=True)
class Certificate:
    """What is proved of the mixture of a run's policies, from what was measured while learning.

    Regrets are sums over the rounds, as in the paper, and None where they do not apply or cannot be known. For a bound
    on the policy that `predict` uses, whatever it is, see `certify` of a fitted model, which needs held-out problems.

    Attributes
    ----------
    length, rival_length : int
        m and k.
    rounds : int
        T, the number of visits to states.
    states : int
        The number of different states among them.
    left_out : int
        Visits before anything was learned: their policy is no part of the mixture, nor their lists of `value_seen`.
    delta : float
        The claims fail with a probability of at most `delta`.
    value_seen : float
        Mean of f(L_t) while learning.
    regret_bound_used : float
        R / T, or a bound on it.
    confidence_term : float
        What is taken off for chance.
    finite : bool
        Whether the regret against the best policy in hindsight is exact, as it is for a finite class. Elsewhere the
        bound against rivals follows from the bound on the value and says nothing more.
    keep : str
        Which policy `predict` uses: "last", "best" or "mixture". The theorems are about the mixture.
    expected_regret, regret : float or None
        E[R] and R, for finite classes.
    surrogate_regret : float or None
        R-tilde, or a bound on it: the notes say which, or why there is none.
    surrogate_gap : float or None
        G, with 0 for the loss of the best policy, which nobody can compute.
    breaches : tuple of str
        What the theorem assumes and the run does not keep.
    notes : tuple of str
        How the numbers came about.
    """

    length: int
    rival_length: int
    rounds: int
    delta: float
    value_seen: float
    regret_bound_used: float
    confidence_term: float
    states: int | None = None
    left_out: int = 0
    finite: bool = False
    keep: str = "mixture"
    expected_regret: float | None = None
    regret: float | None = None
    surrogate_regret: float | None = None
    surrogate_gap: float | None = None
    breaches: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def effective_length(self) -> int:
        """k' = min(m, k)."""
        return min(self.length, self.rival_length)

    @property
    def approximation_ratio(self) -> float:
        """1 - (1 - 1/k)^m, which Lemma 2 proves; at least the 1 - exp(-m / k) of the theorems."""
        return approximation_ratio(self.length, self.rival_length, exact=True)

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
        return max(0.0, self.approximation_ratio * rival_value - self.slack)

    @property
    def lower_bound_on_value(self) -> float:
        """What the mixture is worth at least, by the lists seen alone: no rival, and no submodularity needed.

        F(pi_t) - f(L_t) has mean 0 given all earlier rounds and lies in an interval of width 1, from F(pi_t) - 1 to
        F(pi_t). So by Hoeffding and Azuma its average over T rounds passes e with probability at most exp(-2 T e^2),
        which is delta for e = sqrt(ln(1 / delta) / (2 T)). With probability 1 - delta, where `assumptions_met`.
        """
        return max(0.0, self.value_seen - sqrt(log(1 / self.delta) / (2 * max(self.rounds - self.left_out, 1))))

    def __str__(self) -> str:
        if self.breaches:
            return f"No guarantee: {'; '.join(self.breaches)}. {self._measured()}"
        parts = [self._claim(), self._measured(), "This takes the states to be independent draws, each visited once."]
        if self.keep != "mixture":
            parts.append(
                f"It is not about what predict uses, {PREDICTS[self.keep]}: fit with keep='mixture', or call "
                "certify with held-out problems."
            )
        return " ".join(parts)

    def _measured(self) -> str:
        visits = f"{self.rounds:,} states"
        if self.states is not None and self.states < self.rounds:
            visits = f"{self.rounds:,} visits to {self.states:,} states"
        words = "was" if self.finite else "was at most"
        text = f"Over {visits}, the lists were worth {self.value_seen:.3f}, and the average regret {words} "
        text += f"{self.regret_bound_used:.3f}."
        if self.surrogate_regret is not None:
            text += f" The learner's own loss was at most {self.surrogate_regret / self.rounds:.3g} per state above "
            text += "that of the best policy in hindsight."
        return text

    def _claim(self) -> str:
        claim = (
            f"With probability {1 - self.delta:.3g}, lists of {self.length} from the mixture of all rounds' policies "
            f"are worth at least {self.lower_bound_on_value:.3f}."
        )
        if not self.finite:
            return claim
        rival = f"{self.approximation_ratio:.3f} times the best list of {self.rival_length} policies"
        claim += f" With the same probability, they are worth at least {rival}, less {self.slack:.3f}"
        if self.slack >= self.approximation_ratio:
            claim += ", which is more than that can be: it takes more states to say anything against rivals"
        return f"{claim}."
