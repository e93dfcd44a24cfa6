"""Statistics for the dashboard and the API: failure rates and gains with intervals.

Rates are read from the sums that `journal` keeps, so their cost does not grow with the number of lists.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, func, select

from listwright.evaluation.intervals import means_from_moments, none_if_nan, share_interval
from listwright.serve.store.journal import failed, outcome_of
from listwright.serve.store.records import unpack, whole
from listwright.serve.store.schema import clock, feedback, learning, lists, minutes, models, positions

MOST_POINTS = 2_000


def rate(served: int, answered: int, failures: int) -> dict[str, Any]:
    """Return counts with the failure rate and its 95 % Wilson interval."""
    low, high = share_interval(failures, answered) if answered else (None, None)
    counts = {"lists": served, "answered": answered, "failures": failures}
    return {**counts, "failure_rate": failures / answered if answered else None, "low": low, "high": high}


def by_version(connection: Connection) -> dict[int, dict[str, Any]]:
    """Return the rates of each version over all time."""
    sums = [func.sum(column) for column in (minutes.c.lists, minutes.c.answered, minutes.c.failures)]
    rows = connection.execute(select(minutes.c.version, *sums).group_by(minutes.c.version).order_by(minutes.c.version))
    return {row[0]: rate(*map(int, row[1:])) for row in rows}


def totals(connection: Connection, learn: bool) -> dict[str, Any]:
    """Return the rates of all lists and of each version, and the progress of learning; `learn` says whether it
    is on.
    """
    versions = by_version(connection)
    counts = [sum(one[name] for one in versions.values()) for name in ("lists", "answered", "failures")]
    return {
        **rate(*counts),
        "versions": [{"version": number, **one} for number, one in versions.items()],
        "learning": {"on": learn, **progress(connection)},
    }


def progress(connection: Connection) -> dict[str, int]:
    """Return the number of the last event, and of the last one before the first that is still to be learned from."""
    events = int(connection.execute(select(clock.c.value).where(clock.c.name == "event")).scalar_one())
    known = select(models.c.version, learning.c.applied).outerjoin(learning, learning.c.version == models.c.version)
    waiting = []
    for version, applied in connection.execute(known).all():
        mine = (feedback.c.version == version) & (feedback.c.event > (applied or 0))
        waiting.append(connection.execute(select(func.min(feedback.c.event)).where(mine)).scalar())
    first = min((one for one in waiting if one is not None), default=events + 1)
    return {"events": events, "applied": int(first) - 1}


def series(connection: Connection, since: float, until: float, step: int) -> dict[str, Any]:
    """Return failure rates over time, by version."""
    step = max(60, step // 60 * 60, -(-int(until - since) // MOST_POINTS // 60) * 60)
    bucket = (minutes.c.minute - minutes.c.minute % (step // 60)).label("bucket")
    sums = [func.sum(column) for column in (minutes.c.lists, minutes.c.answered, minutes.c.failures)]
    inside = minutes.c.minute.between(int(since // 60), int(until // 60))
    wanted = select(bucket, minutes.c.version, *sums).where(inside).group_by(bucket, minutes.c.version)
    rows = connection.execute(wanted.order_by(bucket, minutes.c.version))
    points = [{"start": row[0] * 60.0, "version": row[1], **rate(*map(int, row[2:]))} for row in rows]
    return {"step": step, "points": points}


def gains(connection: Connection) -> dict[str, Any]:
    """Return the mean gain by version and position, with 95 % intervals."""
    rows = connection.execute(select(positions).order_by(positions.c.version, positions.c.position))
    return {"positions": [_gain(row) for row in rows]}


def _gain(row: Any) -> dict[str, Any]:
    """Compute mean and interval of one position from its count, sum and sum of squares."""
    n, mean = row.answered, row.gain / row.answered
    found = means_from_moments(mean, max(0.0, (row.squares - n * mean * mean) / max(1, n - 1)), n)
    low, high = none_if_nan(float(found.low)), none_if_nan(float(found.high))
    return {"version": row.version, "position": row.position, "answered": n, "gain": mean, "low": low, "high": high}


def recent(connection: Connection, limit: int, before: str | None) -> dict[str, Any]:
    """Return the latest lists, newest first."""
    wanted = select(lists).order_by(lists.c.id.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(lists.c.id < before)
    rows = connection.execute(wanted).all()
    told = select(feedback).where(feedback.c.list_id.in_([row.id for row in rows])).order_by(feedback.c.event)
    last = {row.list_id: row for row in connection.execute(told)}
    return {"lists": [_short(row, last.get(row.id)) for row in rows]}


def _short(row: Any, told: Any) -> dict[str, Any]:
    """Summarize a list and its last feedback (`told`, None if there is none)."""
    return {
        "list_id": row.id,
        "created": row.created,
        "model_version": row.version,
        "items": len(unpack(whole(row), ids=False).picks),
        "failed": None if told is None else failed(outcome_of(told.gains, told.earlier)),
    }
