"""What is certain of a policy's lists, from problems that it has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import e

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.saved import saved_as
from listwright.guarantees.betting import lower_mean, lower_ratio, lower_share

ONE = 1 + 1e-9  # the largest value of a bounded reward, with a hair for rounding
NAMES = {"static": "the best fixed list", "top_k": "sorting by predicted value", "mmr": "MMR with its best diversity"}
BEST_SHARE = 1 - 1 / e  # of the best list's value, that greedy reaches where the reward is monotone and submodular


@saved_as("guarantees.HeldOutCertificate")
@dataclass(frozen=True)
class HeldOutCertificate:
    """Lower confidence bounds on what lists are worth, as `certify` of a fitted model returns them.

    Each bound lies above the truth with a probability of at most `delta`; those of `ahead_of` jointly so. They hold for
    any policy and any way of learning, because the policy never saw these problems. They speak of problems drawn from
    the same source as these ones, independently of each other.

    Attributes
    ----------
    value : float
        Lower bound on the mean value of the lists.
    share_of_greedy : float or None
        Lower bound on that mean as a share of what greedy reaches when it knows the reward of the same problems.
        None where no bound is known: see `notes`.
    ahead_of : dict of str to float
        By rival: lower bound on how much more the lists are worth, on average, than the rival's on the same problems.
    n : int
        Number of problems held out.
    delta : float
        Probability that one of the statements is wrong.
    length : int or None
        Length of the lists, where there is one.
    budget : float or None
        Their budget, where there is one.
    mean, greedy_mean : float
        Mean values seen on the held-out problems, of these lists and of greedy.
    submodular : bool
        Whether the share of greedy carries over to the best list with a factor of 1 - 1/e.
    notes : tuple of str
        What is not claimed, and why.
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

    @property
    def share_of_best(self) -> float | None:
        """Lower bound on the share of the best list's value; None where none is proved (budgets, other rewards)."""
        if self.share_of_greedy is None or not self.submodular or self.budget is not None:
            return None
        return BEST_SHARE * self.share_of_greedy

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
) -> HeldOutCertificate:
    """The certificate from the values of lists on held-out problems, of greedy's and of the rivals' on the same ones.

    `binary` says that the reward itself promises values of 0 and 1, so that the exact binomial bound may be used.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> clicked, sorted_too = rng.random(100) < 0.9, rng.random(100) < 0.6
    >>> certificate_of(clicked, np.ones(100), {"sorting": sorted_too}, delta=0.05, binary=True).value
    0.767...
    """
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
        notes=tuple(notes),
    )


def _ahead(values: Floats, other: Floats, delta: float) -> float:
    """Lower bound on E[value - other], by moving the difference from [-1, 1] to [0, 1]."""
    return 2 * lower_mean((values - np.asarray(other, dtype=np.float64) + 1) / 2, delta) - 1


def _against(name: str, bound: float) -> str:
    name = NAMES.get(name, name)
    if bound >= 0.005:
        return f"at least {_down(bound)} more than {name}"
    return f"at most {-_down_number(bound):.2f} less than {name}"


def _down(number: float, digits: int = 2) -> str:
    """A lower bound is rounded down, so that the printed number holds too."""
    return f"{_down_number(number, digits):.{digits}f}"


def _down_number(number: float, digits: int = 2) -> float:
    return float(np.floor(number * 10**digits) / 10**digits)
