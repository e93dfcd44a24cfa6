"""The exact graph of nearest neighbours against the bare product of the same blocks."""

from __future__ import annotations

from benchmarks.gpu.data import vectors
from benchmarks.speed.timing import Record, compare
from listwright.selection.graph import neighbor_graph
from listwright.selection.progress import silent
from listwright.selection.similarity import Dots
from listwright.selection.vectors import make_vectors

N, D, NEIGHBORS = 20_000, 384, 50


def records() -> list[Record]:
    """One line: the product is what the graph cannot do without."""
    rows = make_vectors(vectors(N, D), "cosine").prepared()
    similarity = Dots(rows, rows)

    def product() -> None:
        for low in range(0, N, 2048):
            for first in range(0, N, 512):
                rows.table[low : low + 2048] @ rows.table[first : first + 512].T

    ours = lambda: neighbor_graph(similarity, NEIGHBORS, silent)  # noqa: E731
    work = f"graph of {NEIGHBORS} nearest neighbours, {N:,} x {D}"
    return [compare(work, "the bare blocked matrix product", ours=ours, theirs=product, at_least=0.4, repeats=1)]
