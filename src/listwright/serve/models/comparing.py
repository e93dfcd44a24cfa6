"""Comparison of two model versions on stored lists with feedback.

Two views: the lists that each version served itself (an A/B test, with Welch's interval), and off-policy estimates of
what each version would have earned on all lists. The second uses more data, but needs propensities.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from sqlalchemy import Connection

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.feedback.log import Log
from listwright.feedback.off_policy.compare import compare
from listwright.feedback.off_policy.estimates import EvidenceWarning
from listwright.serve.logged import as_shown, with_feedback
from listwright.serve.models.fleet import ModelRegistry
from listwright.serve.models.opened import Version
from listwright.serve.refusals import Refused, invalid
from listwright.serve.store.schema import feedback, lists

FEW = 2  # lists of a version that an interval needs


def answered(connection: Connection, versions: Sequence[int], most: int) -> list[Any]:
    """Read the latest lists with feedback."""
    wanted = with_feedback(lists.c.version.in_(versions), feedback.c.gains.is_not(None))
    rows = connection.execute(wanted.order_by(lists.c.id.desc()).limit(most)).all()
    return sorted(rows, key=lambda row: row.version)


def comparable(fleet: ModelRegistry, new: int, old: int) -> tuple[Version, Version]:
    """Return both versions; refuses with 409 unless they take the same features, and with 422 if they are the same."""
    if new == old:
        raise invalid("new", "Name two versions.")
    versions = fleet.get(new), fleet.get(old)
    if versions[0].shape.signature != versions[1].shape.signature:
        raise Refused(
            409, "conflict", "These versions take different features, so they cannot be compared.", field="new"
        )
    return versions


def compared(versions: tuple[Version, Version], rows: Sequence[Any]) -> dict[str, Any]:
    """Compare two versions on rows of `answered`."""
    names = versions[0].shape.signature.feature_names
    parts = [as_shown([row for row in rows if row.version == one.number], names) for one in _with_lists(versions, rows)]
    by_version = {shown.version: np.nansum(gains, axis=1) for shown, gains in parts}
    values = tuple(by_version.get(one.number, np.zeros(0)) for one in versions)
    return {
        "new": versions[0].number,
        "old": versions[1].number,
        "lists": [len(one) for one in values],
        "shown": _difference(*values),
        "log": _by_log(versions, parts),
    }


def _with_lists(versions: tuple[Version, Version], rows: Sequence[Any]) -> list[Version]:
    """Return the versions that have at least one of the rows."""
    known = {row.version for row in rows}
    return [one for one in versions if one.number in known]


def _difference(new: Floats, old: Floats) -> dict[str, Any] | None:
    """Return the difference of the means of two samples of gains per list, with Welch's 95 % interval and a verdict."""
    if min(len(new), len(old)) < FEW:
        return None
    found = scipy.stats.ttest_ind(new, old, equal_var=False)
    value, interval = float(new.mean() - old.mean()), found.confidence_interval(0.95)
    low, high = (float(end) if np.isfinite(end) else value for end in interval)  # not finite: no list differs
    verdict = "roll out" if low > 0 else "do not roll out" if high < 0 else "cannot tell"
    return {"difference": value, "low": low, "high": high, "verdict": verdict}


def _by_log(versions: tuple[Version, Version], parts: Sequence[Any]) -> dict[str, Any] | None:
    """Return the off-policy comparison of both versions on all lists, with the old version as the baseline."""
    if not parts:
        return None
    log = Log()
    for shown, gains in parts:
        log.append(shown)
        log.feedback(shown.list_ids, [row[~np.isnan(row)] for row in gains])
    policies = {"new": versions[0].policy, "old": versions[1].policy}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)  # the answer tells of it
        try:
            return compare(log, policies, baseline="old").to_dict()
        except InputError as error:
            return {"policies": [], "baseline": "old", "n_lists": len(log), "advice": str(error)}
