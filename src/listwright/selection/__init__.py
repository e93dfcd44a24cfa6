"""Choosing items whose reward is known: greedy lists."""

from listwright.selection.greedy import greedy

__all__ = ["greedy"]
