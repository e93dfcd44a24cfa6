"""Tries a model that was read from a file on made-up problems, so that parts that do not fit show at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from listwright.errors import InputError
from listwright.features import Features, Rows
from listwright.learners import Learner
from listwright.learners.examples import Examples
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.query_terms import QueryTerms
from listwright.training.signature import Signature

LARGEST = 50_000_000  # entries of the made-up features


def try_loaded(model: Any, features: Any, policy: Any, own: Iterable[Any], parts: Iterable[Any]) -> None:
    """Build a list with the model and with each of its policies, and lets copies of its learners learn from it."""
    signature = getattr(model, "signature_", None)
    if not isinstance(signature, Signature):
        raise InputError("it was never fitted")
    if not isinstance(policy, Policy) or not isinstance(features, Features):
        raise InputError("it has no policy")
    try:
        problems = made_up(signature, whole=_needs_all(parts), group=some_group(getattr(model, "per_group", None)))
        model.predict(problems, length=1)
        _check_ranges(signature)
        model.try_out(problems)
        rows = features.rows(features.start(problems))
        for part in own:
            _try_part(part, rows)
    except Exception as error:  # noqa: BLE001 - whatever fails here means that parts do not fit
        raise InputError(f"its parts do not fit together ({type(error).__name__}: {error!s:.120})") from None


def try_predicting(model: Any) -> None:
    """Build a list with a model that learns nothing from it; see `try_loaded`."""
    signature = getattr(model, "signature_", None)
    if not isinstance(signature, Signature):
        raise InputError("it was never fitted")
    try:
        model.predict(made_up(signature, whole=True, group=some_group(getattr(model, "per_group", None))), length=1)
        _check_ranges(signature)
    except Exception as error:  # noqa: BLE001 - as above
        raise InputError(f"its parts do not fit together ({type(error).__name__}: {error!s:.120})") from None


def made_up(signature: Signature, *, whole: bool, group: Any = 0) -> Problems:
    """Return one problem of the kind that the model was trained on: zeros everywhere, and one group."""
    items = signature.n_items
    count = 2 if items is None else items if whole else min(2, items)
    widths = signature.n_features, signature.n_context or 0, signature.n_vector or 0
    if count * sum(widths) > LARGEST:
        raise InputError(f"{count} candidates of {sum(widths)} columns are too many")
    return Problems.from_arrays(
        np.zeros((count, signature.n_features), dtype=np.float32),
        offsets=[0, count],
        context=None if signature.n_context is None else np.zeros((1, signature.n_context)),
        catalogue=None if items is None else np.arange(count),
        feature_names=signature.feature_names,
        vectors=None if signature.n_vector is None else np.zeros((count, signature.n_vector)),
        links=None if signature.links is None else {name: np.zeros((count, count)) for name in signature.links},
        aspects=None if signature.aspects is None else {name: np.zeros((count, 1)) for name in signature.aspects},
        query_terms=QueryTerms.from_lists([[]], [[]] * count) if signature.query_terms else None,
        groups=[group] * count,
    )


def some_group(per_group: Any) -> Any:
    """Return a label that a limit on groups names, or any where it is the same for all."""
    return next(iter(per_group), 0) if isinstance(per_group, Mapping) else 0


def _check_ranges(signature: Signature) -> None:
    """Raise `InputError` unless there is one range per column."""
    ranges = signature.ranges
    if ranges is None:
        return
    widths = signature.n_features, signature.n_context, signature.n_vector
    for span, width in zip((ranges.features, ranges.context, ranges.vectors), widths, strict=True):
        if (None if span is None else len(span.low)) != width:
            raise InputError("there must be one range per column")


def _needs_all(parts: Iterable[Any]) -> bool:
    """Return whether some feature looks at all items of the catalogue at once."""
    crosses = [getattr(part, "cross", ()) for part in parts]
    return any("candidates" in cross for cross in crosses) or any(hasattr(part, "outcomes_") for part in parts)


def _try_part(part: Any, rows: Rows) -> None:
    """Let a policy pick and a learner learn; other parts are ignored."""
    rng = np.random.default_rng(0)
    options = np.ones(len(rows.owners), dtype=bool)
    if isinstance(part, Policy):
        part.drawn(1, rng).pick(rows, options, 0, rng)
    elif isinstance(part, Learner):
        part.try_out(_examples(rows, options))


def _examples(rows: Rows, options: Any) -> Examples:
    """Return examples for the made-up problem."""
    one = np.zeros(1, dtype=np.int64)
    return Examples(
        rows=rows,
        gains=np.linspace(0.0, 1.0, len(options)),
        weight=1.0,
        position=0,
        options=options,
        picks=one,
        learned=np.ones(1, dtype=bool),
        folds=one,
    )
