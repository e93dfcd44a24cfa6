"""The certificate of an online run: what the paper's theorems prove about it, as numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import log, sqrt

from listwright._internal.pictures import html_text
from listwright.guarantees.bounds import approximation_ratio, format_confidence

PREDICTS = {
    "last": "the last round's policy",
    "best": "the round that was best on a validation part",
    "mixture": "the mixture",
}


@dataclass(frozen=True)
class Certificate:
    """What is proved about the mixture of a run's policies, from quantities measured while learning.

    `model.online_certificate()` returns one; printing it states the claim, or why there is none. Regrets are sums over
    the rounds, as in the paper, and None where they do not apply or cannot be known. It is about the mixture of the
    policies of all rounds of a single pass. For a bound on the policy that `predict` uses, use `certify` of a fitted
    model, which needs held-out problems and gives tighter bounds.

    Attributes
    ----------
    length, comparator_length : int
        m and k.
    rounds : int
        T, the number of visits to states.
    states : int or None
        The number of different states among them.
    left_out : int
        Visits before anything was learned. Their policy is not part of the mixture, nor are their lists part of
        `value_seen`.
    delta : float
        The claims fail with a probability of at most `delta`.
    value_seen : float
        Mean of f(L_t) while learning.
    regret_bound_used : float
        R / T, or a bound on it.
    confidence_term : float
        What is subtracted for chance.
    finite : bool
        Whether the regret against the best policy in hindsight is exact, as it is for a finite class. Otherwise the
        bound against rivals follows from the bound on the value and says nothing more.
    keep : {"last", "best", "mixture"}
        Which policy `predict` uses. The theorems are about the mixture.
    n_kept : int or None
        Of `keep="mixture"`: the number of rounds whose policies `predict` draws from, where it is not all of them.
    expected_regret, regret : float or None
        E[R] and R, for finite classes.
    surrogate_regret : float or None
        R-tilde, or a bound on it: the notes say which, or why there is none.
    surrogate_gap : float or None
        G, with 0 for the unknown loss of the best policy.
    breaches : tuple of str
        Assumptions of the theorem that the run does not meet.
    notes : tuple of str
        How the numbers were obtained.

    See Also
    --------
    certify : Makes a certificate from the sums of a run.
    HeldOutCertificate : Bounds from held-out problems, for any policy.

    Notes
    -----
    Theorem 2 of the paper, and Corollary 3 for surrogate losses.

    Examples
    --------
    >>> certificate = Certificate(
    ...     length=3,
    ...     comparator_length=3,
    ...     rounds=20_000,
    ...     delta=0.05,
    ...     value_seen=0.7,
    ...     regret_bound_used=0.05,
    ...     confidence_term=0.01,
    ... )
    >>> round(certificate.lower_bound_on_value, 3), round(certificate.lower_bound(rival_value=0.9), 3)
    (0.691, 0.573)
    """

    length: int
    comparator_length: int
    rounds: int
    delta: float
    value_seen: float
    regret_bound_used: float
    confidence_term: float
    states: int | None = None
    left_out: int = 0
    finite: bool = False
    keep: str = "mixture"
    n_kept: int | None = None
    expected_regret: float | None = None
    regret: float | None = None
    surrogate_regret: float | None = None
    surrogate_gap: float | None = None
    breaches: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def effective_length(self) -> int:
        """k' = min(m, k)."""
        return min(self.length, self.comparator_length)

    @property
    def approximation_ratio(self) -> float:
        """1 - (1 - 1/k)^m, which Lemma 2 proves; at least the 1 - exp(-m / k) of the theorems."""
        return approximation_ratio(self.length, self.comparator_length, exact=True)

    @property
    def assumptions_met(self) -> bool:
        """Whether the run meets the assumptions that can be checked. Independence of the states cannot."""
        return not self.breaches

    @property
    def slack(self) -> float:
        """Average regret plus confidence terms: what is subtracted from the rival's share."""
        return self.regret_bound_used + self.confidence_term

    def lower_bound(self, rival_value: float) -> float:
        """Return the least value of the mixture where the best list of policies is worth `rival_value`.

        This is the theorem's formula, which holds with probability 1 - delta; it is a guarantee only if
        `assumptions_met`.

        Parameters
        ----------
        rival_value : float
            Mean value of the best list of `comparator_length` policies.

        Returns
        -------
        float
            The bound; 0 if the theorem says nothing.
        """
        return max(0.0, self.approximation_ratio * rival_value - self.slack)

    @property
    def lower_bound_on_value(self) -> float:
        """Lower bound on the value of the mixture, from the lists seen alone. It needs no rival and no submodularity.

        F(pi_t) - f(L_t) has mean 0 given all earlier rounds and lies in an interval of width 1, from F(pi_t) - 1 to
        F(pi_t). By Hoeffding and Azuma its average over T rounds exceeds e with probability at most exp(-2 T e^2),
        which is delta for e = sqrt(ln(1 / delta) / (2 T)). The bound holds with probability 1 - delta if
        `assumptions_met`.
        """
        return max(0.0, self.value_seen - sqrt(log(1 / self.delta) / (2 * max(self.rounds - self.left_out, 1))))

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __str__(self) -> str:
        if self.breaches:
            return f"No guarantee: {'; '.join(self.breaches)}. {self._findings()}"
        parts = [self._claim(), self._findings(), "This takes the states to be independent draws, each visited once."]
        if self.keep != "mixture":
            parts.append(
                f"It is not about what predict uses, {PREDICTS[self.keep]}: fit with keep='mixture', or call "
                "certify with held-out problems."
            )
        elif self.n_kept is not None:
            parts.append(
                f"predict draws from a uniform sample of {self.n_kept:,} of these rounds, not from all of them."
            )
        return " ".join(parts)

    def _findings(self) -> str:
        """Return the sentences about what was measured while learning."""
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
            f"With probability {Decimal(format_confidence(self.delta)) / 100}, lists of {self.length} from the mixture "
            "of all rounds' policies "
            f"are worth at least {self.lower_bound_on_value:.3f}."
        )
        if not self.finite:
            return claim
        rival = f"{self.approximation_ratio:.3f} times the best list of {self.comparator_length} policies of the class"
        claim += f" With the same probability, they are worth at least {rival}, less {self.slack:.3f}"
        if self.slack >= self.approximation_ratio:
            claim += ", which is more than that can be: it takes more states to say anything against rivals"
        return f"{claim}. These rivals choose without looking at the list so far."
