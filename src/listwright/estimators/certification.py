"""Certificates from held-out problems, for anything that builds lists: values, greedy's values, and those of rivals.

`guarantees.held_out` computes the bounds; this module refuses problems that would make them invalid, and fits rivals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright.baselines import MMR, StaticList, TopK
from listwright.errors import InputError
from listwright.evaluation.values import best_of, list_values
from listwright.guarantees.bounds import approximation_ratio
from listwright.guarantees.held_out import NAMES, HeldOutCertificate, HeldOutValues, bound_best_lists, make_certificate
from listwright.problems import Problems
from listwright.rewards import AnySuccess, reward_of
from listwright.rewards.base import PAST_ONE
from listwright.selection import greedy
from listwright.training.round import Ledger, first_gains, states_of
from listwright.walk.constraints import as_budgets, check_problems

DIVERSITIES = tuple(np.linspace(0.0, 0.9, 10).tolist())  # that "mmr" chooses from, by lists for its training problems
SHOWN = 5  # ids that a message names
COPIES = 0.05  # share of problems that equal others from which on a note is due
CHECKED = 200  # problems on which random lists test the laws of a reward

Rivals = Iterable[Any] | Mapping[str, Any]
_CERTIFIED: dict[int, set[int]] = {}  # by content of the held-out problems: the models that were certified on them


@dataclass(frozen=True)
class Certification:
    """How a fitted model is certified: `measure` turns held-out problems into the values that bounds are made of."""

    model: Any
    limits: dict[str, Any]  # length and budget
    rivals: dict[str, Any]  # fitted, by name
    ledger: Ledger | None  # what was learned from; None where a split may have alike problems on both sides

    def measure(self, problems: Problems, clusters: Ints | None = None, weights: Floats | None = None) -> HeldOutValues:
        """Build the lists of all methods and return their values, with what is proved about the best lists."""
        check_problems(problems)
        reward_of(problems, "certify")
        check_each_once(problems)
        dropped: list[str] = []
        if self.ledger is not None:
            problems, near = _without_known(problems, self.ledger)
            clusters = None if clusters is None else clusters[~near]
            weights = None if weights is None else weights[~near]
            dropped = [f"{near.sum()} that nearly equal problems learned from were left out."] * bool(near.any())
        reward = reward_of(problems, "certify")
        lists = self.model.predict(problems, **self.limits)
        values, best_known = list_values(lists, problems), greedy(problems, **self.limits)
        assert best_known.values is not None
        best, broken = self._bound_best(problems, [best_known.rows, lists.rows], best_known)
        bounded = reward.bounded and PAST_ONE not in broken
        unproved = "; ".join(sorted(broken - {PAST_ONE})) if reward.submodular else "this reward is not submodular"
        notes = ["Nothing is claimed against greedy or others: values of this reward may be above 1."] * (not bounded)
        notes += [f"Nothing is claimed against the best lists: {unproved}."] * bool(bounded and unproved)
        others = {name: rival.predict(problems, **self.limits) for name, rival in self.rivals.items()}
        return HeldOutValues(
            values,
            best_known.values,
            {name: list_values(theirs, problems) for name, theirs in others.items()},
            best=None if unproved else best,
            clusters=clusters,
            weights=weights,
            bounded=bounded,
            binary=isinstance(reward, AnySuccess),
            notes=(*notes, *dropped, *(_copies(problems) if clusters is None else ())),
        )

    def measure_more(self, more: Any) -> HeldOutValues:
        """Measure further problems, or those of a frame that is read as the model's own was."""
        return self.measure(self.model._as_problems(more, measured=True))

    def _bound_best(self, problems: Problems, lists: Sequence[Ints], best_known: Any) -> tuple[Floats, set[str]]:
        """Return upper bounds on the best lists, and the laws that these lists and random ones show to be broken."""
        length, budget = self.limits["length"], as_budgets(self.limits["budget"], problems)
        best, broken = bound_best_lists(problems, lists, length=length, budget=budget)
        some, some_budget = problems[:CHECKED], None if budget is None else budget[:CHECKED]
        drawn = _random_lists(some, lists[0].shape[1])
        broken |= bound_best_lists(some, [drawn], length=length, budget=some_budget)[1]
        plain = budget is None and problems.quotas is None
        ratio = approximation_ratio(length, exact=True) if plain and length is not None else best_known.ratio
        return (best if ratio is None else np.minimum(best, best_known.values / ratio)), broken


def certify_model(
    certification: Certification,
    problems: Problems,
    *,
    delta: float,
    clusters: Ints | None = None,
    weights: Floats | None = None,
) -> HeldOutCertificate:
    """Compute the certificate of a fitted model on problems that it has not seen: see `ListEstimator.certify`."""
    measured = certification.measure(problems, clusters, weights)
    measured = replace(measured, notes=(*measured.notes, *_earlier_uses(problems, certification.model)))
    measure = certification.measure_more if clusters is None and weights is None else None
    return make_certificate(measured, delta=delta, **certification.limits, measure=measure)


def certify_best(
    models: Sequence[Any] | Mapping[str, Any],
    held_out: Any,
    delta: float = 0.05,
    *,
    rivals: Rivals = (),
    cluster: Any = None,
    weight: Any = None,
) -> HeldOutCertificate:
    """Certify the best of several models on the problems that it is chosen by.

    The bound of a model that was chosen because its bound was the highest is too high: with 20 models it is wrong in
    about half of all cases. Here the probability of error is shared by all models, so that the bounds of the winner
    hold after choosing.

    Parameters
    ----------
    models : sequence or mapping of fitted models
        The models to choose from; a mapping gives them names.
    held_out : Problems or frame
        Problems with a reward that no model has seen.
    delta : float, default 0.05
        Probability that one of the statements is wrong.
    rivals : sequence or mapping
        Rivals that the winner is compared with, as in `certify`.
    cluster, weight : optional
        Problems that belong together, and their weights, as in `certify`.

    Returns
    -------
    HeldOutCertificate
        Of the model with the highest bound on the mean value; its `winner` is the name or number of that model.

    See Also
    --------
    SCP.certify : Certifies a single model that was not chosen on these problems.

    Examples
    --------
    >>> import listwright as lw
    >>> import numpy as np
    >>> x = np.random.default_rng(0).random((300, 6, 2))
    >>> problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.8))
    >>> models = {
    ...     "learned": lw.SCP(length=2, effort="fast", random_state=0).fit(problems[:100]),
    ...     "random": lw.baselines.Random(2, random_state=0).fit(problems[:100]),
    ... }
    >>> lw.certify_best(models, problems[100:]).winner
    'learned'
    """
    named = dict(models) if isinstance(models, Mapping) else dict(enumerate(models))
    if not named:
        raise InputError("certify_best needs at least one fitted model. Got none.")
    certificates: dict[Any, HeldOutCertificate] = {}
    for name, model in named.items():
        problems = model._as_problems(held_out, measured=True)
        certification = as_certification(model, rivals)
        measured = certification.measure(
            problems, read_clusters(cluster, held_out, problems, model), read_weights(weight, held_out, problems, model)
        )
        certificates[name] = make_certificate(measured, delta=delta, n_models=len(named), **certification.limits)
    best = max(certificates, key=lambda name: certificates[name].value)
    note = f"It is the best of {len(named)} models, and the bounds hold after choosing it."
    return replace(certificates[best], winner=best, notes=(*certificates[best].notes, note))


def as_certification(
    model: Any,
    rivals: Rivals = (),
    *,
    limits: tuple[int | None, Any] | None = None,
    training: Problems | None = None,
    own_split: bool = False,
) -> Certification:
    """Fit the rivals that are only named, and return how the model is certified."""
    asked = dict(zip(("length", "budget"), model._limits() if limits is None else limits, strict=True))
    training = getattr(model, "training_problems_", None) if training is None else training
    run = getattr(model, "training_", None)
    ledger = None if own_split or run is None else run.ledger
    return Certification(model, asked, _fit_rivals(rivals, asked, training), ledger)


def read_clusters(cluster: Any, given: Any, problems: Problems, model: Any) -> Ints | None:
    """Return the number of each problem's cluster, from an array or from a column of the frame that was given."""
    if cluster is None:
        return None
    names = _by_problem(cluster, given, problems, model, "cluster")
    return np.unique(np.asarray([str(name) for name in names]), return_inverse=True)[1].astype(np.int64)


def read_weights(weight: Any, given: Any, problems: Problems, model: Any) -> Floats | None:
    """Return the weight of each problem, from an array or from a column of the frame that was given."""
    if weight is None:
        return None
    weights = np.asarray(_by_problem(weight, given, problems, model, "weight"), dtype=np.float64)
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise InputError("Weights of problems must be finite, 0 or more, and not all 0.")
    return weights


def _by_problem(column: Any, given: Any, problems: Problems, model: Any, what: str) -> Any:
    """Return one entry per problem: of an array, or of a column that is constant within each problem."""
    if not isinstance(column, str):
        if len(column) != len(problems):
            raise InputError(f"{what} needs one entry per problem, {len(problems)}. Got {len(column)}.")
        return column
    if isinstance(given, Problems):
        raise InputError(f"{what}={column!r} names a column, and Problems have none: pass one entry per problem.")
    frame = nw.from_native(given, eager_only=True)
    if column not in frame.columns:
        raise InputError(f"The frame has no column {column!r} for {what}.")
    pairs = set(zip(map(str, frame[model.columns_.problem].to_list()), frame[column].to_list(), strict=True))
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise InputError(f"Column {column!r} differs within a problem, and {what} needs one entry per problem.")
    return [entries[str(name)] for name in problems.problem_ids.tolist()]


def _earlier_uses(problems: Problems, model: Any) -> list[str]:
    """Return a note if other models were certified on the same problems before, and remember this one."""
    states = states_of(problems, first_gains(problems))
    models = _CERTIFIED.setdefault(int((states.seen ^ states.gains).sum(dtype=np.uint64)), set())
    others = len(models - {id(model)})
    models.add(id(model))
    note = (
        f"These problems were used to certify {others} other model{'s' if others > 1 else ''} before: to choose among "
        "them, use certify_best, whose bounds hold after choosing."
    )
    return [note] if others else []


def _copies(problems: Problems) -> list[str]:
    """Return a note if many problems equal others in all that is known of them."""
    states = states_of(problems, first_gains(problems))
    copies = len(problems) - len(np.unique(np.stack([states.seen, states.gains]), axis=1).T)
    note = (
        f"{copies} of these problems equal others in every feature and gain: if they are the same cases, say so with "
        "cluster=, or the bounds are too high."
    )
    return [note] if problems.n_features and copies > COPIES * len(problems) else []


def _random_lists(problems: Problems, length: int) -> Ints:
    """Return random lists of distinct rows, -1 where a problem has no more."""
    rng = np.random.default_rng(0)
    order = np.lexsort((rng.random(problems.n_rows), problems.owners))
    rank = np.arange(problems.n_rows) - np.repeat(problems.offsets[:-1], problems.counts)
    rows = np.full((len(problems), max(length, 1)), -1)
    kept = rank < rows.shape[1]
    rows[problems.owners[kept], rank[kept]] = order[kept]
    return rows


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


def _without_known(problems: Problems, ledger: Ledger) -> tuple[Problems, Bools]:
    """Return the problems that are no near copies of known ones, and which these are; raise where some are the same."""
    states = states_of(problems, first_gains(problems))
    for visits, what in ((ledger.states, "learned from"), (ledger.measured, "used to choose the policy")):
        seen = visits.knows(states)
        if seen.any():
            raise InputError(
                f"{seen.sum()} of these {len(problems)} problems were {what}: {_list_ids(problems, seen)}. A "
                "certificate needs problems that the model has not seen: hold some back before fit, or use "
                "fit(problems, certify=0.2)."
            )
    near = ledger.states.nearly_knows(states) | ledger.measured.nearly_knows(states)
    if near.all():
        raise InputError(f"All {len(problems)} problems nearly equal problems that were learned from.")
    return problems[np.flatnonzero(~near)], near


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
