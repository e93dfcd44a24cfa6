"""What the page and operators read: rates with intervals, from the sums that the writer keeps."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Connection, func, select

from listwright.apps.serve.store.journal import failed
from listwright.apps.serve.store.records import unpack
from listwright.apps.serve.store.schema import clock, feedback, learning, lists, minutes, models, positions
from listwright.evaluation.intervals import means_from_moments, none_if_nan, share_interval

MOST_POINTS = 2_000


def rate(served: int, answered: int, failures: int) -> dict[str, Any]:
    """Counts with the failure rate and its interval.

    Examples
    --------
    >>> rate(12, 10, 1)["failure_rate"], round(rate(12, 10, 1)["high"], 3)
    (0.1, 0.404)
    """
    low, high = share_interval(failures, answered) if answered else (None, None)
    counts = {"lists": served, "answered": answered, "failures": failures}
    return {**counts, "failure_rate": failures / answered if answered else None, "low": low, "high": high}


def by_version(connection: Connection) -> dict[int, dict[str, Any]]:
    """Rates of each version, over all time."""
    sums = [func.sum(column) for column in (minutes.c.lists, minutes.c.answered, minutes.c.failures)]
    rows = connection.execute(select(minutes.c.version, *sums).group_by(minutes.c.version).order_by(minutes.c.version))
    return {row[0]: rate(*map(int, row[1:])) for row in rows}


def totals(connection: Connection, learn: bool) -> dict[str, Any]:
    """All lists, by version, and how far learning is."""
    versions = by_version(connection)
    counts = [sum(one[name] for one in versions.values()) for name in ("lists", "answered", "failures")]
    return {
        **rate(*counts),
        "versions": [{"version": number, **one} for number, one in versions.items()],
        "learning": {"on": learn, **progress(connection)},
    }


def progress(connection: Connection) -> dict[str, int]:
    """The last event, and the last one before the first that is still to be learned from."""
    events = int(connection.execute(select(clock.c.value).where(clock.c.name == "event")).scalar_one())
    known = select(models.c.version, learning.c.applied).outerjoin(learning, learning.c.version == models.c.version)
    waiting = []
    for version, applied in connection.execute(known).all():
        mine = (feedback.c.version == version) & (feedback.c.event > (applied or 0))
        waiting.append(connection.execute(select(func.min(feedback.c.event)).where(mine)).scalar())
    first = min((one for one in waiting if one is not None), default=events + 1)
    return {"events": events, "applied": int(first) - 1}


def outcome_of(gains: str, earlier: str | None) -> list[float]:
    """What a list brought by position, after some feedback on top of earlier feedback."""
    told: list[float] = msgspec.json.decode(gains)
    if earlier is None:
        return told
    return [max(pair) for pair in zip(told, msgspec.json.decode(earlier), strict=True)]


def series(connection: Connection, since: float, until: float, step: int) -> dict[str, Any]:
    """Rates over time, by version; `step` is whole minutes in seconds, longer where there would be too many points."""
    step = max(60, step // 60 * 60, -(-int(until - since) // MOST_POINTS // 60) * 60)
    bucket = (minutes.c.minute - minutes.c.minute % (step // 60)).label("bucket")
    sums = [func.sum(column) for column in (minutes.c.lists, minutes.c.answered, minutes.c.failures)]
    inside = minutes.c.minute.between(int(since // 60), int(until // 60))
    wanted = select(bucket, minutes.c.version, *sums).where(inside).group_by(bucket, minutes.c.version)
    rows = connection.execute(wanted.order_by(bucket, minutes.c.version))
    points = [{"start": row[0] * 60.0, "version": row[1], **rate(*map(int, row[2:]))} for row in rows]
    return {"step": step, "points": points}


def gains(connection: Connection) -> dict[str, Any]:
    """Mean gain by version and position."""
    rows = connection.execute(select(positions).order_by(positions.c.version, positions.c.position))
    return {"positions": [_gain(row) for row in rows]}


def _gain(row: Any) -> dict[str, Any]:
    n, mean = row.answered, row.gain / row.answered
    found = means_from_moments(mean, max(0.0, (row.squares - n * mean * mean) / max(1, n - 1)), n)
    low, high = none_if_nan(float(found.low)), none_if_nan(float(found.high))
    return {"version": row.version, "position": row.position, "answered": n, "gain": mean, "low": low, "high": high}


def recent(connection: Connection, limit: int, before: str | None) -> dict[str, Any]:
    """The latest lists, with what came of them."""
    wanted = select(lists).order_by(lists.c.id.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(lists.c.id < before)
    rows = connection.execute(wanted).all()
    told = select(feedback).where(feedback.c.list_id.in_([row.id for row in rows])).order_by(feedback.c.event)
    last = {row.list_id: row for row in connection.execute(told)}
    return {"lists": [_short(row, last.get(row.id)) for row in rows]}


def _short(row: Any, told: Any) -> dict[str, Any]:
    return {
        "list_id": row.id,
        "created": row.created,
        "model_version": row.version,
        "items": len(unpack(row.record, ids=False).picks),
        "failed": None if told is None else failed(outcome_of(told.gains, told.earlier)),
    }
