"""Makes the certificate of an online run from sums collected while learning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from listwright.guarantees.bounds import confidence_terms, validate_counts, validate_delta, validate_lengths
from listwright.guarantees.certificate import Certificate
from listwright.learners import Experts, Learner


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
        The claims fail with a probability of at most `delta`.
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
    validate_counts(rounds, 1)
    terms = _Terms(rounds, *validate_lengths(length, comparator_length), validate_delta(delta))
    average, confidence, note = terms.of(learner, loss)
    surrogate, gap = _surrogate(learner, loss, rounds)
    experts = learner if isinstance(learner, Experts) else None
    return Certificate(
        length=terms.length,
        comparator_length=terms.comparator_length,
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
            *_nothing_kept(rounds, left_out),
            *_breaches(passes, bounded, submodular, discounted, budgeted, per_size, grouped),
            *also,
        ),
        notes=tuple(filter(None, (note, "" if learner is None else learner.hindsight()))),
    )


@dataclass(frozen=True)
class _Terms:
    """Computes the average regret and the confidence terms of a run."""

    rounds: int
    length: int
    comparator_length: int
    delta: float

    def of(self, learner: Learner | None, loss: float) -> tuple[float, float, str]:
        """Return the average regret or a bound on it, the confidence term, and a note on where they come from."""
        if isinstance(learner, Experts):
            expected, picked = learner.expected_regret(), learner.regret()
            if expected is not None and picked is not None:
                return self._finite(expected, picked)
        states, _ = self._chances(randomized=False)
        return loss / self.rounds, states, "The average regret is bounded by the average loss."

    def _finite(self, expected: float, picked: float) -> tuple[float, float, str]:
        """Return the smaller of two bounds that hold on the same event of the appendix, of probability 1 - delta."""
        states, picks = self._chances(randomized=True)
        if expected / self.rounds + picks <= picked / self.rounds:
            return expected / self.rounds, states + picks, "The expected regret is exact."
        return picked / self.rounds, states, "The regret of the lists that were drawn is exact."

    def _chances(self, *, randomized: bool) -> tuple[float, float]:
        lengths = {"length": self.length, "comparator_length": self.comparator_length}
        return confidence_terms(self.rounds, **lengths, delta=self.delta, randomized=randomized)


def _surrogate(learner: Learner | None, loss: float, rounds: int) -> tuple[float | None, float | None]:
    """Return R-tilde and the computable part of the gap G; None each without a surrogate loss."""
    used = None if learner is None else learner.surrogate_loss()
    best = None if learner is None else learner.best_surrogate_loss()
    if used is None or best is None:
        return None, None
    return used - best, (loss - used + best) / rounds


def _nothing_kept(rounds: int, left_out: int) -> list[str]:
    """Return a breach if the run had a single round, so that no list was built with a learned policy."""
    words = "no list was built with a learned policy while learning (batch_size=1 updates after every state)"
    return [words] if rounds <= left_out else []


def _breaches(
    passes: int, bounded: bool, submodular: bool, discounted: bool, budgeted: bool, per_size: bool, grouped: bool
) -> tuple[str, ...]:
    """Return, in words, the assumptions of the theorem that the run does not meet."""
    found = {
        f"the same states were visited up to {passes} times": passes > 1,
        "the reward is not within [0, 1]": not bounded,
        "the reward is not submodular": not submodular,
        "positions were not weighted by (1 - 1/k)^(m - i)": not discounted,
        "lists had a size budget, which the theorem does not cover": budgeted,
        "gains were learned per size, which the theorem does not cover": per_size and not budgeted,
        "lists were limited by group, which the theorem does not cover": grouped,
    }
    return tuple(words for words, broken in found.items() if broken)
