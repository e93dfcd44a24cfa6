"""Explanations: why an item was picked, and why another was not."""

from listwright.reasons.explain import Explainer, explain

__all__ = ["Explainer", "explain"]
