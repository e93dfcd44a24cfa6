"""What a model's lists are worth on problems that it did not learn from, beside those of simple sorting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.parameters import clone
from listwright._internal.progress import report_progress
from listwright._internal.saved import saved_as
from listwright.baselines import TopK
from listwright.baselines.base import lists_by_score, n_steps
from listwright.checks.mistakes import correlations
from listwright.errors import InputError
from listwright.estimators.certification import check_each_once
from listwright.evaluation.values import best_of, list_values
from listwright.features.candidate import feature_names
from listwright.features.scale import dense
from listwright.guarantees.held_out import HeldOutCertificate
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.training.checkpoints import Checkpoints
from listwright.walk.constraints import as_budgets, as_constrained

SHARE = 0.2  # of the problems, that are held out
LONG = 20.0  # seconds of learning, past which nothing is learned once more only to measure it
FEWEST = 5  # problems below which nothing is held out
TRIED = 8  # columns that go with the gains, of which the one with the best lists is taken


def split_held_out(n_problems: int, share: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Split problem numbers at random into those to learn from and those to hold back, both in rising order."""
    if not 0 < share < 1:
        raise InputError(f"certify must be a share between 0 and 1, such as 0.2. Got {share!r}.")
    n_held = max(1, round(share * n_problems))
    if n_held >= n_problems:
        raise InputError(f"certify={share:g} would leave none of {n_problems} problems to learn from.")
    order = rng.permutation(n_problems)
    return np.sort(order[n_held:]), np.sort(order[:n_held])


@saved_as("Measurement")
@dataclass(frozen=True)
class Measurement:
    """Mean values of lists on problems that were not learned from; printing it gives a summary.

    Attributes
    ----------
    value : float
        Of the learned policy's lists.
    ridge_value : float
        Of lists sorted by a ridge regression of the gains.
    column, column_value : str and float, or None
        The column that sorts the learned problems best, and what sorting the others by it is worth.
    n : int
        Problems held out.
    n_learned : int
        Problems learned from.
    certificate : HeldOutCertificate
        What is certain of it.
    own : bool
        Whether the model itself was measured. Otherwise it was a copy that learned from four fifths of the problems.

    See Also
    --------
    SCP : Its attribute `measured_` is one of these.
    listwright.guarantees.HeldOutCertificate : The bounds in `certificate`.

    Examples
    --------
    >>> import numpy as np
    >>> import listwright as lw
    >>> x = np.random.default_rng(0).random((100, 8, 2))
    >>> problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.8))
    >>> measured = lw.SCP(length=2, effort="fast", random_state=0).fit(problems).measured_
    >>> measured.n_learned, measured.n
    (80, 20)
    """

    value: float
    ridge_value: float
    column: str | None
    column_value: float | None
    n: int
    n_learned: int
    certificate: HeldOutCertificate
    own: bool

    @property
    def beats_sorting(self) -> bool:
        """Whether the learned policy's lists are worth more than sorted ones."""
        return self.value > max(self.ridge_value, self.column_value if self.column_value is not None else -np.inf)

    def __str__(self) -> str:
        what = "Measured on" if self.own else f"A trial, learned from {self.n_learned:,} problems and measured on"
        by_column = "" if self.column is None else f"by {self.column!r} {self.column_value:.3f}, "
        told = (
            f"{what} {self.n:,} problems held out: lists are worth {self.value:.3f}; sorting {by_column}by a ridge "
            f"score {self.ridge_value:.3f}."
        )
        if not self.beats_sorting:
            told += " The learned policy does not beat sorting here."
        return f"{told}\n{self.certificate}"


def measure_trial(model: Any, problems: Problems) -> Measurement:
    """Measure a copy of the model that learns from four fifths of the problems."""
    if len(problems) < FEWEST:
        raise AttributeError(f"{len(problems)} problems are too few to hold some out: give at least {FEWEST}.")
    try:
        check_each_once(problems)
    except InputError as error:
        raise AttributeError(str(error)) from None
    learned, held = split_held_out(len(problems), SHARE, np.random.default_rng(0))
    report_progress("a trial on problems held out")
    twin = clone(model).set_params(verbose=0)._fit(problems[learned], Checkpoints())
    return measure_model(twin, problems[learned], problems[held], own=False)


def measure_model(
    model: Any,
    learned: Problems,
    held: Problems,
    certificate: HeldOutCertificate | None = None,
    *,
    own: bool = True,
) -> Measurement:
    """Measure a fitted model, and sorting that learned from the same problems, on problems held out.

    Parameters
    ----------
    model : ListEstimator
        Fitted on `learned`.
    learned, held : Problems
        What the model and the sorting rivals learned from, and what they are measured on.
    certificate : HeldOutCertificate, optional
        Of the model on `held`, where it is known already.
    own : bool
        Whether this is the user's model rather than a copy.
    """
    limits = {"length": None if model.budget is not None else model.length, "budget": model.budget}
    learned, held = (as_constrained(some, None, getattr(model, "per_group", None)) for some in (learned, held))
    values = list_values(model.predict(held), held)
    ridge = TopK(length=model.length).fit(learned).predict(held, **limits, allow_short=True)
    column = _best_column(learned, limits)
    by_column = None if column is None else float(_sorted_values(held, *column, limits).mean())
    return Measurement(
        value=float(values.mean()),
        ridge_value=float(list_values(ridge, held).mean()),
        column=None if column is None else feature_names(learned)[column[0]],
        column_value=by_column,
        n=len(held),
        n_learned=len(learned),
        certificate=model.certify_own_split(held) if certificate is None else certificate,
        own=own,
    )


def _best_column(problems: Problems, limits: dict[str, Any]) -> tuple[int, float] | None:
    """Return the column, and the sign, whose sorted lists are worth most, of the eight that correlate most with the
    gains.
    """
    if not problems.n_features:
        return None
    reward = reward_of(problems)
    along = correlations(problems.features, reward.gains(reward.start(problems)))
    likely = np.argsort(-np.abs(along), kind="stable")[:TRIED]
    signed = [(int(column), -1.0 if along[column] < 0 else 1.0) for column in likely]
    return best_of(signed, lambda one: _sorted_values(problems, *one, limits))


def _sorted_values(problems: Problems, column: int, sign: float, limits: dict[str, Any]) -> Floats:
    """Return the values of lists that are sorted by one column, times a sign."""
    scores: Floats = sign * dense(problems.features[:, [column]])[:, 0].astype(np.float64)
    steps = n_steps(problems, limits["length"], allow_short=True)
    lists = lists_by_score(problems, scores, steps, as_budgets(limits["budget"], problems))
    return list_values(lists, problems)
