"""What operators and the dashboard read from a store; rates come from the sums that `journal` keeps."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import scipy
from sqlalchemy import Connection, func, select

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.evaluation.intervals import means_from_moments, none_if_nan, share_interval
from listwright.feedback.log import Log
from listwright.feedback.off_policy.compare import compare
from listwright.feedback.off_policy.estimates import EvidenceWarning
from listwright.guarantees import Certificate, lower_share
from listwright.serve import messages
from listwright.serve.models.registry import ModelRegistry
from listwright.serve.models.version import Version
from listwright.serve.refusals import Refused, invalid
from listwright.serve.store.journal import last_event
from listwright.serve.store.records import (
    ServedList,
    ShownList,
    as_recommendations,
    find_context,
    is_failure,
    join,
    outcome_of,
    read_gains,
    with_feedback,
)
from listwright.serve.store.schema import feedback, learning, lists, minutes, models, positions, shadows

MOST_POINTS = 2_000  # of a series
EXPLAINED = 20  # picks of a list, at most
COPIES = 12  # bytes in memory for each byte of a stored list that is compared
FEW = 2  # lists of a version that an interval needs
COUNTS = [func.sum(column) for column in (minutes.c.lists, minutes.c.answered, minutes.c.failures)]


def shown_items(connection: Connection, list_id: str) -> ShownList:
    context = find_context(connection, list_id)
    if context is not None:
        return context
    served = ServedList.read(_row(connection, list_id))
    return ShownList(served.version, served.created, served.items)


def _row(connection: Connection, list_id: str) -> Any:
    row = connection.execute(select(lists).where(lists.c.id == list_id)).first()
    if row is None:
        raise Refused(404, "not_found", "There is no such list.", field="list_id")
    return row


def list_detail(connection: Connection, list_id: str, registry: ModelRegistry, explain: bool) -> messages.ListDetail:
    row = _row(connection, list_id)
    version = _version(registry, row.version)
    served = ServedList.read(row)
    events = connection.execute(select(feedback).where(feedback.c.list_id == list_id).order_by(feedback.c.event)).all()
    copies = connection.execute(select(shadows).where(shadows.c.list_id == list_id)).all()
    return messages.ListDetail(
        list_id=list_id,
        items=served.answer_items(),
        model_version=row.version,
        created=row.created,
        candidates=served.candidates.n_rows,
        learned_from=served.learn,
        metadata=None if row.metadata is None else msgspec.Raw(row.metadata.encode()),
        feedback=_feedback(events),
        shadows=[
            messages.ShadowList(
                copy.version, copy.overlap, [served.candidates.ids[pick] for pick in msgspec.json.decode(copy.picks)]
            )
            for copy in copies
        ],
        reasons=None if version is None or not explain else explain_list(version, served),
    )


def _version(registry: ModelRegistry, number: int) -> Version | None:
    try:
        return registry.get(number)
    except Refused:
        return None


def _feedback(rows: Sequence[Any]) -> messages.FeedbackSummary | None:
    if not rows:
        return None
    events = [messages.FeedbackEntry(row.event, row.created, list(read_gains(row.gains)), row.key) for row in rows]
    last = rows[-1]
    return messages.FeedbackSummary(last.event, last.created, list(outcome_of(last.gains, last.earlier)), events)


def explain_list(version: Version, served: ServedList) -> messages.ListReasons | None:
    if not len(served.picks):
        return None
    ids = np.empty(served.candidates.n_rows, dtype=object)
    ids[:] = served.candidates.ids
    problem = join([served.candidates], version.shape.signature.feature_names, item_ids=ids)
    # Any list has the explainer: the shortest, without what the request asked of groups.
    explainer = version.lists(problem._with(quotas=None), 1, served.budget, ["reasons"]).explainer
    if explainer is None:
        return None
    reasons = explainer(problem, 0, served.picks, EXPLAINED).to_dict()
    return messages.ListReasons(version.state == served.state, reasons["picks"], reasons["skipped"])


def model_list(connection: Connection, registry: ModelRegistry) -> messages.ModelList:
    rates = _rates(connection)
    columns = models.c.version, models.c.name, models.c.digest, models.c.created
    rows = connection.execute(select(*columns).order_by(models.c.version.desc()))
    summaries = [messages.ModelSummary(**_summary(row, registry, rates)) for row in rows]
    return messages.ModelList(summaries, registry.default(), dict(registry.traffic))


def model_detail(connection: Connection, number: int, registry: ModelRegistry) -> messages.ModelDetail:
    version = registry.get(number)
    columns = models.c.version, models.c.name, models.c.digest, models.c.created
    row = connection.execute(select(*columns).where(models.c.version == number)).one()
    signature, model = version.shape.signature, version.model
    certify, ends = getattr(model, "online_certificate", None), version.shape.ranges.get("features")
    return messages.ModelDetail(
        **_summary(row, registry, _rates(connection)),
        kind=type(model).__name__,
        length=getattr(model, "length", None),
        budget=getattr(model, "budget", None),
        per_group=getattr(model, "per_group", None),
        n_features=signature.n_features,
        feature_names=None if signature.feature_names is None else list(signature.feature_names),
        n_context=signature.n_context,
        certified=str(model.certified_) if hasattr(model, "certified_") else None,
        ranges=None if ends is None else np.stack(ends, axis=1).astype(float).tolist(),
        can_learn=version.deployed is not None,
        certificate=None if certify is None else _certificate(certify()),
    )


def _summary(row: Any, registry: ModelRegistry, rates: dict[int, messages.Rate]) -> dict[str, Any]:
    role, share, traffic = "idle", 0.0, registry.traffic.get(row.name)
    if traffic is not None and row.version == traffic.current:
        role, share = "current", 1.0 - traffic.share
    elif traffic is not None and row.version == traffic.canary:
        role, share = "canary", traffic.share
    elif traffic is not None and row.version == traffic.shadow:
        role = "shadow"
    rate = rates.get(row.version, _rate(0, 0, 0))
    return {**row._mapping, "role": role, "share": share, "rate": rate}


def _certificate(certificate: Certificate) -> messages.CertificateSummary:
    names = [name for name in messages.CertificateSummary.__struct_fields__ if name != "text"]
    values: dict[str, Any] = {name: getattr(certificate, name) for name in names}
    return messages.CertificateSummary(
        text=str(certificate), **values | {"breaches": list(certificate.breaches), "notes": list(certificate.notes)}
    )


def _rate(served: int, answered: int, failures: int) -> messages.Rate:
    """Return counts with the failure rate, its 95 % Wilson interval, and a bound that holds at all times."""
    low, high = share_interval(failures, answered) if answered else (None, None)
    certain = lower_share(answered - failures, answered, always=True) if answered else None
    return messages.Rate(served, answered, failures, failures / answered if answered else None, low, high, certain)


def _rates(connection: Connection) -> dict[int, messages.Rate]:
    rows = connection.execute(
        select(minutes.c.version, *COUNTS).group_by(minutes.c.version).order_by(minutes.c.version)
    )
    return {row[0]: _rate(*map(int, row[1:])) for row in rows}


def totals(connection: Connection, learn: bool) -> messages.Stats:
    versions = _rates(connection)
    counts = [sum(getattr(rate, name) for rate in versions.values()) for name in ("lists", "answered", "failures")]
    return messages.Stats(
        **msgspec.structs.asdict(_rate(*counts)),
        versions=[
            messages.VersionRate(**msgspec.structs.asdict(rate), version=number) for number, rate in versions.items()
        ],
        learning=_progress(connection, learn),
    )


def _progress(connection: Connection, learn: bool) -> messages.LearningProgress:
    """Return the number of the last event, and of the last one before the first that is still to be learned from."""
    events = last_event(connection)
    known = select(models.c.version, learning.c.applied).outerjoin(learning, learning.c.version == models.c.version)
    waiting = []
    for version, applied in connection.execute(known).all():
        mine = (feedback.c.version == version) & (feedback.c.event > (applied or 0))
        waiting.append(connection.execute(select(func.min(feedback.c.event)).where(mine)).scalar())
    first = min((event for event in waiting if event is not None), default=events + 1)
    return messages.LearningProgress(learn, events, int(first) - 1)


def series(connection: Connection, since: float, until: float, step: int) -> messages.Series:
    step = max(60, step // 60 * 60, -(-int(until - since) // MOST_POINTS // 60) * 60)
    bucket = (minutes.c.minute - minutes.c.minute % (step // 60)).label("bucket")
    inside = minutes.c.minute.between(int(since // 60), int(until // 60))
    wanted = select(bucket, minutes.c.version, *COUNTS).where(inside).group_by(bucket, minutes.c.version)
    points = [
        messages.SeriesPoint(**msgspec.structs.asdict(_rate(*map(int, counts))), version=version, start=minute * 60.0)
        for minute, version, *counts in connection.execute(wanted.order_by(bucket, minutes.c.version))
    ]
    return messages.Series(step, points)


def position_gains(connection: Connection) -> messages.PositionGains:
    rows = connection.execute(select(positions).order_by(positions.c.version, positions.c.position))
    return messages.PositionGains([_gain(row) for row in rows])


def _gain(row: Any) -> messages.PositionGain:
    n, mean = row.answered, row.gain / row.answered
    interval = means_from_moments(mean, max(0.0, (row.squares - n * mean * mean) / max(1, n - 1)), n)
    low, high = none_if_nan(float(interval.low)), none_if_nan(float(interval.high))
    return messages.PositionGain(row.version, row.position, n, mean, low, high)


def recent_lists(connection: Connection, limit: int, before: str | None) -> messages.RecentLists:
    columns = lists.c.id, lists.c.created, lists.c.version, lists.c.n_items
    wanted = select(*columns).order_by(lists.c.id.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(lists.c.id < before)
    rows = connection.execute(wanted).all()
    events = select(feedback).where(feedback.c.list_id.in_([row.id for row in rows])).order_by(feedback.c.event)
    last = {event.list_id: event for event in connection.execute(events)}
    failed = {event.list_id: is_failure(outcome_of(event.gains, event.earlier)) for event in last.values()}
    return messages.RecentLists([messages.ListSummary(*row, failed.get(row.id)) for row in rows])


def answered_lists(connection: Connection, versions: Sequence[int], most: int, memory_bytes: int) -> list[Any]:
    wanted = with_feedback(lists.c.version.in_(versions), feedback.c.gains.is_not(None))
    wanted = wanted.order_by(lists.c.id.desc()).limit(most)
    stored = wanted.subquery()
    size = func.sum(func.length(stored.c.record) + func.coalesce(func.length(stored.c.rest), 0))
    needed = COPIES * int(connection.execute(select(size)).scalar() or 0)
    if needed > memory_bytes:
        message = (
            f"To compare these lists takes about {needed >> 20:,} MB, and a request may take {memory_bytes >> 20:,} MB."
        )
        raise Refused(413, "too_large", f"{message} Ask for fewer lists.", field="lists")
    return sorted(connection.execute(wanted).all(), key=lambda row: row.version)


def comparable_versions(registry: ModelRegistry, new: int, old: int) -> tuple[Version, Version]:
    if new == old:
        raise invalid("new", "Name two versions.")
    versions = registry.get(new), registry.get(old)
    if versions[0].shape.signature != versions[1].shape.signature:
        raise Refused(
            409, "conflict", "These versions take different features, so they cannot be compared.", field="new"
        )
    return versions


def compare_versions(versions: tuple[Version, Version], rows: Sequence[Any]) -> messages.VersionComparison:
    names, known = versions[0].shape.signature.feature_names, {row.version for row in rows}
    parts = [
        as_recommendations([row for row in rows if row.version == version.number], names)
        for version in versions
        if version.number in known
    ]
    by_version = {shown.version: np.nansum(gains, axis=1) for shown, gains in parts}
    new, old = (by_version.get(version.number, np.zeros(0)) for version in versions)
    return messages.VersionComparison(
        new=versions[0].number,
        old=versions[1].number,
        lists=[len(new), len(old)],
        shown=_difference(new, old),
        log=_compare_by_log(versions, parts),
    )


def _difference(new: Floats, old: Floats) -> messages.ShownDifference | None:
    """Return the difference of the means of two samples of gains per list, with Welch's 95 % interval and a verdict."""
    if min(len(new), len(old)) < FEW:
        return None
    test = scipy.stats.ttest_ind(new, old, equal_var=False)
    value, interval = float(new.mean() - old.mean()), test.confidence_interval(0.95)
    low, high = (float(end) if np.isfinite(end) else value for end in interval)  # not finite: no list differs
    return messages.ShownDifference(
        value, low, high, "roll out" if low > 0 else "do not roll out" if high < 0 else "cannot tell"
    )


def _compare_by_log(versions: tuple[Version, Version], parts: Sequence[Any]) -> messages.LogComparison | None:
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
            return messages.LogComparison(**compare(log, policies, baseline="old").to_dict())
        except InputError as error:
            return messages.LogComparison([], "old", len(log), str(error))
