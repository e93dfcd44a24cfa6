"""Chooses between ways to learn by the value of lists that are built out of fold: the one-standard-error rule of
`evaluation.choice`.

`choose` tries the ways of `menu` in order; its `Report` and `Trial` records become the attributes `report_` and
`trials_` of `SCP`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.progress import report_progress
from listwright._internal.saved import saved_as
from listwright.estimators.ways import CandidateMethod
from listwright.evaluation.choice import best_of, highest, paired, simplest
from listwright.problems import Problems


@saved_as("Trial")
class Trial(NamedTuple):
    """How one way to learn did.

    Attributes
    ----------
    name : str
        The way to learn.
    value : float
        Mean value of its lists over the training problems, each built by what was learned without its fold; over all
        lengths up to the one asked for, as lists are used at any of them. Under a budget, of the whole list.
    behind : float
        How far its mean is behind that of the best way.
    error : float
        Standard error of that difference, problem by problem.
    sorts : bool
        Whether it sorts the candidates without looking at the list.

    See Also
    --------
    Report : The method that was chosen.

    Examples
    --------
    >>> Trial("linear", value=0.81, behind=0.01, error=0.012, sorts=False).value
    0.81
    """

    name: str
    value: float
    behind: float
    error: float
    sorts: bool


@saved_as("Report")
@dataclass(frozen=True)
class Report:
    """The way to learn that was chosen, why, and how far ahead of sorting it is.

    Attributes
    ----------
    chosen, value : str, float
        The way to learn, and the mean value of its lists out of fold.
    best, best_value : str, float
        The same for the way with the highest mean.
    lead, lead_error : float
        How far the best is ahead of the chosen one, and the standard error of that.
    sorting, ahead, ahead_error : str, float, float
        The best of the ways that only sort, how far the chosen one is ahead of it, and the standard error of that.
    untried : tuple of str
        Ways that would have taken more than the time limit.

    See Also
    --------
    Trial : The result of one method.
    SCP : `effort="auto"` makes the choice.

    Examples
    --------
    >>> report = Report("linear", 0.81, "boosted trees", 0.82, 0.01, 0.012, "one column", 0.09, 0.02)
    >>> print(report)
    Chosen: linear, whose lists are worth 0.810 out of fold. The best was boosted trees with 0.820, ahead by less
    than one standard error (0.012), which is too little to prefer it. Ahead of sorting (one column) by 0.090,
    standard error 0.020.
    """

    chosen: str
    value: float
    best: str
    best_value: float
    lead: float
    lead_error: float
    sorting: str = ""
    ahead: float = 0.0
    ahead_error: float = 0.0
    untried: tuple[str, ...] = ()

    def __str__(self) -> str:
        told = [f"Chosen: {self.chosen}, whose lists are worth {self.value:.3f} out of fold."]
        if self.best != self.chosen:
            told.append(
                f"The best was {self.best} with {self.best_value:.3f}, ahead by less than one standard error "
                f"({self.lead_error:.3f}), which is too little to prefer it."
            )
        if self.sorting and self.sorting != self.chosen:
            told.append(
                f"Ahead of sorting ({self.sorting}) by {self.ahead:.3f}, standard error {self.ahead_error:.3f}."
            )
        elif self.sorting:
            told.append("No method that looks at the list was clearly ahead of sorting.")
        if self.untried:
            told.append(f"Left out because of the time limit: {', '.join(self.untried)}.")
        return fill(" ".join(told), 110)


class Chosen(NamedTuple):
    """The way to learn that was chosen, and the record of how it was found; no trials where there was no choice."""

    way: CandidateMethod
    trials: list[Trial]
    report: Report | None


def choose(ways: Sequence[CandidateMethod], problems: Problems, *, time_limit: float | None = None) -> Chosen:
    """Return the first way whose lists are worth no less than those of the best, within one standard error."""
    if len(ways) < 2 or len(problems) < 2:
        return Chosen(ways[0], [], None)
    left = np.inf if time_limit is None else time_limit
    values: dict[CandidateMethod, Floats] = {}
    for way in ways:
        seconds = way.seconds(problems)
        if values and seconds > left:
            continue
        left -= seconds
        report_progress(f"trying {way.name}")
        values[way] = way.values(problems)
    at = simplest(list(values.values()))
    untried = tuple(way.name for way in ways if way not in values)
    return Chosen(list(values)[at], _trials(values), _report(values, at, untried))


def _trials(values: dict[CandidateMethod, Floats]) -> list[Trial]:
    """Compare each way with the best, problem by problem."""
    found = list(values.values())
    best = found[highest(found)]
    return [Trial(way.name, float(one.mean()), *paired(best, one), way.sorts) for way, one in values.items()]


def _report(values: dict[CandidateMethod, Floats], at: int, untried: tuple[str, ...]) -> Report:
    """Describe the choice: the chosen way, the best one, and the best of those that only sort."""
    names, found = [way.name for way in values], list(values.values())
    best = highest(found)
    sorting = [i for i, way in enumerate(values) if way.sorts]
    told = (names[at], float(found[at].mean()), names[best], float(found[best].mean()), *paired(found[best], found[at]))
    if not sorting:
        return Report(*told, untried=untried)
    rival = best_of(sorting, lambda i: found[i])
    return Report(*told, names[rival], *paired(found[at], found[rival]), untried)
