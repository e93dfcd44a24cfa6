"""Schemas of the JSON answers, for the OpenAPI document only.

Handlers encode plain dictionaries with msgspec, which is faster; these pydantic models are never instantiated. A change
to an answer must be made in both places.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field


class TrafficShown(BaseModel):
    """How the requests for one model are shared among its versions.

    `canary` gets the fraction `share` of the lists, `current` the rest; `shadow` builds copies that nobody is shown.
    """

    current: int
    canary: int | None
    share: float
    shadow: int | None
    model: str


class Why(BaseModel):
    """The score of a picked item in two parts: on its own, and the effect of the items before it.

    `GET /v1/lists/{list_id}` gives the contributions of single features.
    """

    alone: float = Field(description="Its score for an empty list.")
    given_list: float = Field(description="Change of its score due to the items picked before it.")
    rank_alone: int = Field(description="Its rank among all candidates for an empty list, from 1.")


class Picked(BaseModel):
    """One item of a list: its id, its position from 1, its score, and the probability with which it was drawn."""

    id: str | int
    position: int
    score: float | None
    propensity: float | None = Field(description="Probability that this item was drawn here; null where not known.")
    why: Why | None = Field(description="Where the request said explain.")


class ListAnswer(BaseModel):
    """A list in order of position. Send `list_id` back with the feedback."""

    list_id: str
    items: list[Picked]
    model_version: int
    clipped: int = Field(
        default=0, description="Numbers clipped to the trained range; such a list is not learned from."
    )


class BatchAnswer(BaseModel):
    """One list per request of the batch, in the same order."""

    lists: list[ListAnswer]


class FeedbackAnswer(BaseModel):
    """Feedback that is stored durably.

    `event` numbers all feedback in order; `duplicate` is true where the same feedback was stored before.
    """

    list_id: str
    event: int
    duplicate: bool


class Rate(BaseModel):
    """A failure rate with its 95 % interval (Wilson). A list fails if no item in it brought a gain.

    The rate and its interval are null until there is feedback.
    """

    lists: int
    answered: int = Field(description="Lists with feedback.")
    failures: int = Field(description="Of these, lists that brought nothing.")
    failure_rate: float | None
    low: float | None
    high: float | None


class VersionRate(Rate):
    """The failure rate of one model version."""

    version: int


class Learning(BaseModel):
    """Progress of learning. Feedback between `applied` and `events` has not been learned from yet."""

    on: bool
    events: int = Field(description="Number of the last feedback.")
    applied: int = Field(description="Number of the last feedback learned from.")


class Stats(Rate):
    """Failure rates of all lists and of each model version, and the progress of learning."""

    versions: list[VersionRate]
    learning: Learning


class Point(VersionRate):
    """The failure rate of one version in one interval of time."""

    start: float = Field(description="Seconds since 1970.")


class Series(BaseModel):
    """Lists and failures over time, by version. Intervals without lists are left out."""

    step: int = Field(description="Seconds of one point.")
    points: list[Point]


class PositionGain(BaseModel):
    """Mean gain at one position of one version's lists, with its 95 % interval."""

    version: int
    position: int
    answered: int
    gain: float
    low: float | None
    high: float | None


class Positions(BaseModel):
    """Mean gain by model version and position."""

    positions: list[PositionGain]


class Recent(BaseModel):
    """Summary of one served list."""

    list_id: str
    created: float
    model_version: int
    items: int
    failed: bool | None = Field(description="null where there is no feedback yet.")


class RecentLists(BaseModel):
    """Served lists, the latest first."""

    lists: list[Recent]


class FeedbackEvent(BaseModel):
    """One feedback on a list, as it was sent."""

    event: int
    created: float
    gains: list[float]
    key: str


class FeedbackShown(BaseModel):
    """All feedback on a list.

    `event` and `created` are those of the last event; `gains` has the largest gain reported for each position.
    """

    event: int
    created: float
    gains: list[float]
    events: list[FeedbackEvent]


class ShadowShown(BaseModel):
    """The list that a shadow version would have shown for the same request."""

    version: int
    overlap: float = Field(description="Share of the items shown that the shadow shows too.")
    items: list[str | int]


class ReasonsShown(BaseModel):
    """Why each item was picked and others were skipped, computed with the version's present policy.

    If `same_state` is false, the policy has learned since the list was built, and scores may differ.
    """

    same_state: bool = Field(description="Whether the policy is still in the state that built the list.")
    picks: list[dict[str, Any]]
    skipped: list[dict[str, Any]]


class ListDetail(ListAnswer):
    """Everything stored about a served list, with explanations and feedback."""

    created: float
    candidates: int
    learned_from: bool = Field(description="False where the request was out of the trained range.")
    context: Any = Field(description="The caller's own, as it was sent.")
    feedback: FeedbackShown | None
    shadows: list[ShadowShown]
    reasons: ReasonsShown | None


class ModelShown(BaseModel):
    """One model version, its role in the traffic and its failure rate."""

    version: int
    name: str
    role: Literal["current", "canary", "shadow", "idle"]
    share: float
    digest: str
    created: float
    rate: Rate


class ModelList(BaseModel):
    """All model versions, the newest first, with their failure rates and the traffic of each model."""

    models: list[ModelShown]
    traffic: TrafficShown = Field(description="Of the default model.")
    traffic_by_model: dict[str, TrafficShown]


class ShownDifference(BaseModel):
    """Difference in mean gain per list, new version minus old, with Welch's 95 % interval.

    Each version is judged by the lists it served itself, as in an A/B test.
    """

    difference: float
    low: float
    high: float
    verdict: Literal["roll out", "do not roll out", "cannot tell"]


class LogComparison(BaseModel):
    """Off-policy estimates: what each version would have earned on all lists, from the propensities of their items."""

    policies: list[dict[str, Any]]
    baseline: str
    n_lists: int
    advice: str


class Comparison(BaseModel):
    """Two model versions compared on lists with feedback."""

    new: int
    old: int
    lists: list[int] = Field(description="Lists with feedback of the new and of the old version.")
    shown: ShownDifference | None = Field(description="null where a version has fewer than two such lists.")
    log: LogComparison | None = Field(description="null where there is no such list.")


class CertificateShown(BaseModel):
    """The guarantee of a model: a lower bound on the expected value of its lists.

    It follows from the regret measured while learning, relative to the best sequence of `comparator_length` policies,
    and holds with probability 1 - `delta` if the assumptions are met.
    """

    text: str
    assumptions_met: bool
    length: int
    comparator_length: int
    rounds: int
    delta: float
    value_seen: float
    approximation_ratio: float
    slack: float
    lower_bound_on_value: float
    breaches: list[str]
    notes: list[str]


class ModelDetail(ModelShown):
    """One model version in full: what it takes, what it builds, and its certificate."""

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
    """A stored state of learning that can be rolled back to or exported."""

    number: int
    applied: int
    count: int
    created: float
    reason: str
    bytes: int


class ComparisonShown(BaseModel):
    """Gain per list of the learned policy minus that of the deployed one, on recent feedback, with its interval."""

    lists: int
    difference: float
    low: float
    high: float


class VersionLearning(BaseModel):
    """The state of learning of one version."""

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
    """One feedback that could not be learned from, with the reason."""

    event: int
    version: int
    list_id: str
    created: float
    reason: str


class LearningStatus(BaseModel):
    """The state of learning over all replicas, by version."""

    on: bool = Field(description="Whether this replica may learn.")
    leader: str | None = Field(description="The replica that learns at present.")
    events: int
    versions: list[VersionLearning]
    quarantine: list[Quarantined]


class Problem(BaseModel):
    """An error: a stable code, a message for people, and the field at fault, if any."""

    code: str
    message: str
    field: str | None


class ErrorAnswer(BaseModel):
    """The body of every answer that is not a success."""

    error: Problem


class Health(BaseModel):
    """Whether the process runs, or is ready for requests."""

    status: str
