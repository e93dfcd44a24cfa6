"""The JSON that comes in."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Positive = Annotated[float, Field(allow_inf_nan=False, gt=0)]
# Whether many numbers are finite is checked in one go: see intake.py.
Numbers = list[float] | dict[str, float]
ItemId = Annotated[str, Field(min_length=1, max_length=200)] | Annotated[int, Field(ge=-(2**53), le=2**53)]
ListId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
EventKey = Annotated[str, Field(pattern=r"^[!-~]{1,100}$")]
VersionNumber = Annotated[int, Field(ge=1, le=2**31 - 1)]
Share = Annotated[float, Field(ge=0, le=1)]


class Strict(BaseModel):
    """No field that is not known, no number written as text."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Item(Strict):
    """A candidate."""

    id: ItemId
    features: Annotated[Numbers, Field(union_mode="left_to_right", description="In the model's order, or by name.")]
    size: Annotated[Positive | None, Field(description="What it takes of a budget.")] = None
    catalogue: Annotated[int | None, Field(ge=0, description="Which item of the model's catalogue it is.")] = None
    vector: Annotated[list[float] | None, Field(description="What similarity is measured on.")] = None


class ListRequest(Strict):
    """What to build a list from; with neither length nor budget, the model's own."""

    items: Annotated[list[Item], Field(min_length=1)]
    context: Annotated[Numbers | None, Field(union_mode="left_to_right")] = None
    length: Annotated[int | None, Field(ge=1)] = None
    budget: Positive | None = None


class BatchRequest(Strict):
    """Several lists at once."""

    lists: Annotated[list[ListRequest], Field(min_length=1)]


class FeedbackRequest(Strict):
    """What came of a list: the ids that were clicked (none: an empty array), or a gain for each item in order."""

    list_id: ListId
    clicks: list[ItemId] | None = None
    gains: list[Annotated[float, Field(ge=0, le=1)]] | None = None
    idempotency_key: Annotated[
        EventKey | None, Field(description="The same key and content again is stored once; by default the list's id.")
    ] = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.clicks is None) == (self.gains is None):
            raise ValueError("give either clicks or gains")
        return self


class Traffic(Strict):
    """Which versions serve. A canary gets that share of the lists."""

    current: VersionNumber
    canary: VersionNumber | None = None
    share: Share = 0.0
