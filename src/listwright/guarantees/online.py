"""The certificate of a run, from the sums that were kept while learning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from listwright.guarantees.bounds import check_counts, checked_delta, checked_lengths, confidence_terms
from listwright.guarantees.certificate import Certificate
from listwright.learners import Experts, Learner


def certify(
    learner: Learner | None = None,
    *,
    rounds: int,
    loss: float,
    value: float,
    length: int,
    rival_length: int | None = None,
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
    keep: str = "mixture",
    also: Iterable[str] = (),
) -> Certificate:
    """The certificate of an online run, from the sums that were kept while learning.

    Learners over a finite class know their regret exactly. Any other regret R, the sum of l_t(pi_t) less that of the
    best policy, is at most the sum of l_t(pi_t), since costs are 0 or more. The paper's Corollary 3 splits R into the
    surrogate's regret R-tilde and T times the gap G; that holds by the definition of G whatever the surrogate and its
    scale, so the split is reported, and the bound is the same. Where the learner knows only a lower bound on its best
    loss in hindsight, the reported R-tilde is an upper bound, and the gap makes up the difference.

    Parameters
    ----------
    learner : Learner, optional
        The learner after the run; None where only the sums are known.
    rounds, loss, value : int, float, float
        Visits to states, and sums over them of l_t(pi_t) and f(L_t).
    length, rival_length
        Int
        m and k.
    passes : int
        How often the same state was visited, at most.
    states : int, optional
        How many different states there were.
    left_out, left_out_value : int, float
        Visits that were walked before anything was learned, whose policy is no part of the mixture, and the sum of
        f(L_t) over them.
    delta : float
        The claims fail with a probability of at most `delta`.
    bounded, submodular : bool
        Whether the reward is within [0, 1], and submodular.
    discounted : bool
        Whether positions were weighted by (1 - 1/k)^(m - i).
    budgeted : bool
        Whether lists had a size budget in place of a length.
    per_size : bool
        Whether gains were learned per size.
    keep : str
        Which policy `predict` uses: "last", "best" or "mixture".
    also : iterable of str
        Further breaches, in words: what was seen of the reward, and what saw the states before the pass.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> print(certify(rounds=20_000, loss=1000.0, value=14_000.0, length=3))
    With probability 0.95, lists of 3 from the mixture of all rounds' policies are worth at least 0.691. Over 20,000
    states, the lists were worth 0.700, and the average regret was at most 0.050. This takes the states to be
    independent draws, each visited once.
    >>> print(certify(rounds=20_000, loss=1000.0, value=14_000.0, length=3, passes=2, states=10_000))
    No guarantee: the same states were visited up to 2 times. Over 20,000 visits to 10,000 states, the lists ...
    """
    check_counts(rounds, 1)
    terms = _Terms(rounds, *checked_lengths(length, rival_length), checked_delta(delta))
    average, confidence, note = terms.of(learner, loss)
    surrogate, gap = _surrogate(learner, loss, rounds)
    experts = learner if isinstance(learner, Experts) else None
    return Certificate(
        length=terms.length,
        rival_length=terms.rival_length,
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
            *_breaches(passes, bounded, submodular, discounted, budgeted, per_size),
            *also,
        ),
        notes=tuple(filter(None, (note, "" if learner is None else learner.hindsight()))),
    )


@dataclass(frozen=True)
class _Terms:
    """Average regret and confidence terms of a run."""

    rounds: int
    length: int
    rival_length: int
    delta: float

    def of(self, learner: Learner | None, loss: float) -> tuple[float, float, str]:
        """The two numbers, and in words where they come from."""
        if isinstance(learner, Experts):
            expected, picked = learner.expected_regret(), learner.regret()
            if expected is not None and picked is not None:
                return self._finite(expected, picked)
        states, _ = self._chances(randomized=False)
        return loss / self.rounds, states, "The average regret is bounded by the average loss."

    def _finite(self, expected: float, picked: float) -> tuple[float, float, str]:
        """The smaller of two bounds that hold on the same event of the appendix, of probability 1 - delta."""
        states, picks = self._chances(randomized=True)
        if expected / self.rounds + picks <= picked / self.rounds:
            return expected / self.rounds, states + picks, "The expected regret is exact."
        return picked / self.rounds, states, "The regret of the lists that were drawn is exact."

    def _chances(self, *, randomized: bool) -> tuple[float, float]:
        lengths = {"length": self.length, "rival_length": self.rival_length}
        return confidence_terms(self.rounds, **lengths, delta=self.delta, randomized=randomized)


def _surrogate(learner: Learner | None, loss: float, rounds: int) -> tuple[float | None, float | None]:
    """R-tilde, and the part of the gap G that can be computed, where the learner counts its surrogate loss."""
    used = None if learner is None else learner.surrogate_loss()
    best = None if learner is None else learner.best_surrogate_loss()
    if used is None or best is None:
        return None, None
    return used - best, (loss - used + best) / rounds


def _nothing_kept(rounds: int, left_out: int) -> list[str]:
    """A run of a single round leaves no list that was built with a learned policy."""
    words = "no list was built with a learned policy while learning (batch_size=1 updates after every state)"
    return [words] if rounds <= left_out else []


def _breaches(
    passes: int, bounded: bool, submodular: bool, discounted: bool, budgeted: bool, per_size: bool
) -> tuple[str, ...]:
    """What the theorem assumes and the run does not keep, in words."""
    found = {
        f"the same states were visited up to {passes} times": passes > 1,
        "the reward is not within [0, 1]": not bounded,
        "the reward is not submodular": not submodular,
        "positions were not weighted by (1 - 1/k)^(m - i)": not discounted,
        "lists had a size budget, which the theorem does not cover": budgeted,
        "gains were learned per size, which the theorem does not cover": per_size and not budgeted,
    }
    return tuple(words for words, broken in found.items() if broken)
