"""How central each sentence is among the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def lexrank(
    similarity: NDArray[np.floating],
    *,
    threshold: float = 0.1,
    damping: float = 0.85,
    tolerance: float = 1e-8,
    max_steps: int = 200,
) -> NDArray[np.float64]:
    """Where a random walk over similar sentences stands: a share for each sentence, summing to 1.

    Two sentences are neighbours when their cosine is above `threshold` (Erkan and Radev 2004). With chance
    1 - damping the walk jumps to any sentence. Found by power iteration.

    Examples
    --------
    >>> similarity = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]])
    >>> lexrank(similarity).round(3).tolist()
    [0.292, 0.416, 0.292]
    """
    n_rows = len(similarity)
    step = _steps(similarity > threshold)
    share = np.full(n_rows, 1.0 / max(n_rows, 1))
    for _ in range(max_steps):
        moved = damping * (share @ step) + (1.0 - damping) / n_rows
        if np.abs(moved - share).sum() < tolerance:
            return moved
        share = moved
    return share


def _steps(neighbours: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Chances of each step; a sentence is its own neighbour, so that every row has somewhere to go."""
    links = neighbours.astype(np.float64)
    np.fill_diagonal(links, 1.0)
    steps: NDArray[np.float64] = links / links.sum(axis=1, keepdims=True)
    return steps
