"""The JSON bodies of requests, as msgspec structs; decoding validates types and bounds.

Descriptions of fields appear in the OpenAPI document. `Asked` is the common form of JSON and binary list requests that
the rest of the service works with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Raw, Struct

ItemId = Annotated[str, Meta(min_length=1, max_length=200)] | Annotated[int, Meta(ge=-(2**53), le=2**53)]
PerGroup = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Positive = Annotated[float, Meta(gt=0)]
Numbers = list[float] | dict[str, float | str]
ListId = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
EventKey = Annotated[str, Meta(pattern=r"^[!-~]{1,100}\Z")]
ModelName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}\Z")]
VersionNumber = Annotated[int, Meta(ge=1, le=2**31 - 1)]
DEFAULT = "default"  # name of the model where a service has one


class Item(Struct, forbid_unknown_fields=True):
    """A candidate."""

    id: ItemId
    features: Annotated[Numbers, Meta(description="Numbers in the model's order; or numbers and categories by name.")]
    size: Annotated[Positive | None, Meta(description="What it takes of a budget.")] = None
    catalogue: Annotated[
        Annotated[int, Meta(ge=0)] | None, Meta(description="Which item of the model's catalogue it is.")
    ] = None
    vector: Annotated[list[float] | None, Meta(description="What similarity is measured on.")] = None
    group: Annotated[ItemId | None, Meta(description="Its source, author or section, for per_group.")] = None


class ListRequest(Struct, forbid_unknown_fields=True):
    """The candidates of a list and its limits. With neither length nor budget, those of the model apply."""

    items: Annotated[list[Item], Meta(min_length=1)]
    length: Annotated[int, Meta(ge=1)] | None = None
    budget: Positive | None = None
    per_group: Annotated[PerGroup | None, Meta(description="Most items of one group in the list.")] = None
    context_features: Annotated[Numbers | None, Meta(description="The context columns of a model that has some.")] = (
        None
    )
    context: Annotated[
        Raw, Meta(description="Any small JSON of your own, such as a user id: stored and exported, never a feature.")
    ] = msgspec.field(default_factory=Raw)
    explain: Annotated[bool, Meta(description="Say with each item why it was picked.")] = False
    model: Annotated[ModelName, Meta(description="Which model, where the service has several.")] = DEFAULT


class BinaryHead(Struct, forbid_unknown_fields=True):
    """The JSON head of a binary list request; the features follow it as float32."""

    ids: Annotated[list[ItemId], Meta(min_length=1)]
    length: Annotated[int, Meta(ge=1)] | None = None
    budget: Positive | None = None
    sizes: list[Positive] | None = None
    catalogue: list[Annotated[int, Meta(ge=0)]] | None = None
    groups: list[ItemId] | None = None
    per_group: PerGroup | None = None
    context_features: list[float] | None = None
    context: Raw = msgspec.field(default_factory=Raw)
    explain: bool = False
    model: ModelName = DEFAULT


@dataclass(frozen=True, eq=False)
class Asked:
    """A request for one list, in whichever format it arrived."""

    ids: Sequence[str | int]  # ids of the candidates; the other sequences have one entry per candidate, too
    rows: Any  # features: a list of lists or of mappings, or a table of float32
    sizes: Sequence[float | None]  # optional properties of each candidate, None where not given
    catalogue: Sequence[int | None]
    vectors: Sequence[Sequence[float] | None]
    length: int | None  # limits of the list; None for the model's own
    budget: float | None
    context_features: Numbers | None  # context columns of the model
    context: Raw  # JSON of the caller, stored but not used
    explain: bool  # whether the answer explains each pick
    model: str  # name of the model
    groups: Sequence[str | int | None]
    per_group: int | None

    @classmethod
    def of(cls, request: ListRequest) -> Asked:
        """Convert a JSON request."""
        items = request.items
        return cls(
            [item.id for item in items],
            [item.features for item in items],
            [item.size for item in items],
            [item.catalogue for item in items],
            [item.vector for item in items],
            request.length,
            request.budget,
            request.context_features,
            request.context,
            request.explain,
            request.model,
            [item.group for item in items],
            request.per_group,
        )

    @property
    def numbers(self) -> int:
        """Approximate count of numbers in the request, as a measure of its cost."""
        return len(self.ids) * len(self.rows[0])


class BatchRequest(Struct, forbid_unknown_fields=True):
    """Several lists in one request."""

    lists: Annotated[list[ListRequest], Meta(min_length=1)]


class FeedbackRequest(Struct, forbid_unknown_fields=True):
    """Feedback on a list: the ids that were clicked (an empty array for none), or a gain in [0, 1] for each item in
    order.
    """

    list_id: ListId
    clicks: list[ItemId] | None = None
    gains: list[Annotated[float, Meta(ge=0, le=1)]] | None = None
    idempotency_key: Annotated[
        EventKey | None,
        Meta(description="The same key and content again is stored once; by default the list's id. Later feedback on "
        "the same list needs a key of its own."),
    ] = None  # fmt: skip


class Traffic(Struct, forbid_unknown_fields=True):
    """Which versions of a model serve."""

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


BODIES: tuple[Any, ...] = (ListRequest, BatchRequest, FeedbackRequest, Traffic, LearningRequest)
