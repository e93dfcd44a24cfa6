"""One list, or one model version, in full."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic_core import from_json
from sqlalchemy import Connection, select

from listwright.apps.serve.payloads import Traffic
from listwright.apps.serve.records import Packed, unpack
from listwright.apps.serve.refusals import Refused
from listwright.apps.serve.schema import feedback, lists, models
from listwright.apps.serve.stats import by_version, rate
from listwright.apps.serve.versions import Fleet, Version
from listwright.guarantees import Certificate


def list_detail(connection: Connection, list_id: str, fleet: Fleet) -> dict[str, Any]:
    """A served list, its feedback, why it is what it is, and what was skipped for which item."""
    wanted = select(lists, feedback.c.event, feedback.c.gains, feedback.c.created.label("told"))
    joined = wanted.outerjoin(feedback, feedback.c.list_id == lists.c.id).where(lists.c.id == list_id)
    row = connection.execute(joined).first()
    if row is None:
        raise Refused(404, "not_found", "There is no such list.", field="list_id")
    version = fleet.get(row.version)
    packed = unpack(row.problem, names=version.shape.signature.feature_names)
    told = None
    if row.event is not None:
        told = {"event": row.event, "created": row.told, "gains": from_json(row.gains)}
    return {
        **from_json(row.answer),
        "created": row.created,
        "candidates": packed.problem.n_rows,
        "feedback": told,
        "reasons": _reasons(version, packed, row.state),
    }


def _reasons(version: Version, packed: Packed, state: int) -> dict[str, Any] | None:
    """By the policy as it is now, along the items as they were picked."""
    built = version.lists(packed.problem, max(1, len(packed.picks)), packed.budget, "reasons")
    if built.explainer is None or not len(packed.picks):
        return None
    found = built.explainer(packed.problem, 0, packed.picks).to_dict()
    same = getattr(built, "version", 0) == state
    return {"same_state": same, "picks": found["picks"], "skipped": found["skipped"]}


def model_list(connection: Connection, traffic: Traffic) -> dict[str, Any]:
    """All versions, the newest first."""
    rates = by_version(connection)
    columns = models.c.version, models.c.digest, models.c.created
    rows = connection.execute(select(*columns).order_by(models.c.version.desc()))
    return {"models": [_shown(row, traffic, rates) for row in rows], "traffic": traffic.model_dump()}


def model_detail(connection: Connection, number: int, fleet: Fleet) -> dict[str, Any]:
    """One version, with what is proved of it."""
    version = fleet.get(number)
    columns = models.c.version, models.c.digest, models.c.created
    row = connection.execute(select(*columns).where(models.c.version == number)).one()
    signature, model = version.shape.signature, version.model
    return {
        **_shown(row, fleet.traffic, by_version(connection)),
        "kind": type(model).__name__,
        "length": model.length,
        "budget": model.budget,
        "n_features": signature.n_features,
        "feature_names": signature.feature_names,
        "n_context": signature.n_context,
        "certified": str(model.certified_) if hasattr(model, "certified_") else None,
        "certificate": _certificate(model.online_certificate()),
    }


def _shown(row: Any, traffic: Traffic, rates: dict[int, dict[str, Any]]) -> dict[str, Any]:
    role, share = "idle", 0.0
    if row.version == traffic.current:
        role, share = "current", 1.0 - traffic.share
    elif row.version == traffic.canary:
        role, share = "canary", traffic.share
    return {
        "version": row.version,
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
