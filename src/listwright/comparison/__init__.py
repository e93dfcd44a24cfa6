"""Methods side by side on the same problems, with paired differences."""

from listwright.comparison.compare import compare
from listwright.comparison.result import Comparison
from listwright.comparison.table import Table

__all__ = ["Comparison", "Table", "compare"]
