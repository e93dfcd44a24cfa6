"""Certificates from held-out problems: what would make the bounds of `guarantees.held_out` invalid is refused here."""

from __future__ import annotations

import copy
import zlib
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from listwright._internal.arrays import Bools, Floats, Hashes, Ints, as_numbers
from listwright.baselines import MMR, StaticList, TopK
from listwright.errors import InputError
from listwright.estimators.measurement import DIVERSITIES
from listwright.evaluation.values import best_of, list_values
from listwright.frames.arrays import group_rows
from listwright.frames.frame import as_table
from listwright.guarantees.bounds import approximation_ratio
from listwright.guarantees.held_out import (
    COPIES,
    LEFT_OUT,
    NAMES,
    HeldOutCertificate,
    HeldOutValues,
    bound_best_lists,
    make_certificate,
)
from listwright.problems import Problems
from listwright.rewards import AnySuccess, Function, Reward, WeightedProblems, reward_of
from listwright.rewards.base import PAST_ONE
from listwright.selection import greedy
from listwright.training.round import (
    STEP,
    Ledger,
    States,
    first_gains,
    near_pairs,
    part_keys,
    sketches,
    states_of,
)
from listwright.walk.constraints import as_budgets, as_constrained, check_problems

SHOWN = 5  # ids that a message names
REMEMBERED, ALIKE = 64, 0.3  # certificates that are remembered, and the share of either's problems that is noticed
ROUNDING = 1e-6  # by which values may miss the range from 0 to 1
MASK = (1 << 64) - 1
OWN_REWARD = "It takes your reward to be as seen here on all problems: {}."
SAME_CONSTRAINTS = "Greedy, the best lists and rivals keep to the same constraints."
UNKNOWN = "It is not known here what the model learned from: it takes these problems to be new to it."
DRAWN = "predict draws at random for each list of a call: it is about the mean over such draws, not about one of them."
OWN_RIVAL = "It is not certain how good {} is on new problems, because it learned from some of these."
SAME_ID = "part of this certificate already, with the same id. Pass each once; other draws need ids of their own."
SAME_CLUSTER = (
    "of clusters that are part of this certificate already, and these are no new draws. Leave them out, or call "
    "certify again with all problems."
)
NEAR_COPIES = (
    "equal to others in every feature and gain, or nearly, and copies are no new draws. If they are different "
    "cases, say so in certify and here with cluster=, and an entry for each."
)
CHECKED = 200  # random lists that test the laws of a reward

Rivals = Iterable[Any] | Mapping[str, Any]
# What held-out problems contained, and a key of the certificate that was made from them.
_CERTIFIED: deque[tuple[Hashes, int]] = deque(maxlen=REMEMBERED)


@dataclass(frozen=True)
class Certification:
    """How a fitted model is certified: `measure` turns held-out problems into the values that bounds are made of."""

    model: Any
    limits: dict[str, Any]  # length and budget
    rivals: dict[str, Any]  # fitted, by name
    ledger: Ledger | None  # what was learned from; None where that is not known
    per_group: Any = None  # quotas asked for; else those of the problems or of the model
    own_split: bool = False  # whether `fit` held the problems back, so that alike ones may be on both sides
    earlier: Draws | None = None  # of the certificate that goes on
    left_out: int = 0  # problems that it did not count

    def measure(self, problems: Problems, names: Hashes | None = None, weights: Floats | None = None) -> HeldOutValues:
        """Build the lists of all methods and return their values, with what is proved about the best lists."""
        problems = as_constrained(problems, self.per_group, getattr(self.model, "per_group", None))
        check_problems(problems)
        reward_of(problems, "certify")
        states, kept = check_each_once(problems), np.arange(len(problems))
        notes: list[str] = [SAME_CONSTRAINTS] * (problems.quotas is not None)
        notes += [DRAWN] * (not getattr(getattr(self.model, "policy_", None), "certain", True))
        if self.ledger is None:
            notes += [UNKNOWN] * self.model._learns(problems)
        elif self.own_split:
            notes += _repeats(problems, states, self.ledger)
        else:
            kept = np.flatnonzero(~_nearly_known(problems, states, self.ledger))
        left_out = self.left_out + len(problems) - len(kept)
        if left_out:
            notes.append(f"{LEFT_OUT}: {left_out} that nearly equal training problems.")
        notes += [] if self.own_split else self._note_rivals(states.take(kept))
        # In an order of their own: what predict draws goes by place, and places may have been chosen.
        kept = kept[np.argsort(_content_keys(states)[kept], kind="stable")]
        problems, states = problems[kept], states.take(kept)
        names = None if names is None else names[kept]
        weights = None if weights is None else weights[kept]
        problems, weights = _split_off_weights(problems, weights)
        draws = Draws.of(problems, states, STEP if self.ledger is None else self.ledger.states.tolerance, names)
        every = draws if self.earlier is None else self.earlier.join(draws)
        further = (
            replace(self, own_split=False, earlier=every, left_out=left_out).measure_more if weights is None else None
        )
        clusters: Ints | None = None
        if names is None and weights is None:
            clusters, weights, copies = draws.copies()
            notes += copies
            further = None if copies else further
            if copies and self.earlier is not None:
                raise InputError(f"Some of these {len(problems)} problems are {NEAR_COPIES}")
        else:
            clusters = None if names is None else np.unique(names, return_inverse=True)[1].astype(np.int64)
            notes.append(_weighing(weights))
        keys = _content_keys(states)
        measured, laws = self._measure_lists(problems, zlib.crc32(keys.tobytes()))
        measured = replace(measured, keys=keys, further=further, notes=(*laws, *notes))
        return replace(measured, clusters=clusters, weights=weights)

    def _note_rivals(self, states: States) -> list[str]:
        ledgers = {NAMES.get(name, name): _ledger_of(rival) or Ledger() for name, rival in self.rivals.items()}
        return [OWN_RIVAL.format(name) for name, ledger in ledgers.items() if ledger.states.knows(states).any()]

    def _measure_lists(self, problems: Problems, seed: int) -> tuple[HeldOutValues, list[str]]:
        """Return the values of all methods' lists, and notes on what the reward does not allow to claim."""
        # What `predict` draws depends on the problems: draws that were the same in each call would be no sample of all.
        reward = reward_of(problems)
        model, *rivals = (_snapshot(each, random_state=seed) for each in (self.model, *self.rivals.values()))
        lists = model.predict(problems, **self.limits)
        method = "lazy" if reward.submodular and not is_own(reward) else "naive"
        values, best_known = list_values(lists, problems), greedy(problems, **self.limits, method=method)
        if values.min() < -ROUNDING:
            raise InputError(
                f"A certificate needs lists that are worth 0 or more. Got {values.min():g} for problem "
                f"{problems.problem_ids[values.argmin()]}: add a constant to the reward if it can be negative."
            )
        of_greedy = best_known.values
        assert of_greedy is not None
        best, broken = self._bound_best(problems, [best_known.rows, lists.rows], best_known)
        others = {
            name: list_values(rival.predict(problems, **self.limits), problems)
            for name, rival in zip(self.rivals, rivals, strict=True)
        }
        past_one = max((theirs.max() for theirs in others.values()), default=0.0) > 1 + ROUNDING
        bounded = reward.bounded and PAST_ONE not in broken and not past_one
        unproved = "; ".join(sorted(broken - {PAST_ONE})) if reward.submodular else "this reward is not submodular"
        notes = ["Nothing is claimed against greedy or others: values of this reward may be above 1."] * (not bounded)
        notes += [f"Nothing is claimed against the best lists: {unproved}."] * bool(bounded and unproved)
        assumed = "from 0 to 1" + ", with gains that never rise" * (not unproved) if bounded else "0 or more"
        notes += [OWN_REWARD.format(assumed)] * is_own(reward)
        is_best = type(reward) is AnySuccess and self.limits["budget"] is None and problems.quotas is None
        measured = HeldOutValues(
            np.maximum(values, 0.0),
            of_greedy,
            others,
            best=None if unproved else of_greedy if is_best else best,
            bounded=bounded,
            binary=isinstance(reward, AnySuccess),
        )
        return measured, notes

    def measure_more(self, more: Any, cluster: Any = None) -> HeldOutValues:
        problems = self.model._as_problems(more, measured=True)
        if isinstance(problems.reward, WeightedProblems):
            raise InputError("This certificate was made without weights, and these problems have some.")
        return self.measure(problems, *read_draws(cluster, None, more, problems, self.model))

    def _bound_best(self, problems: Problems, lists: Sequence[Ints], best_known: Any) -> tuple[Floats, set[str]]:
        """Return upper bounds on the best lists, and the laws that these lists and random ones show to be broken."""
        length, budget = self.limits["length"], as_budgets(self.limits["budget"], problems)
        best, broken = bound_best_lists(problems, lists, length=length, budget=budget)
        some, some_budget = problems[:CHECKED], None if budget is None else budget[:CHECKED]
        rng = np.random.default_rng(0)
        rounds = -(-CHECKED // len(some)) if is_own(problems.reward) else 1
        drawn = [_random_lists(some, lists[0].shape[1], rng) for _ in range(rounds)]
        broken |= bound_best_lists(some, drawn, length=length, budget=some_budget)[1]
        plain = budget is None and problems.quotas is None
        ratio = approximation_ratio(length, exact=True) if plain and length is not None else best_known.ratio
        return (best if ratio is None else np.minimum(best, best_known.values / ratio)), broken


@dataclass(frozen=True)
class Draws:
    """What tells the problems of a certificate apart: copies of one another are no new draws."""

    named: Hashes  # of what each contains, with its id
    sketches: Floats
    parts: Hashes  # of what each contains roughly, without one of its candidates, and with all
    owners: Ints  # the problem of each part
    tolerance: float
    clusters: Hashes | None

    @classmethod
    def of(cls, problems: Problems, states: States, tolerance: float, clusters: Hashes | None) -> Draws:
        contents = zip(map(str, problems.problem_ids), _content_keys(states).tolist(), strict=True)
        named = np.array([hash(pair) & MASK for pair in contents], dtype=np.uint64)
        if not problems.n_features:  # nothing but gains, which many problems have in common
            return cls(named, named[:, None].astype(np.float64), named[:0], np.zeros(0, np.int64), 0.0, clusters)
        parts = part_keys(problems, first_gains(problems))
        return cls(named, sketches(states.coarse), *parts, tolerance, clusters)

    def copies(self) -> tuple[Ints | None, Floats | None, list[str]]:
        """Return clusters of problems that nearly equal each other or others that do, unless there are hardly any."""
        n = len(self.named)
        unique, which = np.unique(self.sketches, axis=0, return_inverse=True)
        parts = n + len(unique) + np.unique(self.parts, return_inverse=True)[1].reshape(-1)
        near = n + np.array(near_pairs(unique, unique, self.tolerance))
        edges = np.hstack([[np.arange(n), n + which.reshape(-1)], near, [self.owners, parts]])
        graph = sparse.coo_array((np.ones(edges.shape[1]), tuple(edges)), shape=(edges.max() + 1,) * 2)
        kinds, clusters = np.unique(csgraph.connected_components(graph, directed=False)[1][:n], return_inverse=True)
        copies = n - len(kinds)
        if copies <= COPIES * n:
            return None, None, []
        note = (
            f"{copies} of these problems equal others in every feature and gain, or nearly, and count as a single "
            "draw, which takes none to have more copies than those here. If they are different cases, say so with "
            "cluster= and an entry of its own for each."
        )
        return clusters.astype(np.int64), np.ones(n), [note]

    def join(self, later: Draws) -> Draws:
        """Return all draws; raise `InputError` where problems or clusters were here before."""
        near = np.zeros(len(later.named), dtype=bool)
        same_cluster, clusters = near[:0], None
        if self.clusters is not None and later.clusters is not None:
            same_cluster = np.isin(later.clusters, self.clusters, kind="sort")
            clusters = np.concatenate([self.clusters, later.clusters])
        else:
            near[near_pairs(later.sketches, np.unique(self.sketches, axis=0), self.tolerance)[0]] = True
            near[later.owners[np.isin(later.parts, self.parts, kind="sort")]] = True
            near &= near.mean() > COPIES
        for repeated, words in (
            (np.isin(later.named, self.named, kind="sort"), SAME_ID),
            (same_cluster, SAME_CLUSTER),
            (near, NEAR_COPIES),
        ):
            if repeated.any():
                raise InputError(f"{repeated.sum()} of these {len(near)} problems are {words}")
        joint = ((getattr(self, name), getattr(later, name)) for name in ("named", "sketches", "parts", "owners"))
        named, rough, parts, owners = (np.concatenate(pair) for pair in joint)
        return Draws(named, rough, parts, owners, self.tolerance, clusters)


def certify_model(
    certification: Certification,
    problems: Problems,
    names: Hashes | None = None,
    weights: Floats | None = None,
    *,
    delta: float,
) -> HeldOutCertificate:
    measured = certification.measure(problems, names, weights)
    certificate = make_certificate(measured, delta=delta, **certification.limits)
    return with_earlier_uses(certificate, measured)


def certify_best(
    models: Sequence[Any] | Mapping[str, Any],
    held_out: Any,
    delta: float = 0.05,
    *,
    rivals: Rivals = (),
    training: Problems | None = None,
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
    training : Problems, optional
        As in `certify`; by default those of each model or, where it has none, of the first that has some.
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
    if hasattr(models, "predict"):
        raise InputError("certify_best takes several models, [one, another]. For a single model, call its certify.")
    named = dict(models) if isinstance(models, Mapping) else dict(enumerate(models))
    if not named:
        raise InputError("certify_best needs at least one fitted model. Got none.")
    certificates: dict[Any, tuple[HeldOutCertificate, HeldOutValues]] = {}
    for name, model in named.items():
        problems = model._as_problems(held_out, measured=True)
        known = [training, *(getattr(one, "training_problems_", None) for one in (model, *named.values()))]
        learned = next((some for some in known if some is not None), None)
        certification = as_certification(model, rivals, training=learned)
        measured = certification.measure(problems, *read_draws(cluster, weight, held_out, problems, model))
        made = make_certificate(
            replace(measured, further=None), delta=delta, n_models=len(named), **certification.limits
        )
        certificates[name] = made, measured
    best = max(certificates, key=lambda name: certificates[name][0].value)
    certificate = with_earlier_uses(*certificates[best])
    note = f"It is the best of {len(named)} models, and the bounds hold after choosing it."
    return replace(certificate, winner=best, notes=(*certificate.notes, note))


def as_certification(
    model: Any,
    rivals: Rivals = (),
    *,
    limits: tuple[int | None, Any] | None = None,
    per_group: Any = None,
    training: Problems | None = None,
    own_split: bool = False,
) -> Certification:
    asked = dict(zip(("length", "budget"), model._limits() if limits is None else limits, strict=True))
    if np.ndim(asked["budget"]):
        raise InputError("A certificate is about one budget for all problems. Got one for each.")
    training = getattr(model, "training_problems_", None) if training is None else training
    fitted = {name: _snapshot(rival) for name, rival in _fit_rivals(rivals, asked, training).items()}
    return Certification(_snapshot(model), asked, fitted, _ledger_of(model), per_group, own_split)


def _ledger_of(model: Any) -> Ledger | None:
    """Return what a model, or a baseline, learned from; None where that is not known."""
    run, training = getattr(model, "training_", None), getattr(model, "training_problems_", None)
    if run is not None or not isinstance(training, Problems):
        return getattr(run, "ledger", None)
    ledger = Ledger()
    ledger.states.add(states_of(training, first_gains(training)))
    return ledger


def _snapshot(model: Any, **changes: Any) -> Any:
    """Return a copy that stays as it is when the model learns again, with changes of attributes that it has."""
    kept = copy.copy(model)
    vars(kept).update(vars(model) | {name: value for name, value in changes.items() if name in vars(model)})
    return kept


def read_draws(
    cluster: Any, weight: Any, given: Any, problems: Problems, model: Any
) -> tuple[Hashes | None, Floats | None]:
    """Return hashes of the clusters' names and the weights, by problem: from arrays, or columns of the frame given."""
    clusters = weights = None
    if cluster is not None:
        entries = np.asarray(_by_problem(cluster, given, problems, model, "cluster")).tolist()
        names = [_as_whole(entry) for entry in entries]
        if None in names:
            raise InputError(
                f"cluster has no entry for {names.count(None)} of {len(names)} problems, such as "
                f"{problems.problem_ids[names.index(None)]}. Give each a cluster of its own, or leave it out."
            )
        clusters = np.array([hash(str(name)) & MASK for name in names], dtype=np.uint64)
    if weight is not None:
        name = f"Column {weight!r} for weight" if isinstance(weight, str) else "weight"
        weights = as_numbers(_by_problem(weight, given, problems, model, "weight"), name)
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise InputError("Weights of problems must be finite, 0 or more, and not all 0.")
    return clusters, weights


def _as_whole(name: Any) -> Any:
    """Return 7 for 7.0: the same cluster in a column that has missing values elsewhere; and None for these."""
    if not isinstance(name, str) and str(name) in {"None", "nan", "NaT", "<NA>"}:
        return None
    return int(name) if isinstance(name, float) and name.is_integer() else name


def _by_problem(column: Any, given: Any, problems: Problems, model: Any, what: str) -> Any:
    """Return one entry per problem: of an array, or of a column that is constant within each problem."""
    if not isinstance(column, str):
        if len(column) != len(problems):
            raise InputError(f"{what} needs one entry per problem, {len(problems)}. Got {len(column)}.")
        return column
    if isinstance(given, Problems):
        raise InputError(f"{what}={column!r} names a column, and Problems have none: pass one entry per problem.")
    frame = nw.from_native(given)
    if column not in frame.collect_schema().names():
        raise InputError(f"The frame has no column {column!r} for {what}.")
    table = as_table(frame.select(list(dict.fromkeys([model.columns_.problem, column]))).to_native())
    owners, values = group_rows(table, model.columns_.problem).codes.tolist(), table.column(column, what).to_pylist()
    pairs = set(zip(owners, map(_as_whole, values), strict=True))
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise InputError(f"Column {column!r} differs within a problem, and {what} needs one entry per problem.")
    return [entries[number] for number in range(len(problems))]


def with_earlier_uses(certificate: HeldOutCertificate, measured: HeldOutValues) -> HeldOutCertificate:
    assert measured.keys is not None
    problems, made = measured.keys, hash((repr(replace(certificate, notes=())), measured.values.tobytes()))
    pairs = (((problems, known), key) for known, key in _CERTIFIED)
    before = {
        key
        for (new, old), key in pairs
        if max(np.isin(new, old, kind="sort").mean(), np.isin(old, new, kind="sort").mean()) > ALIKE
    }
    _CERTIFIED.append((problems, made))
    others, notes = before - {made}, list(certificate.notes)
    if made in before:
        notes.append("The same was certified before, of the same problems: this is no further evidence.")
    if others:
        notes.append(
            f"These problems, some of them or equal ones, were used for {len(others)} other "
            f"certificate{'s' if len(others) > 1 else ''} before: each holds by itself, not the best of them. To "
            "choose among models, use certify_best, and to go on with further problems update, whose bounds hold "
            "together."
        )
    return replace(certificate, notes=tuple(notes))


def _content_keys(states: States) -> Hashes:
    return states.seen ^ states.gains


def _weighing(weights: Floats | None) -> str:
    return "Each group counts the same." if weights is None else "It takes none to weigh more than the heaviest here."


def _split_off_weights(problems: Problems, weights: Floats | None) -> tuple[Problems, Floats | None]:
    while isinstance(problems.reward, WeightedProblems):
        own = np.asarray(problems.reward.weights, dtype=np.float64)
        problems, weights = problems.with_reward(problems.reward.reward), own if weights is None else weights * own
    return problems, weights


def is_own(reward: Any) -> bool:
    """Return whether a reward, or a part of it, is a function or class of the user's own."""
    if not type(reward).__module__.startswith("listwright.") or isinstance(reward, Function):
        return True
    parts = [
        part for value in vars(reward).values() for part in (value if isinstance(value, list | tuple) else [value])
    ]
    return any(is_own(part) for part in parts if isinstance(part, Reward))


def _random_lists(problems: Problems, length: int, rng: np.random.Generator) -> Ints:
    order = np.lexsort((rng.random(problems.n_rows), problems.owners))
    rank = np.arange(problems.n_rows) - np.repeat(problems.offsets[:-1], problems.counts)
    rows = np.full((len(problems), max(length, 1)), -1)
    kept = rank < rows.shape[1]
    rows[problems.owners[kept], rank[kept]] = order[kept]
    return rows


def check_each_once(problems: Problems) -> States:
    """Return what tells problems apart; raise `InputError` where one occurs again, with the same id: no new draw."""
    states = states_of(problems, first_gains(problems))
    copies = np.ones(len(problems), dtype=bool)
    ids = zip(problems.problem_ids.tolist(), states.seen.tolist(), strict=True)
    copies[list({state: at for at, state in enumerate(ids)}.values())] = False
    if copies.any():
        raise InputError(
            f"{copies.sum()} of these {len(problems)} problems occur more than once, with the same id: "
            f"{_list_ids(problems, copies)}. A certificate needs independent problems: pass each once."
        )
    return states


def _nearly_known(problems: Problems, states: States, ledger: Ledger) -> Bools:
    """Return which problems are near copies of known ones; raise `InputError` where some are the same, or all are."""
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
    return near


def _repeats(problems: Problems, states: States, ledger: Ledger) -> list[str]:
    """Return a note where many problems equal ones on the other side of a split: draws of few states, or copies."""
    known = ledger.states.knows(states) | ledger.states.nearly_knows(states)
    note = f"{known.sum()} of these nearly equal training problems; the bounds assume the same share of new ones."
    return [note] * bool(problems.n_features and known.mean() > COPIES)


def _list_ids(problems: Problems, some: Bools) -> str:
    ids = [str(name) for name in problems.problem_ids[some]]
    return ", ".join(ids[:SHOWN]) + (f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else "")


def _fit_rivals(rivals: Rivals, limits: dict[str, Any], training: Problems | None) -> dict[str, Any]:
    if isinstance(rivals, str):
        raise InputError(f"rivals must be several, such as [{rivals!r}]. Got {rivals!r}.")
    named: dict[str, Any] = dict(rivals) if isinstance(rivals, Mapping) else {}
    for rival in () if isinstance(rivals, Mapping) else rivals:
        name = rival if isinstance(rival, str) else type(rival).__name__
        count = 1 + sum(other == name or other.startswith(f"{name} ") for other in named)
        named[name if count == 1 or isinstance(rival, str) else f"{name} {count}"] = rival
    return {name: _fit_rival(rival, limits, training) for name, rival in named.items()}


def _fit_rival(rival: Any, limits: dict[str, Any], training: Problems | None) -> Any:
    """Return a fitted rival as it is, or fit that of a name; "mmr" gets the diversity with the best lists there."""
    if hasattr(rival, "predict"):
        return rival
    if not isinstance(rival, str) or rival not in NAMES:
        raise InputError(f"A rival is one of {', '.join(NAMES)}, or a fitted model. Got {rival!r:.60}.")
    if training is None:
        raise InputError(
            f"The rival {rival!r} learns from the training problems, and the model does not have them. Pass "
            "training=, or a rival that is fitted."
        )
    length = limits["length"] or 1
    if rival == "mmr":
        tried = [MMR(diversity, relevance="ridge", length=length).fit(training) for diversity in DIVERSITIES]
        return best_of(tried, lambda rival: list_values(rival.predict(training, **limits), training))
    return (StaticList(length) if rival == "static" else TopK(length=length)).fit(training)
