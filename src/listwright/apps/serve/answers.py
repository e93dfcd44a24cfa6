"""The JSON that goes out, for the OpenAPI text: answers are made of plain values."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from listwright.apps.serve.payloads import Traffic


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
    why: Why | None


class ListAnswer(BaseModel):
    """A list, in order."""

    list_id: str
    items: list[Picked]
    model_version: int


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


class FeedbackShown(BaseModel):
    """Feedback on a list."""

    event: int
    created: float
    gains: list[float]


class ReasonsShown(BaseModel):
    """Why the list is what it is, by the version's policy as it is now."""

    same_state: bool = Field(description="Whether the policy is still in the state that built the list.")
    picks: list[dict[str, Any]]
    skipped: list[dict[str, Any]]


class ListDetail(ListAnswer):
    """All that is known of a served list."""

    created: float
    candidates: int
    feedback: FeedbackShown | None
    reasons: ReasonsShown | None


class ModelShown(BaseModel):
    """One model version."""

    version: int
    role: Literal["current", "canary", "idle"]
    share: float
    digest: str
    created: float
    rate: Rate


class ModelList(BaseModel):
    """All versions, the newest first, with their failure rates side by side."""

    models: list[ModelShown]
    traffic: Traffic


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
    n_features: int
    feature_names: list[str] | None
    n_context: int | None
    certified: str | None = None
    certificate: CertificateShown | None


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
