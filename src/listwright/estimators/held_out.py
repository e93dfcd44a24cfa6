"""Certificates from held-out problems, for anything that builds lists: values, greedy's values, and those of rivals.

`guarantees.held_out` computes the bounds; this module refuses problems that would make them invalid, and fits rivals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.parameters import clone
from listwright._internal.progress import report_progress
from listwright._internal.saved import saved_as
from listwright.baselines import MMR, StaticList, TopK
from listwright.baselines.base import lists_by_score, n_steps
from listwright.checks.mistakes import correlations
from listwright.errors import InputError
from listwright.evaluation.values import best_of, list_values
from listwright.features.candidate import feature_names
from listwright.features.scale import dense
from listwright.guarantees.held_out import NAMES, HeldOutCertificate, certificate_of
from listwright.problems import Problems
from listwright.rewards import AnySuccess, reward_of
from listwright.selection import greedy
from listwright.training.checkpoints import Checkpoints
from listwright.training.round import Visits, first_gains, states_of
from listwright.walk.constraints import as_budgets, as_constrained, check_problems

DIVERSITIES = tuple(np.linspace(0.0, 0.9, 10).tolist())  # that "mmr" chooses from, by lists for its training problems
SHOWN = 5  # ids that a message names

Rivals = Iterable[Any] | Mapping[str, Any]
SHARE = 0.2  # of the problems, that are held out
LONG = 20.0  # seconds of learning, past which nothing is learned once more only to measure it
FEWEST = 5  # problems below which nothing is held out
TRIED = 8  # columns that go with the gains, of which the one with the best lists is taken


def certify_model(
    model: Any,
    problems: Problems,
    *,
    limits: tuple[int | None, Any],
    delta: float,
    rivals: Rivals,
    training: Problems | None,
    visits: Visits | None,
) -> HeldOutCertificate:
    """Compute the certificate of a fitted model on problems that it has not seen: see `ListEstimator.certify`."""
    check_problems(problems)
    reward, asked = reward_of(problems, "certify"), dict(zip(("length", "budget"), limits, strict=True))
    check_each_once(problems)
    if visits is not None:
        _refuse_known(problems, visits)
    others = {name: rival.predict(problems, **asked) for name, rival in _fit_rivals(rivals, asked, training).items()}
    return certificate_of(
        list_values(model.predict(problems, **asked), problems),
        _best_known(problems, asked),
        {name: list_values(lists, problems) for name, lists in others.items()},
        delta=delta,
        binary=isinstance(reward, AnySuccess),
        submodular=reward.submodular,
        grouped=problems.quotas is not None,
        **asked,
    )


def split_held_out(n_problems: int, share: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Split problem numbers at random into those to learn from and those to hold back, both in rising order."""
    if not 0 < share < 1:
        raise InputError(f"certify must be a share between 0 and 1, such as 0.2. Got {share!r}.")
    n_held = max(1, round(share * n_problems))
    if n_held >= n_problems:
        raise InputError(f"certify={share:g} would leave none of {n_problems} problems to learn from.")
    order = rng.permutation(n_problems)
    return np.sort(order[n_held:]), np.sort(order[:n_held])


def _best_known(problems: Problems, limits: dict[str, Any]) -> Floats:
    """Return the values of greedy lists that are built with the reward in sight."""
    values = greedy(problems, **limits).values
    assert values is not None
    return values


def check_each_once(problems: Problems) -> None:
    """Raise `InputError` where a problem occurs more than once, with the same id: these are no independent draws."""
    states = zip(problems.problem_ids.tolist(), states_of(problems, first_gains(problems)).seen.tolist(), strict=True)
    copies = np.ones(len(problems), dtype=bool)
    copies[list({state: at for at, state in enumerate(states)}.values())] = False
    if copies.any():
        raise InputError(
            f"{copies.sum()} of these {len(problems)} problems occur more than once, with the same id: "
            f"{_list_ids(problems, copies)}. A certificate needs independent problems: pass each once."
        )


def _refuse_known(problems: Problems, visits: Visits) -> None:
    """Raise `InputError` where problems were learned from, by what they contain and whatever their ids."""
    seen = visits.knows(states_of(problems, first_gains(problems)))
    if seen.any():
        raise InputError(
            f"{seen.sum()} of these {len(problems)} problems were learned from: {_list_ids(problems, seen)}. A "
            "certificate needs problems that the model has not seen: hold some back before fit, or use "
            "fit(problems, certify=0.2)."
        )


def _list_ids(problems: Problems, some: Bools) -> str:
    """List the first ids of the flagged problems, and how many more there are."""
    ids = [str(name) for name in problems.problem_ids[some]]
    return ", ".join(ids[:SHOWN]) + (f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else "")


def _fit_rivals(rivals: Rivals, limits: dict[str, Any], training: Problems | None) -> dict[str, Any]:
    """Return the rivals by name; those that are only named are fitted on the training problems."""
    if isinstance(rivals, str):
        raise InputError(f"rivals must be several, such as [{rivals!r}]. Got {rivals!r}.")
    given = dict(rivals) if isinstance(rivals, Mapping) else _name_rivals(rivals)
    return {
        name: _fit_rival(rival, limits, training) if isinstance(rival, str) else rival for name, rival in given.items()
    }


def _name_rivals(rivals: Iterable[Any]) -> dict[str, Any]:
    """Names rivals by their class; further models of a class get a number."""
    found: dict[str, Any] = {}
    for rival in rivals:
        name = _name(rival)
        count = 1 + sum(other == name or other.startswith(f"{name} ") for other in found)
        found[name if count == 1 or isinstance(rival, str) else f"{name} {count}"] = rival
    return found


def _name(rival: Any) -> str:
    """Return the name of one rival, or raises `InputError` if it can neither be looked up nor predict."""
    if isinstance(rival, str) or hasattr(rival, "predict"):
        return rival if isinstance(rival, str) else type(rival).__name__
    raise InputError(f"A rival is one of {', '.join(NAMES)}, or a fitted model. Got {rival!r:.60}.")


def _fit_rival(name: str, limits: dict[str, Any], training: Problems | None) -> Any:
    """Fit the rival of a name on the training problems; "mmr" gets the diversity with the best lists there."""
    if name not in NAMES:
        raise InputError(f"A rival is one of {', '.join(NAMES)}, or a fitted model. Got {name!r}.")
    if training is None:
        raise InputError(
            f"The rival {name!r} learns from the training problems, and this model no longer has them. Pass training=, "
            "or a rival that is fitted."
        )
    length = limits["length"] or 1
    if name == "mmr":
        tried = [MMR(diversity, relevance="ridge", length=length).fit(training) for diversity in DIVERSITIES]
        return best_of(tried, lambda rival: list_values(rival.predict(training, **limits), training))
    return (StaticList(length) if name == "static" else TopK(length=length)).fit(training)


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
