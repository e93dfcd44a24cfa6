"""Choosing rows whose worth is known: greedy lists of problems, and selections out of tables of vectors."""

from listwright.selection.greedy import greedy
from listwright.selection.result import Selection
from listwright.selection.select import select

__all__ = ["Selection", "greedy", "select"]
