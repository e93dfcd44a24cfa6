"""One list, or one model version, in full."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from listwright.apps.serve.models.fleet import Fleet, Version
from listwright.apps.serve.refusals import Refused
from listwright.apps.serve.store.records import Packed, unpack
from listwright.apps.serve.store.schema import feedback, lists, models, shadows
from listwright.apps.serve.store.stats import by_version, outcome_of, rate
from listwright.guarantees import Certificate


@dataclass(frozen=True, eq=False)
class Shown:
    """What must be known of a list to take feedback on it."""

    version: int
    created: float
    items: tuple[str | int, ...]


def shown(connection: Connection, list_id: str) -> Shown:
    """A list that was served."""
    columns = lists.c.version, lists.c.created, lists.c.record
    row = connection.execute(select(*columns).where(lists.c.id == list_id)).first()
    if row is None:
        raise Refused(404, "not_found", "There is no such list.", field="list_id")
    packed = unpack(row.record, ids=False)
    return Shown(row.version, row.created, tuple(packed.ids[pick] for pick in packed.picks))


def list_detail(connection: Connection, list_id: str, fleet: Fleet) -> dict[str, Any]:
    """A served list, its feedback, why it is what it is, and what was skipped for which item."""
    row = connection.execute(select(lists).where(lists.c.id == list_id)).first()
    if row is None:
        raise Refused(404, "not_found", "There is no such list.", field="list_id")
    version = _version(fleet, row.version)
    packed = unpack(row.record, names=None if version is None else version.shape.signature.feature_names)
    told = connection.execute(select(feedback).where(feedback.c.list_id == list_id).order_by(feedback.c.event)).all()
    copies = connection.execute(select(shadows).where(shadows.c.list_id == list_id)).all()
    return {
        "list_id": list_id,
        "items": [{**item, "why": None} for item in packed.items()],
        "model_version": row.version,
        "created": row.created,
        "candidates": packed.problem.n_rows,
        "learned_from": bool(row.learn),
        "context": None if row.context is None else msgspec.Raw(row.context.encode()),
        "feedback": _feedback(told),
        "shadows": [_shadow(copy, packed) for copy in copies],
        "reasons": None if version is None else _reasons(version, packed, row.state),
    }


def _version(fleet: Fleet, number: int) -> Version | None:
    """A version, unless it was deleted."""
    try:
        return fleet.get(number)
    except Refused:
        return None


def _feedback(told: Any) -> dict[str, Any] | None:
    if not told:
        return None
    events = [
        {"event": row.event, "created": row.created, "gains": msgspec.json.decode(row.gains), "key": row.key}
        for row in told
    ]
    last = told[-1]
    return {
        "event": last.event,
        "created": last.created,
        "gains": outcome_of(last.gains, last.earlier),
        "events": events,
    }


def _shadow(row: Any, packed: Packed) -> dict[str, Any]:
    picks = msgspec.json.decode(row.picks)
    return {"version": row.version, "overlap": row.overlap, "items": [packed.ids[pick] for pick in picks]}


def _reasons(version: Version, packed: Packed, state: int) -> dict[str, Any] | None:
    """By the policy as it is now, along the items as they were picked."""
    built = version.lists(packed.problem, max(1, len(packed.picks)), packed.budget, "reasons")
    if built.explainer is None or not len(packed.picks):
        return None
    found = built.explainer(packed.problem, 0, packed.picks).to_dict()
    return {"same_state": version.state == state, "picks": found["picks"], "skipped": found["skipped"]}


def model_list(connection: Connection, fleet: Fleet) -> dict[str, Any]:
    """All versions, the newest first, and how traffic is shared."""
    rates = by_version(connection)
    columns = models.c.version, models.c.name, models.c.digest, models.c.created
    rows = connection.execute(select(*columns).order_by(models.c.version.desc()))
    shares = {name: msgspec.to_builtins(traffic) for name, traffic in fleet.traffic.items()}
    default = msgspec.to_builtins(fleet.default())
    return {"models": [_shown(row, fleet, rates) for row in rows], "traffic": default, "traffic_by_model": shares}


def model_detail(connection: Connection, number: int, fleet: Fleet) -> dict[str, Any]:
    """One version, with what is proved of it."""
    version = fleet.get(number)
    columns = models.c.version, models.c.name, models.c.digest, models.c.created
    row = connection.execute(select(*columns).where(models.c.version == number)).one()
    signature, model = version.shape.signature, version.model
    certify = getattr(model, "online_certificate", None)
    return {
        **_shown(row, fleet, by_version(connection)),
        "kind": type(model).__name__,
        "length": getattr(model, "length", None),
        "budget": getattr(model, "budget", None),
        "per_group": getattr(model, "per_group", None),
        "n_features": signature.n_features,
        "feature_names": signature.feature_names,
        "n_context": signature.n_context,
        "ranges": _ranges(version),
        "can_learn": version.deployed is not None,
        "certified": str(model.certified_) if hasattr(model, "certified_") else None,
        "certificate": None if certify is None else _certificate(certify()),
    }


def _ranges(version: Version) -> list[list[float]] | None:
    """What is taken of each feature as it is."""
    ends = version.shape.ranges.get("features")
    return None if ends is None else [[float(low), float(high)] for low, high in zip(*ends, strict=True)]


def _shown(row: Any, fleet: Fleet, rates: dict[int, dict[str, Any]]) -> dict[str, Any]:
    role, share, traffic = "idle", 0.0, fleet.traffic.get(row.name)
    if traffic is not None and row.version == traffic.current:
        role, share = "current", 1.0 - traffic.share
    elif traffic is not None and row.version == traffic.canary:
        role, share = "canary", traffic.share
    elif traffic is not None and row.version == traffic.shadow:
        role = "shadow"
    return {
        "version": row.version,
        "name": row.name,
        "role": role,
        "share": share,
        "digest": row.digest,
        "created": row.created,
        "rate": rates.get(row.version, rate(0, 0, 0)),
    }


def _certificate(found: Certificate) -> dict[str, Any]:
    told = ("assumptions_met", "approximation_ratio", "slack", "lower_bound_on_value")
    kept = ("length", "rival_length", "rounds", "delta", "value_seen", "breaches", "notes")
    fields = asdict(found)
    return {
        "text": str(found),
        **{name: getattr(found, name) for name in told},
        **{name: fields[name] for name in kept},
    }
