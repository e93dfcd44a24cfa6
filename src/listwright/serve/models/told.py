"""Validation of feedback against the list that it refers to."""

from __future__ import annotations

from collections import OrderedDict

from listwright.serve.models.details import Shown
from listwright.serve.models.requests import FeedbackRequest
from listwright.serve.refusals import invalid

KEPT = 5_000  # lists


class Recent:
    """The last 5,000 lists that this process served, in memory."""

    def __init__(self) -> None:
        """Start empty."""
        self.lists: OrderedDict[str, Shown] = OrderedDict()

    def add(self, list_id: str, shown: Shown) -> None:
        """Add a list, dropping the oldest if there are too many."""
        self.lists[list_id] = shown
        if len(self.lists) > KEPT:
            self.lists.popitem(last=False)

    def get(self, list_id: str) -> Shown | None:
        """Return a list, or None if it is not among the recent ones."""
        return self.lists.get(list_id)


def gains_of(told: FeedbackRequest, shown: Shown) -> tuple[float, ...]:
    """Return the gain of each item of a list."""
    if (told.clicks is None) == (told.gains is None):
        raise invalid("body", "Give either clicks or gains.")
    count = len(shown.items)
    if told.gains is not None:
        if len(told.gains) != count:
            raise invalid("gains", f"The list has {count} items, so it takes {count} gains.")
        return tuple(told.gains)
    clicks = told.clicks or []
    if len(clicks) > count:
        raise invalid("clicks", f"The list has {count} items. Got {len(clicks)} clicks.")
    places = {item: place for place, item in enumerate(shown.items)}
    gains = [0.0] * count
    for i, item in enumerate(clicks):
        if item not in places:
            raise invalid(f"clicks.{i}", "This item is not in the list.")
        gains[places[item]] = 1.0
    return tuple(gains)
