"""The certificate of a run, from the sums that were kept while learning."""

from __future__ import annotations

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
    delta: float = 0.05,
    bounded: bool = True,
    submodular: bool = True,
    discounted: bool = True,
    budgeted: bool = False,
    per_size: bool = False,
) -> Certificate:
    """The certificate of a run.

    Learners over a finite class know their regret exactly. Any other regret R, the sum of l_t(pi_t) less that of the
    best policy, is at most the sum of l_t(pi_t), since costs are 0 or more. The paper's Corollary 3 splits R into the
    surrogate's regret R-tilde and T times the gap G; that holds by the definition of G whatever the surrogate and its
    scale, so the split is reported, and the bound is the same. Where the learner knows only a lower bound on its best
    loss in hindsight, the reported R-tilde is an upper bound, and the gap makes up the difference.

    Parameters
    ----------
    learner : the learner after the run; None where only the sums are known.
    rounds, loss, value : states visited, and sums over them of l_t(pi_t) and f(L_t).
    passes : how often the same states were visited.
    bounded, submodular : whether the reward is within [0, 1], and submodular.
    discounted : whether positions were weighted by (1 - 1/k)^(m - i).
    budgeted : whether lists had a size budget in place of a length.
    per_size : whether gains were learned per size.

    >>> print(certify(rounds=20_000, loss=1000.0, value=14_000.0, length=3))
    With probability 0.95, lists of 3 from the mixture of all rounds' policies are worth at least 0.632 times the best
    list of 3 policies, less 0.085. They are worth at least 0.691 with the same probability. Over 20,000 states the
    average regret was at most 0.050 and the lists were worth 0.700. This takes the states to be independent draws,
    each visited once.
    >>> print(certify(rounds=20_000, loss=1000.0, value=14_000.0, length=3, passes=2))
    No guarantee: the same states were visited 2 times (n_passes=1 visits each once). Over 20,000 states ...
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
        value_seen=value / rounds,
        regret_bound_used=average,
        confidence_term=confidence,
        expected_regret=None if experts is None else experts.expected_regret(),
        regret=None if experts is None else experts.regret(),
        surrogate_regret=surrogate,
        surrogate_gap=gap,
        breaches=_breaches(passes, bounded, submodular, discounted, budgeted, per_size),
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


def _breaches(
    passes: int, bounded: bool, submodular: bool, discounted: bool, budgeted: bool, per_size: bool
) -> tuple[str, ...]:
    """What the theorem assumes and the run does not keep, in words."""
    found = {
        f"the same states were visited {passes} times (n_passes=1 visits each once)": passes > 1,
        "the reward is not within [0, 1]": not bounded,
        "the reward is not submodular": not submodular,
        "positions were not weighted by (1 - 1/k)^(m - i)": not discounted,
        "lists had a size budget, which the theorem does not cover": budgeted,
        "gains were learned per size, which the theorem does not cover": per_size and not budgeted,
    }
    return tuple(words for words, broken in found.items() if broken)
