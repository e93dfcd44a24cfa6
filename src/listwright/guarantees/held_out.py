"""Lower confidence bounds on the value of a policy's lists, from problems that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import e

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.saved import saved_as
from listwright.guarantees.betting import lower_mean, lower_ratio, lower_share

ONE = 1 + 1e-9  # the largest value of a bounded reward, with a tolerance for rounding
NAMES = {"static": "the best fixed list", "top_k": "sorting by predicted value", "mmr": "MMR with its best diversity"}
# What greedy reaches of the best list's value where the reward is monotone and submodular: with a length, and with
# limits on groups beside it, which form a matroid (Fisher, Nemhauser & Wolsey 1978).
BEST_SHARE, GROUPED_SHARE = 1 - 1 / e, 0.5


@saved_as("guarantees.HeldOutCertificate")
@dataclass(frozen=True)
class HeldOutCertificate:
    """Lower confidence bounds on what lists are worth, as returned by `certify` of a fitted model.

    Each bound lies above the truth with a probability of at most `delta`; those of `ahead_of` do so jointly. They hold
    for any policy and any way of learning, because the policy never saw these problems. They are about problems drawn
    independently from the same source, and do not cover data that change over time.

    Attributes
    ----------
    value : float
        Lower bound on the mean value of the lists.
    share_of_greedy : float or None
        Lower bound on that mean as a share of what greedy reaches when it knows the reward of the same problems. None
        if no bound is known: see `notes`.
    ahead_of : dict of str to float
        By rival: lower bound on how much more the lists are worth, on average, than the rival's on the same problems.
    n : int
        Number of held-out problems.
    delta : float
        Probability that one of the statements is wrong.
    length : int or None
        Length of the lists, if it is fixed.
    budget : float or None
        Budget of the lists, if they have one.
    mean, greedy_mean : float
        Mean values seen on the held-out problems, of these lists and of greedy.
    submodular : bool
        Whether the share of greedy carries over to the best list with a factor of 1 - 1/e.
    grouped : bool
        Whether lists hold at most so many items of a group: then that factor is 1/2.
    notes : tuple of str
        What is not claimed, and why.

    See Also
    --------
    Certificate : What the paper's theorems say about an online run, without held-out problems.
    lower_mean : The bound on a mean.

    Examples
    --------
    >>> certificate = HeldOutCertificate(value=0.767, share_of_greedy=0.81, ahead_of={"mmr": 0.1}, n=100, delta=0.05)
    >>> print(certificate)
    On problems like these 100, with 95 % confidence: lists are worth at least 0.76; at least 81 % of what greedy gets
    when it knows the reward; at least 0.10 more than MMR with its best diversity.
    """

    value: float
    share_of_greedy: float | None
    ahead_of: dict[str, float]
    n: int
    delta: float
    length: int | None = None
    budget: float | None = None
    mean: float = float("nan")
    greedy_mean: float = float("nan")
    submodular: bool = True
    notes: tuple[str, ...] = field(default=())
    grouped: bool = False

    @property
    def share_of_best(self) -> float | None:
        """Lower bound on the share of the best list's value; None if none is proved (budgets, rewards that are not
        submodular).
        """
        if self.share_of_greedy is None or not self.submodular or self.budget is not None:
            return None
        return (GROUPED_SHARE if self.grouped else BEST_SHARE) * self.share_of_greedy

    def __str__(self) -> str:
        parts = [f"lists are worth at least {_down(self.value)}"]
        if self.share_of_greedy is not None:
            share = f"at least {_down(100 * self.share_of_greedy, 0)} % of what greedy gets when it knows the reward"
            parts.append(share)
        parts += [_against(name, bound) for name, bound in self.ahead_of.items()]
        those = "this one" if self.n == 1 else f"these {self.n:,}"
        text = f"On problems like {those}, with {100 * (1 - self.delta):g} % confidence: {'; '.join(parts)}."
        return " ".join([text, *self.notes])


def certificate_of(
    values: Floats,
    greedy: Floats,
    rivals: Mapping[str, Floats],
    *,
    delta: float,
    binary: bool,
    length: int | None = None,
    budget: float | None = None,
    submodular: bool = True,
    grouped: bool = False,
) -> HeldOutCertificate:
    """Make the certificate from values on held-out problems: of the lists, of greedy's lists and of the rivals'."""
    values = np.asarray(values, dtype=np.float64)
    others = {"greedy": greedy} | dict(rivals)
    tops = {name: float(np.max(other, initial=values.max())) for name, other in others.items()}
    notes = [
        f"Nothing is claimed against {name}: a list is worth {top:.3g}, and the bound needs values up to 1."
        for name, top in tops.items()
        if top > ONE
    ]
    share = None
    if tops["greedy"] <= ONE and np.mean(greedy) > 0:
        share = min(1.0, lower_ratio(values, np.clip(greedy, 0.0, 1.0), delta))
    exact = binary and bool(np.isin(values, (0.0, 1.0)).all())
    return HeldOutCertificate(
        value=lower_share(int(values.sum()), len(values), delta) if exact else lower_mean(values, delta),
        share_of_greedy=share,
        ahead_of={
            name: _ahead(values, other, delta / len(rivals)) for name, other in rivals.items() if tops[name] <= ONE
        },
        n=len(values),
        delta=delta,
        length=length,
        budget=budget,
        mean=float(values.mean()),
        greedy_mean=float(np.mean(greedy)),
        submodular=submodular,
        grouped=grouped,
        notes=tuple(notes),
    )


def _ahead(values: Floats, other: Floats, delta: float) -> float:
    """Lower bound on E[value - other], by mapping the difference from [-1, 1] to [0, 1]."""
    return 2 * lower_mean((values - np.asarray(other, dtype=np.float64) + 1) / 2, delta) - 1


def _against(name: str, bound: float) -> str:
    """Return the words that compare the lists with one rival; small or negative bounds read "at most ... less"."""
    name = NAMES.get(name, name)
    if bound >= 0.005:
        return f"at least {_down(bound)} more than {name}"
    return f"at most {-_down_number(bound):.2f} less than {name}"


def _down(number: float, digits: int = 2) -> str:
    """Format a lower bound rounded down, so that the printed number holds too."""
    return f"{_down_number(number, digits):.{digits}f}"


def _down_number(number: float, digits: int = 2) -> float:
    """Round down to the given number of decimals."""
    return float(np.floor(number * 10**digits) / 10**digits)
