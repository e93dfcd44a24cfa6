"""Full descriptions of a served list or a model version, for the API and the dashboard."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from listwright.guarantees import Certificate
from listwright.serve.models.fleet import ModelRegistry
from listwright.serve.models.opened import Version
from listwright.serve.refusals import Refused
from listwright.serve.store.journal import outcome_of
from listwright.serve.store.records import Packed, unpack, whole
from listwright.serve.store.schema import feedback, lists, models, shadows
from listwright.serve.store.stats import by_version, rate


@dataclass(frozen=True, eq=False)
class Shown:
    """What feedback on a list is checked against."""

    version: int  # model version that built the list
    created: float  # when it was built, in seconds since 1970
    items: tuple[str | int, ...]  # ids of its items, in order


def shown(connection: Connection, list_id: str) -> Shown:
    """Read a served list from the store; refuses with 404 if it does not exist."""
    columns = lists.c.version, lists.c.created, lists.c.record, lists.c.rest
    row = connection.execute(select(*columns).where(lists.c.id == list_id)).first()
    if row is None:
        raise Refused(404, "not_found", "There is no such list.", field="list_id")
    packed = unpack(whole(row), ids=False)
    return Shown(row.version, row.created, tuple(packed.ids[pick] for pick in packed.picks))


def list_detail(connection: Connection, list_id: str, fleet: ModelRegistry) -> dict[str, Any]:
    """Return everything known of a served list: items, feedback, shadows and reasons."""
    row = connection.execute(select(lists).where(lists.c.id == list_id)).first()
    if row is None:
        raise Refused(404, "not_found", "There is no such list.", field="list_id")
    version = _version(fleet, row.version)
    packed = unpack(whole(row), names=None if version is None else version.shape.signature.feature_names)
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


def _version(fleet: ModelRegistry, number: int) -> Version | None:
    """Return a version, or None if it was deleted."""
    try:
        return fleet.get(number)
    except Refused:
        return None


def _feedback(told: Any) -> dict[str, Any] | None:
    """Summarize the feedback rows of a list: every event as sent, and the resulting gain by position."""
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
    """Return the list of a shadow with item ids in place of row indices."""
    picks = msgspec.json.decode(row.picks)
    return {"version": row.version, "overlap": row.overlap, "items": [packed.ids[pick] for pick in picks]}


def _reasons(version: Version, packed: Packed, state: int) -> dict[str, Any] | None:
    """Explain each pick and the skipped candidates along the stored list."""
    built = version.lists(packed.problem, max(1, len(packed.picks)), packed.budget, "reasons")
    if built.explainer is None or not len(packed.picks):
        return None
    found = built.explainer(packed.problem, 0, packed.picks).to_dict()
    return {"same_state": version.state == state, "picks": found["picks"], "skipped": found["skipped"]}


def model_list(connection: Connection, fleet: ModelRegistry) -> dict[str, Any]:
    """Return all versions, the newest first, with failure rates and the traffic of each model."""
    rates = by_version(connection)
    columns = models.c.version, models.c.name, models.c.digest, models.c.created
    rows = connection.execute(select(*columns).order_by(models.c.version.desc()))
    shares = {name: msgspec.to_builtins(traffic) for name, traffic in fleet.traffic.items()}
    default = msgspec.to_builtins(fleet.default())
    return {"models": [_shown(row, fleet, rates) for row in rows], "traffic": default, "traffic_by_model": shares}


def model_detail(connection: Connection, number: int, fleet: ModelRegistry) -> dict[str, Any]:
    """Return one version with its inputs, trained ranges and certificate; refuses with 404 if it does not exist."""
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
    """Return the lowest and highest accepted value of each feature; None where the model has no trained ranges."""
    ends = version.shape.ranges.get("features")
    return None if ends is None else [[float(low), float(high)] for low, high in zip(*ends, strict=True)]


def _shown(row: Any, fleet: ModelRegistry, rates: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Describe one version: its digest, failure rate, role in the traffic and share of the lists."""
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
    """Return a certificate as plain values, with its text."""
    told = ("assumptions_met", "approximation_ratio", "slack", "lower_bound_on_value")
    kept = ("length", "comparator_length", "rounds", "delta", "value_seen", "breaches", "notes")
    fields = asdict(found)
    return {
        "text": str(found),
        **{name: getattr(found, name) for name in told},
        **{name: fields[name] for name in kept},
    }
