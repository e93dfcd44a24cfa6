"""The certificate of an online run: what the paper's theorems prove about it, as numbers and in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log, nan, sqrt
from typing import Any

from listwright._internal.pictures import html_text, intervals
from listwright.guarantees.bounds import (
    approximation_ratio,
    confidence_terms,
    format_bound,
    format_confidence,
    validate_counts,
    validate_delta,
    validate_lengths,
)
from listwright.learners import Experts, Learner

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
        Each of the claims fails with a probability of at most `delta`.
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
    ...     3, 3, rounds=20_000, delta=0.05, value_seen=0.7, regret_bound_used=0.05, confidence_term=0.01
    ... )
    >>> round(certificate.lower_bound_on_value, 3), round(certificate.lower_bound(rival_value=0.9), 3)
    (0.691, 0.573)
    >>> chart = certificate.plot()
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

    def plot(self) -> Any:
        """Return an altair chart: a point at the value seen while learning, and a tick at its bound if there is one."""
        bound = self.lower_bound_on_value if self.assumptions_met else nan
        record = {"method": "value of lists", "mean": self.value_seen, "low": bound, "high": self.value_seen}
        title = f"tick: lower bound at {format_confidence(self.delta)} % confidence, if any; point: mean while learning"
        return intervals([record], title, zero=True)

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __str__(self) -> str:
        if self.breaches:
            return f"No guarantee: {'; '.join(self.breaches)}. {self._findings()}"
        takes = "This takes the states to be independent draws, each visited once"
        if self.states is not None and self.states < self.rounds:
            takes += f", although {self.rounds - self.states:,} of the visits are to states that equal earlier ones"
        parts = [self._claim(), self._findings(), f"{takes}."]
        if self.keep != "mixture":
            parts.append(
                f"It is not about what predict uses, {PREDICTS[self.keep]}: fit with keep='mixture', or call "
                "certify with held-out problems."
            )
        elif self.n_kept is not None:
            kept = f"{self.n_kept:,} of these rounds"
            parts.append(f"predict draws from a uniform sample of {kept}, not from all of them.")
        return " ".join(parts)

    def _findings(self) -> str:
        visits = f"{self.rounds:,} states"
        if self.states is not None and self.states < self.rounds:
            visits = f"{self.rounds:,} visits to {self.states:,} states"
        regret = f"{self.regret_bound_used:.3f}"
        if not self.finite:
            regret = f"at most {format_bound(self.regret_bound_used, upper=True)}"
        text = f"Over {visits}, the lists were worth {self.value_seen:.3f}, and the average regret was {regret}."
        if self.surrogate_regret is not None:
            above = format_bound(self.surrogate_regret / self.rounds, 6, upper=True).rstrip("0").rstrip(".")
            text += f" The learner's own loss was at most {above} per state above that of the best policy in hindsight."
        return text

    def _claim(self) -> str:
        claim = (
            f"With probability {format_confidence(self.delta, of=1)}, lists of {self.length} from the mixture "
            f"of all rounds' policies are worth at least {format_bound(self.lower_bound_on_value)}."
        )
        if not self.finite:
            return claim
        ratio, slack = format_bound(self.approximation_ratio), format_bound(self.slack, upper=True)
        rival = f"{ratio} times the best list of {self.comparator_length} policies of the class"
        claim += f" With the same probability, they are worth at least {rival}, less {slack}"
        if self.slack >= self.approximation_ratio:
            claim += ", which is more than that can be: it takes more states to say anything against rivals"
        return f"{claim}. These rivals choose without looking at the list so far."


def certify(
    learner: Learner | None = None,
    *,
    rounds: int,
    loss: float,
    value: float,
    length: int,
    comparator_length: int | None = None,
    passes: int = 1,
    states: int | None = None,
    left_out: int = 0,
    left_out_value: float = 0.0,
    delta: float = 0.05,
    bounded: bool = True,
    submodular: bool = True,
    discounted: bool = True,
    budgeted: bool = False,
    per_size: bool = False,
    grouped: bool = False,
    keep: str = "mixture",
    also: Iterable[str] = (),
) -> Certificate:
    """Make the certificate of an online run from sums collected while learning.

    Fitted models call this in `online_certificate`. Use it directly for a learning loop of your own.

    Parameters
    ----------
    learner : Learner, optional
        The learner after the run; None if only the sums are known.
    rounds : int
        T, the number of visits to states.
    loss, value : float
        Sums over the visits of l_t(pi_t) and of f(L_t).
    length : int
        m, the length of the lists.
    comparator_length : int, optional
        k, the length of the lists to compete with; `length` by default.
    passes : int, default 1
        How often the same state was visited, at most.
    states : int, optional
        How many different states there were.
    left_out : int, default 0
        Visits before anything was learned, whose policy is not part of the mixture.
    left_out_value : float, default 0.0
        Sum of f(L_t) over these.
    delta : float, default 0.05
        Each of the claims fails with a probability of at most `delta`.
    bounded, submodular : bool, default True
        Whether the reward is within [0, 1], and whether it is submodular.
    discounted : bool, default True
        Whether positions were weighted by (1 - 1/k)^(m - i).
    budgeted : bool, default False
        Whether lists had a size budget instead of a length.
    per_size : bool, default False
        Whether gains were learned per size.
    grouped : bool, default False
        Whether lists were limited to so many items of a group.
    keep : {"last", "best", "mixture"}, default "mixture"
        Which policy `predict` uses.
    also : iterable of str
        Further breaches of the assumptions, in words.

    Returns
    -------
    Certificate
        The claim if the assumptions are met, else the reasons why there is none.

    See Also
    --------
    HeldOutCertificate : Bounds from held-out problems, for any policy.
    rounds_for : The number of states that an accuracy needs.

    Notes
    -----
    Learners over a finite class know their regret exactly. Any other regret R, the sum of l_t(pi_t) minus that of the
    best policy, is at most the sum of l_t(pi_t), since costs are never negative. Corollary 3 of the paper splits R into
    the surrogate's regret R-tilde and T times the gap G. By the definition of G that holds for any surrogate and any
    scale, so the split is reported and the bound stays the same. If the learner knows only a lower bound on its best
    loss in hindsight, the reported R-tilde is an upper bound and the gap absorbs the difference.

    Examples
    --------
    >>> print(certify(rounds=20_000, loss=1000.0, value=14_000.0, length=3))
    With probability 0.95, lists of 3 from the mixture of all rounds' policies are worth at least 0.691. Over 20,000
    states, the lists were worth 0.700, and the average regret was at most 0.050. This takes the states to be
    independent draws, each visited once.
    >>> print(certify(rounds=20_000, loss=1000.0, value=14_000.0, length=3, passes=2, states=10_000))
    No guarantee: the same states were visited up to 2 times. Over 20,000 visits to 10,000 states, the lists ...
    """
    validate_counts(rounds=rounds)
    lengths = validate_lengths(length, comparator_length)
    average, confidence, note = _regret_and_chance(learner, loss, rounds, lengths, validate_delta(delta))
    surrogate, gap = _surrogate(learner, loss, rounds)
    experts = learner if isinstance(learner, Experts) else None
    return Certificate(
        length=lengths[0],
        comparator_length=lengths[1],
        rounds=rounds,
        delta=delta,
        value_seen=(value - left_out_value) / max(rounds - left_out, 1),
        regret_bound_used=average,
        confidence_term=confidence,
        states=states,
        left_out=left_out,
        finite=experts is not None and experts.regret() is not None,
        keep=keep,
        expected_regret=None if experts is None else experts.expected_regret(),
        regret=None if experts is None else experts.regret(),
        surrogate_regret=surrogate,
        surrogate_gap=gap,
        breaches=(
            *_breaches(rounds <= left_out, passes, bounded, submodular, discounted, budgeted, per_size, grouped),
            *also,
        ),
        notes=tuple(filter(None, (note, "" if learner is None else learner.hindsight()))),
    )


def _regret_and_chance(
    learner: Learner | None, loss: float, rounds: int, lengths: tuple[int, int], delta: float
) -> tuple[float, float, str]:
    """Return the average regret or a bound on it, the confidence term, and a note on where they come from."""
    # Of a finite class two bounds are known, which hold on the same event of the appendix: the smaller one is taken.
    settings: dict[str, Any] = {"length": lengths[0], "comparator_length": lengths[1], "delta": delta}
    expected = learner.expected_regret() if isinstance(learner, Experts) else None
    drawn = learner.regret() if isinstance(learner, Experts) else None
    if expected is None or drawn is None:
        states, _ = confidence_terms(rounds, **settings, randomized=False)
        return loss / rounds, states, "The average regret is bounded by the average loss."
    states, picks = confidence_terms(rounds, **settings)
    if expected / rounds + picks <= drawn / rounds:
        return expected / rounds, states + picks, "The expected regret is exact."
    return drawn / rounds, states, "The regret of the lists that were drawn is exact."


def _surrogate(learner: Learner | None, loss: float, rounds: int) -> tuple[float | None, float | None]:
    used = None if learner is None else learner.surrogate_loss()
    best = None if learner is None else learner.best_surrogate_loss()
    if used is None or best is None:
        return None, None
    return used - best, (loss - used + best) / rounds


def _breaches(
    unlearned: bool,
    passes: int,
    bounded: bool,
    submodular: bool,
    discounted: bool,
    budgeted: bool,
    per_size: bool,
    grouped: bool,
) -> list[str]:
    nothing = "no list was built with a learned policy while learning (batch_size=1 updates after every state)"
    breaches = {
        nothing: unlearned,
        f"the same states were visited up to {passes} times": passes > 1,
        "the reward is not within [0, 1]": not bounded,
        "the reward is not submodular": not submodular,
        "positions were not weighted by (1 - 1/k)^(m - i)": not discounted,
        "lists had a size budget, which the theorem does not cover": budgeted,
        "gains were learned per size, which the theorem does not cover": per_size and not budgeted,
        "lists were limited by group, which the theorem does not cover": grouped,
    }
    return [words for words, broken in breaches.items() if broken]
