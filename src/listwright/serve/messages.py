"""The JSON bodies of requests and answers, as msgspec structs, from which the OpenAPI document is generated."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import starmap
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Raw, Struct

from listwright._internal.arrays import Floats32

ItemId = Annotated[str, Meta(min_length=1, max_length=200)] | Annotated[int, Meta(ge=-(2**53), le=2**53)]
CatalogueItem = Annotated[int, Meta(ge=0)] | Annotated[str, Meta(min_length=1, max_length=200)]
Places = Annotated[int, Meta(ge=0, le=2**31 - 1)]
LeastMost = Annotated[list[Places | None], Meta(min_length=2, max_length=2)]  # not a tuple, which msgspec reads badly
ByGroup = dict[str, Places | LeastMost]
Levels = Annotated[list[Places | LeastMost | ByGroup | None], Meta(min_length=1, max_length=16)]  # or [least, most]
PerGroup = Annotated[int, Meta(ge=1, le=2**31 - 1)] | Levels | ByGroup
Group = ItemId | Annotated[list[ItemId], Meta(min_length=1, max_length=16)]  # nested: from coarse to fine
Positive = Annotated[float, Meta(gt=0)]
Budgets = Annotated[dict[str, Annotated[float, Meta(ge=0)]], Meta(max_length=16)]  # by name
Numbers = list[float] | dict[str, float | str]
ListId = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
EventKey = Annotated[str, Meta(pattern=r"^[!-~]{1,100}\Z")]
ModelName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}\Z")]
VersionNumber = Annotated[int, Meta(ge=1, le=2**31 - 1)]
DEFAULT = "default"  # name of the model where a service has one
DAY = 86_400


class Item(Struct, forbid_unknown_fields=True):
    """A candidate."""

    id: ItemId
    features: Annotated[Numbers, Meta(description="Numbers in the model's order; or numbers and categories by name.")]
    size: Annotated[Positive | None, Meta(description="What it takes of a budget.")] = None
    catalogue: Annotated[
        CatalogueItem | None,
        Meta(description="Item of the model's catalogue: its id in the training data, or its number, if no id is one."),
    ] = None
    vector: Annotated[list[float] | None, Meta(description="What similarity is measured on.")] = None
    group: Annotated[
        Group | None,
        Meta(description="Its source, author or section, for per_group; nested groups from coarse to fine."),
    ] = None
    uses: Annotated[Budgets | None, Meta(description="What it takes of each of `budgets`, by name.")] = None


class ListOptions(Struct, forbid_unknown_fields=True, kw_only=True):
    """What a request for a list may say beside its candidates, in either format."""

    length: Annotated[int, Meta(ge=1)] | None = None
    budget: Positive | None = None
    budgets: Annotated[
        Budgets | None, Meta(description="Further budgets by name, such as seconds; see `uses` of the items.")
    ] = None
    per_group: Annotated[
        PerGroup | None,
        Meta(
            description="Most items of one group in the list, or [least, most]; by group, too. "
            "For nested groups an array with one of these for each level."
        ),
    ] = None
    pinned: Annotated[
        list[ItemId] | None, Meta(description="Ids that come first, in this order, with the probability 1.")
    ] = None
    blocked: Annotated[list[ItemId] | None, Meta(description="Ids that the list must not hold.")] = None
    user: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        Meta(description="A key of the user, who is then served by the same version while its share lasts."),
    ] = None
    context_features: Annotated[Numbers | None, Meta(description="The context columns of a model that has some.")] = (
        None
    )
    metadata: Annotated[
        Raw, Meta(description="Any small JSON of your own, such as a user id: stored and exported, never a feature.")
    ] = msgspec.field(default_factory=Raw)
    explain: Annotated[bool, Meta(description="Say with each item why it was picked.")] = False
    model: Annotated[ModelName, Meta(description="Which model, where the service has several.")] = DEFAULT

    def options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ListOptions.__struct_fields__}


class ListRequest(ListOptions):
    """The candidates of a list and its limits. With neither length nor budget, those of the model apply."""

    items: Annotated[list[Item], Meta(min_length=1)]


class BinaryHead(ListOptions):
    """The JSON head of a binary list request; the features follow it as float32."""

    ids: Annotated[list[ItemId], Meta(min_length=1)]
    sizes: list[Positive] | None = None
    catalogue: list[CatalogueItem] | None = None
    groups: list[Group] | None = None
    uses: list[Budgets] | None = None


class ListQuery(ListOptions):
    """A request for one list, in whichever format it arrived: columns with one entry per candidate, and options."""

    ids: Sequence[str | int]
    rows: Any  # features: a table of float32, or a list of mappings and of lists of unequal length
    sizes: Sequence[float | None]  # optional properties of each candidate, None where not given
    catalogue: Sequence[int | str | None]
    vectors: Sequence[Sequence[float] | None]
    groups: Sequence[str | int | list[str | int] | None]
    uses: Sequence[Mapping[str, float] | None]

    @classmethod
    def of(cls, request: ListRequest) -> ListQuery:
        """Convert a JSON request."""
        items = request.items
        rows: Any = [item.features for item in items]
        if set(map(type, rows)) == {list} and len(set(map(len, rows))) == 1:
            rows = as_table(rows, len(rows[0]))
        return cls(
            [item.id for item in items],
            rows,
            [item.size for item in items],
            [item.catalogue for item in items],
            [item.vector for item in items],
            [item.group for item in items],
            [item.uses for item in items],
            **request.options(),
        )

    @property
    def numbers(self) -> int:
        """Approximate count of numbers in the request, as a measure of its cost."""
        vector = self.vectors[0]
        return len(self.ids) * (len(self.rows[0]) + (0 if vector is None else len(vector)))


def as_table(rows: Sequence[Sequence[float]], width: int) -> Floats32:
    """Convert rows of `width` numbers to float32; numbers beyond its range become infinite."""
    packed = b"".join(starmap(_packer(width), rows))
    with np.errstate(over="ignore"):
        return np.frombuffer(packed, dtype=np.float64).astype(np.float32).reshape(len(rows), width)


@lru_cache(16)  # callers may send any width
def _packer(width: int) -> Callable[..., bytes]:
    return struct.Struct(f"{width}d").pack


class BatchRequest(Struct, forbid_unknown_fields=True):
    """Several lists in one request."""

    lists: Annotated[list[ListRequest], Meta(min_length=1)]


class FeedbackRequest(Struct, forbid_unknown_fields=True):
    """Feedback on a list: the ids that were clicked (an empty array for none), or a gain in [0, 1] for each item in
    order. Of packed or ranked passages, `clicks` holds the positions, among those sent, of the cited ones.
    """

    list_id: ListId
    clicks: list[ItemId] | None = None
    gains: list[Annotated[float, Meta(ge=0, le=1)]] | None = None
    idempotency_key: Annotated[
        EventKey | None,
        Meta(description="The same key and content again on the same list is stored once; by default the list's id. "
        "Later feedback on the same list needs a key of its own. Keys of other API keys are others."),
    ] = None  # fmt: skip


class Traffic(Struct, forbid_unknown_fields=True):
    """How the requests for one model are shared among its versions.

    `canary` gets the fraction `share` of the lists, `current` the rest; `shadow` builds copies that nobody is shown.
    """

    current: VersionNumber
    canary: VersionNumber | None = None
    share: Annotated[float, Meta(ge=0, le=1)] = 0.0
    shadow: VersionNumber | None = None
    model: ModelName = DEFAULT


class LearningRequest(Struct, forbid_unknown_fields=True):
    """An action on what a version has learned; without a version, the current one of the default model."""

    action: Literal["freeze", "resume", "reset", "rollback", "export"]
    version: VersionNumber | None = None
    snapshot: Annotated[
        VersionNumber | None, Meta(description="To roll back to, or to export; without it, export the present state.")
    ] = None


class RecentQuery(Struct):
    """Parameters of the latest lists."""

    limit: Annotated[int, Meta(ge=1, le=200)] = 50
    before: Annotated[ListId | None, Meta(description="Only lists older than this one.")] = None


class ListDetailQuery(Struct):
    """Parameter of a list."""

    explain: Annotated[bool, Meta(description="Say why items were picked and others were not.")] = False


class SeriesQuery(Struct):
    """Parameters of a series over time."""

    seconds: Annotated[int, Meta(ge=60, le=400 * DAY, description="How far back.")] = DAY
    step: Annotated[int, Meta(ge=60, le=400 * DAY, description="Seconds of a point; whole minutes.")] = 300


class CompareQuery(Struct):
    """Parameters of a comparison of two versions."""

    new: Annotated[VersionNumber, Meta(description="A version.")]
    old: Annotated[VersionNumber, Meta(description="The version that it is compared with.")]
    lists: Annotated[int, Meta(ge=1, le=20_000, description="The latest lists with feedback to look at.")] = 2_000


class NameQuery(Struct):
    """Parameter of a new version."""

    name: Annotated[ModelName, Meta(description="The name of the model.")] = DEFAULT


class ModelQuery(Struct):
    """Parameter of a rollback."""

    model: Annotated[ModelName | None, Meta(description="The name of the model.")] = None


class Why(Struct):
    """The score of a picked item in two parts: on its own, and the effect of the items before it.

    `GET /v1/lists/{list_id}` gives the contributions of single features.
    """

    alone: Annotated[float, Meta(description="Its score for an empty list.")]
    given_list: Annotated[float, Meta(description="Change of its score due to the items picked before it.")]
    rank_alone: Annotated[int, Meta(description="Its rank among all candidates for an empty list, from 1.")]


class Picked(Struct):
    """One item of a list: its id, its position from 1, its score, and the probability with which it was drawn."""

    id: str | int
    position: int
    score: float | None
    propensity: Annotated[
        float | None, Meta(description="Probability that this item was drawn here; null where not known.")
    ]
    why: Annotated[Why | None, Meta(description="Where the request said explain.")] = None


class ListAnswer(Struct):
    """A list in order of position. Send `list_id` back with the feedback."""

    list_id: str
    items: list[Picked]
    model_version: int
    clipped: Annotated[
        int, Meta(description="Numbers clipped to the trained range; such a list is not learned from.")
    ] = 0


class BatchAnswer(Struct):
    """One list per request of the batch, in the same order."""

    lists: list[ListAnswer]


class FeedbackAnswer(Struct):
    """Feedback that is stored durably.

    `event` numbers all feedback in order; `duplicate` is true where the same feedback was stored before.
    """

    list_id: str
    event: int
    duplicate: bool


class Rate(Struct):
    """A failure rate with its 95 % interval (Wilson). A list fails if no item in it brought a gain.

    The rate and its interval are null until there is feedback.
    """

    lists: int
    answered: Annotated[int, Meta(description="Lists with feedback.")]
    failures: Annotated[int, Meta(description="Of these, lists that brought nothing.")]
    failure_rate: float | None
    low: float | None
    high: float | None
    success_at_least: Annotated[
        float | None, Meta(description="With 95 % confidence at all times at once, of lists with feedback like these.")
    ]


class VersionRate(Rate):
    """The failure rate of one model version."""

    version: int


class LearningProgress(Struct):
    """Progress of learning. Feedback between `applied` and `events` has not been learned from yet."""

    on: bool
    events: Annotated[int, Meta(description="Number of the last feedback.")]
    applied: Annotated[int, Meta(description="Number of the last feedback learned from.")]


class Stats(Rate):
    """Failure rates of all lists and of each model version, and the progress of learning."""

    versions: list[VersionRate]
    learning: LearningProgress


class SeriesPoint(VersionRate):
    """The failure rate of one version in one interval of time."""

    start: Annotated[float, Meta(description="Seconds since 1970.")]


class Series(Struct):
    """Lists and failures over time, by version. Intervals without lists are left out."""

    step: Annotated[int, Meta(description="Seconds of one point.")]
    points: list[SeriesPoint]


class PositionGain(Struct):
    """Mean gain at one position of one version's lists, with its 95 % interval."""

    version: int
    position: int
    answered: int
    gain: float
    low: float | None
    high: float | None


class PositionGains(Struct):
    """Mean gain by model version and position."""

    positions: list[PositionGain]


class ListSummary(Struct):
    """Summary of one served list."""

    list_id: str
    created: float
    model_version: int
    items: int
    failed: Annotated[bool | None, Meta(description="null where there is no feedback yet.")]


class RecentLists(Struct):
    """Served lists, the latest first."""

    lists: list[ListSummary]


class FeedbackEntry(Struct):
    """One feedback on a list, as it was sent."""

    event: int
    created: float
    gains: list[float]
    key: str


class FeedbackSummary(Struct):
    """All feedback on a list.

    `event` and `created` are those of the last event; `gains` has the largest gain reported for each position.
    """

    event: int
    created: float
    gains: list[float]
    events: list[FeedbackEntry]


class ShadowList(Struct):
    """The list that a shadow version would have shown for the same request."""

    version: int
    overlap: Annotated[float, Meta(description="Share of the items shown that the shadow shows too.")]
    items: list[str | int]


class ListReasons(Struct):
    """Why the first 20 items were picked and others were skipped, computed with the version's present policy.

    If `same_state` is false, the policy has learned since the list was built, and scores may differ.
    """

    same_state: Annotated[bool, Meta(description="Whether the policy is still in the state that built the list.")]
    picks: list[dict[str, Any]]
    skipped: list[dict[str, Any]]


class ListDetail(Struct, kw_only=True):
    """Everything stored about a served list, with explanations and feedback."""

    list_id: str
    items: list[Picked]
    model_version: int
    created: float
    candidates: int
    learned_from: Annotated[bool, Meta(description="False where the request was out of the trained range.")]
    metadata: Annotated[Any, Meta(description="The caller's own, as it was sent.")]
    feedback: FeedbackSummary | None
    shadows: list[ShadowList]
    reasons: ListReasons | None


class ModelSummary(Struct):
    """One model version, its role in the traffic and its failure rate."""

    version: int
    name: str
    role: Literal["current", "canary", "shadow", "idle"]
    share: float
    digest: str
    created: float
    rate: Rate


class ModelList(Struct):
    """All model versions, the newest first, with their failure rates and the traffic of each model."""

    models: list[ModelSummary]
    traffic: Annotated[Traffic, Meta(description="Of the default model.")]
    traffic_by_model: dict[str, Traffic]


class ShownDifference(Struct):
    """Difference in mean gain per list, new version minus old, with Welch's 95 % interval.

    Each version is judged by the lists it served itself, as in an A/B test.
    """

    difference: float
    low: float
    high: float
    verdict: Literal["roll out", "do not roll out", "cannot tell"]


class LogComparison(Struct):
    """Off-policy estimates: what lists of each version would have been worth, from the propensities of their items."""

    policies: list[dict[str, Any]]
    baseline: str
    n_lists: int
    advice: str


class VersionComparison(Struct):
    """Two model versions compared on lists with feedback."""

    new: int
    old: int
    lists: Annotated[list[int], Meta(description="Lists with feedback of the new and of the old version.")]
    shown: Annotated[ShownDifference | None, Meta(description="null where a version has fewer than two such lists.")]
    log: Annotated[LogComparison | None, Meta(description="null where there is no such list.")]


class CertificateSummary(Struct):
    """The guarantee of a model: a lower bound on the expected value of its lists.

    It follows from the regret measured while learning, relative to the best sequence of `comparator_length` policies,
    and holds with probability 1 - `delta` if the assumptions are met.
    """

    text: str
    assumptions_met: bool
    approximation_ratio: float
    slack: float
    lower_bound_on_value: float
    length: int
    comparator_length: int
    rounds: int
    delta: float
    value_seen: float
    breaches: list[str]
    notes: list[str]


class ModelDetail(ModelSummary):
    """One model version in full: what it takes, what it builds, and its certificate."""

    kind: str
    length: int | None
    budget: float | None
    per_group: PerGroup | None
    n_features: int
    feature_names: list[str] | None
    n_context: int | None
    certified: str | None
    ranges: Annotated[
        list[list[float]] | None, Meta(description="By feature: the least and the most that is taken as it is.")
    ]
    can_learn: bool
    certificate: CertificateSummary | None


class SnapshotSummary(Struct):
    """A stored state of learning that can be rolled back to or exported."""

    number: int
    applied: int
    count: int
    created: float
    reason: str
    bytes: int


class LearnedComparison(Struct, frozen=True):
    """Gain per list of the learned policy minus that of the deployed one, on recent feedback, with its interval."""

    lists: int
    difference: float
    low: float
    high: float
    source: Annotated[str | None, Meta(description="The API key whose feedback says so; null for all feedback.")] = None

    @property
    def behind(self) -> bool:
        """Whether the learned policy is worse: the whole interval lies below 0."""
        return self.high < 0

    def __str__(self) -> str:
        interval = f"{self.low:.3f} to {self.high:.3f}"
        of = "" if self.source is None else f" with feedback of the key {self.source!r}"
        gains = f"the learned policy gains {self.difference:.3f} ({interval})"
        return f"{gains} per list over the last {self.lists} lists{of}"


class VersionLearning(Struct):
    """The state of learning of one version."""

    version: int
    model: str
    state: Literal["learning", "frozen"]
    reason: Annotated[str | None, Meta(description="Why it is frozen.")]
    lists: Annotated[int, Meta(description="Lists learned from.")]
    applied: Annotated[int, Meta(description="The last feedback that was looked at.")]
    waiting: Annotated[int, Meta(description="Feedback that is still to be looked at.")]
    quarantined: Annotated[int, Meta(description="Feedback that cannot be learned from.")]
    serves_learned: Annotated[bool, Meta(description="False where lists come from the policy as deployed.")]
    comparison: LearnedComparison | None
    base: Annotated[int, Meta(description="The snapshot that it goes on from.")]
    snapshots: list[SnapshotSummary]


class QuarantinedFeedback(Struct):
    """One feedback that could not be learned from, with the reason."""

    event: int
    version: int
    list_id: str
    created: float
    reason: str


class LearningStatus(Struct):
    """The state of learning over all replicas, by version."""

    on: Annotated[bool, Meta(description="Whether this replica may learn.")]
    leader: Annotated[str | None, Meta(description="The replica that learns at present.")]
    events: int
    versions: list[VersionLearning]
    quarantine: list[QuarantinedFeedback]


class ErrorDetail(Struct):
    """An error: a stable code, a message for people, and the field at fault, if any."""

    code: str
    message: str
    field: str | None


class ErrorAnswer(Struct):
    """The body of every answer that is not a success."""

    error: ErrorDetail


class Health(Struct):
    """Whether the process runs, or is ready for requests."""

    status: str
