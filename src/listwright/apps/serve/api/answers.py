"""The JSON that goes out, for the OpenAPI text: answers are made of plain values."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field


class TrafficShown(BaseModel):
    """Which versions of a model serve."""

    current: int
    canary: int | None
    share: float
    shadow: int | None
    model: str


class Why(BaseModel):
    """A score in two parts; `GET /v1/lists/{list_id}` tells more."""

    alone: float = Field(description="Its score before anything was picked.")
    given_list: float = Field(description="What the items picked before it changed.")
    rank_alone: int = Field(description="Its place among all candidates before anything was picked, from 1.")


class Picked(BaseModel):
    """One item of a list."""

    id: str | int
    position: int
    score: float | None
    propensity: float | None = Field(description="Probability that this item was drawn here; null where not known.")
    why: Why | None = Field(description="Where the request said explain.")


class ListAnswer(BaseModel):
    """A list, in order."""

    list_id: str
    items: list[Picked]
    model_version: int
    clipped: int = Field(
        default=0, description="Numbers clipped to the trained range; such a list is not learned from."
    )


class BatchAnswer(BaseModel):
    """One list for each that was asked for, in order."""

    lists: list[ListAnswer]


class FeedbackAnswer(BaseModel):
    """Feedback that is durable."""

    list_id: str
    event: int
    duplicate: bool


class Rate(BaseModel):
    """A share of lists that failed, with its 95 % interval (Wilson); null where nothing is known yet."""

    lists: int
    answered: int = Field(description="Lists with feedback.")
    failures: int = Field(description="Of these, lists that brought nothing.")
    failure_rate: float | None
    low: float | None
    high: float | None


class VersionRate(Rate):
    """The same for one model version."""

    version: int


class Learning(BaseModel):
    """How far the updater is."""

    on: bool
    events: int = Field(description="Number of the last feedback.")
    applied: int = Field(description="Number of the last feedback learned from.")


class Stats(Rate):
    """All lists, and by model version."""

    versions: list[VersionRate]
    learning: Learning


class Point(VersionRate):
    """One stretch of time of one version."""

    start: float = Field(description="Seconds since 1970.")


class Series(BaseModel):
    """Lists and failures over time; stretches without lists are left out."""

    step: int = Field(description="Seconds of one point.")
    points: list[Point]


class PositionGain(BaseModel):
    """Mean gain of one position of one version, with its 95 % interval."""

    version: int
    position: int
    answered: int
    gain: float
    low: float | None
    high: float | None


class Positions(BaseModel):
    """Gain by position."""

    positions: list[PositionGain]


class Recent(BaseModel):
    """One served list in short."""

    list_id: str
    created: float
    model_version: int
    items: int
    failed: bool | None = Field(description="null where there is no feedback yet.")


class RecentLists(BaseModel):
    """The latest first."""

    lists: list[Recent]


class FeedbackEvent(BaseModel):
    """One feedback on a list, as it was told."""

    event: int
    created: float
    gains: list[float]
    key: str


class FeedbackShown(BaseModel):
    """All feedback on a list: the last event, and by position the largest gain that was told."""

    event: int
    created: float
    gains: list[float]
    events: list[FeedbackEvent]


class ShadowShown(BaseModel):
    """What a shadow would have shown."""

    version: int
    overlap: float = Field(description="Share of the items shown that the shadow shows too.")
    items: list[str | int]


class ReasonsShown(BaseModel):
    """Why the list is what it is, by the version's policy as it is now."""

    same_state: bool = Field(description="Whether the policy is still in the state that built the list.")
    picks: list[dict[str, Any]]
    skipped: list[dict[str, Any]]


class ListDetail(ListAnswer):
    """All that is known of a served list."""

    created: float
    candidates: int
    learned_from: bool = Field(description="False where the request was out of the trained range.")
    context: Any = Field(description="The caller's own, as it was sent.")
    feedback: FeedbackShown | None
    shadows: list[ShadowShown]
    reasons: ReasonsShown | None


class ModelShown(BaseModel):
    """One model version."""

    version: int
    name: str
    role: Literal["current", "canary", "shadow", "idle"]
    share: float
    digest: str
    created: float
    rate: Rate


class ModelList(BaseModel):
    """All versions, the newest first, with their failure rates side by side."""

    models: list[ModelShown]
    traffic: TrafficShown = Field(description="Of the default model.")
    traffic_by_model: dict[str, TrafficShown]


class ShownDifference(BaseModel):
    """Mean gain per list of the new version less that of the old one, with Welch's 95 % interval."""

    difference: float
    low: float
    high: float
    verdict: Literal["roll out", "do not roll out", "cannot tell"]


class LogComparison(BaseModel):
    """What each version would have earned from all lists, by their propensities, and what to do."""

    policies: list[dict[str, Any]]
    baseline: str
    n_lists: int
    advice: str


class Comparison(BaseModel):
    """Two versions against each other."""

    new: int
    old: int
    lists: list[int] = Field(description="Lists with feedback of the new and of the old version.")
    shown: ShownDifference | None = Field(description="null where a version has fewer than two such lists.")
    log: LogComparison | None = Field(description="null where there is no such list.")


class CertificateShown(BaseModel):
    """What is proved of a model, from the regret measured while learning."""

    text: str
    assumptions_met: bool
    length: int
    rival_length: int
    rounds: int
    delta: float
    value_seen: float
    approximation_ratio: float
    slack: float
    lower_bound_on_value: float
    breaches: list[str]
    notes: list[str]


class ModelDetail(ModelShown):
    """One version in full."""

    kind: str
    length: int | None
    budget: float | None
    per_group: int | dict[str, int] | None = None
    n_features: int
    feature_names: list[str] | None
    n_context: int | None
    certified: str | None = None
    ranges: list[list[float]] | None = Field(description="By feature: the least and the most that is taken as it is.")
    can_learn: bool
    certificate: CertificateShown | None


class SnapshotShown(BaseModel):
    """What had been learned at one time."""

    number: int
    applied: int
    count: int
    created: float
    reason: str
    bytes: int


class ComparisonShown(BaseModel):
    """Gain per list of the learned policy less that of the deployed one, on recent feedback, with its interval."""

    lists: int
    difference: float
    low: float
    high: float


class VersionLearning(BaseModel):
    """What one version has learned."""

    version: int
    model: str
    state: Literal["learning", "frozen"]
    reason: str | None = Field(description="Why it is frozen.")
    lists: int = Field(description="Lists learned from.")
    applied: int = Field(description="The last feedback that was looked at.")
    waiting: int = Field(description="Feedback that is still to be looked at.")
    quarantined: int = Field(description="Feedback that cannot be learned from.")
    serves_learned: bool = Field(description="False where lists come from the policy as deployed.")
    comparison: ComparisonShown | None
    base: int = Field(description="The snapshot that it goes on from.")
    snapshots: list[SnapshotShown]


class Quarantined(BaseModel):
    """Feedback that was left out."""

    event: int
    version: int
    list_id: str
    created: float
    reason: str


class LearningStatus(BaseModel):
    """How learning goes, on all replicas."""

    on: bool = Field(description="Whether this replica may learn.")
    leader: str | None = Field(description="The replica that learns at present.")
    events: int
    versions: list[VersionLearning]
    quarantine: list[Quarantined]


class Problem(BaseModel):
    """What went wrong."""

    code: str
    message: str
    field: str | None


class ErrorAnswer(BaseModel):
    """Every answer that is no success."""

    error: Problem


class Health(BaseModel):
    """Whether all is well."""

    status: str
