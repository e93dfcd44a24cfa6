"""Certificates from held-out problems, for anything that builds lists: values, greedy's values, and those of rivals.

`guarantees.held_out` computes the bounds; this module refuses problems that would make them invalid, and fits rivals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright.baselines import MMR, StaticList, TopK
from listwright.errors import InputError
from listwright.evaluation.choice import best_of
from listwright.evaluation.values import list_values
from listwright.guarantees.held_out import NAMES, HeldOutCertificate, certificate_of
from listwright.problems import Problems
from listwright.rewards import AnySuccess, reward_of
from listwright.selection import greedy
from listwright.training.visits import Visits, first_gains, states_of
from listwright.walk.limits import check_problems

DIVERSITIES = tuple(np.linspace(0.0, 0.9, 10).tolist())  # that "mmr" chooses from, by lists for its training problems
SHOWN = 5  # ids that a message names

Rivals = Iterable[Any] | Mapping[str, Any]


def certified(
    model: Any,
    problems: Problems,
    *,
    limits: dict[str, Any],
    delta: float,
    rivals: Rivals,
    training: Problems | None,
    visits: Visits | None,
) -> HeldOutCertificate:
    """Compute the certificate of a fitted model on problems that it has not seen: see `ListEstimator.certify`."""
    check_problems(problems)
    reward = reward_of(problems, "certify")
    check_each_once(problems)
    if visits is not None:
        _refuse_known(problems, visits)
    others = {name: rival.predict(problems, **limits) for name, rival in _fitted(rivals, limits, training).items()}
    return certificate_of(
        list_values(model.predict(problems, **limits), problems),
        _best_known(problems, limits),
        {name: list_values(lists, problems) for name, lists in others.items()},
        delta=delta,
        binary=isinstance(reward, AnySuccess),
        submodular=reward.submodular,
        grouped=problems.caps is not None,
        **limits,
    )


def held_back(n_problems: int, share: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
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
            f"{_shown(problems, copies)}. A certificate needs independent problems: pass each once."
        )


def _refuse_known(problems: Problems, visits: Visits) -> None:
    """Raise `InputError` where problems were learned from, by what they contain and whatever their ids."""
    seen = visits.knows(states_of(problems, first_gains(problems)))
    if seen.any():
        raise InputError(
            f"{seen.sum()} of these {len(problems)} problems were learned from: {_shown(problems, seen)}. A "
            "certificate needs problems that the model has not seen: hold some back before fit, or use "
            "fit(problems, certify=0.2)."
        )


def _shown(problems: Problems, some: Bools) -> str:
    """List the first ids of the flagged problems, and how many more there are."""
    ids = [str(name) for name in problems.problem_ids[some]]
    return ", ".join(ids[:SHOWN]) + (f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else "")


def _fitted(rivals: Rivals, limits: dict[str, Any], training: Problems | None) -> dict[str, Any]:
    """Return the rivals by name; those that are only named are fitted on the training problems."""
    if isinstance(rivals, str):
        raise InputError(f"rivals must be several, such as [{rivals!r}]. Got {rivals!r}.")
    given = dict(rivals) if isinstance(rivals, Mapping) else _named(rivals)
    return {
        name: _learned(rival, limits, training) if isinstance(rival, str) else rival for name, rival in given.items()
    }


def _named(rivals: Iterable[Any]) -> dict[str, Any]:
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


def _learned(name: str, limits: dict[str, Any], training: Problems | None) -> Any:
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
