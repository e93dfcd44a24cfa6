"""Why an item was picked."""

from listwright.reasons.explain import Explainer, explain

__all__ = ["Explainer", "explain"]
