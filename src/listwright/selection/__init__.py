"""Selection of rows whose value is known: greedy lists for problems, and subsets of a table of vectors."""

from listwright.selection.greedy import greedy
from listwright.selection.result import Selection
from listwright.selection.select import select
from listwright.selection.selector import Selector

__all__ = ["Selection", "Selector", "greedy", "select"]
