"""Graph centrality of sentences (LexRank), one of the quality features of summaries."""

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
    """Scores sentences by the stationary distribution of a random walk over similar sentences.

    Two sentences are neighbours if their cosine is above `threshold`. With probability 1 - damping the walk jumps to
    any sentence. Use it to rank sentences of one cluster without training; it knows nothing of redundancy.

    Parameters
    ----------
    similarity : array of shape (sentences, sentences)
        Cosines, such as those of `cosine_similarity`.
    threshold : float
        Cosine above which two sentences are neighbours.
    damping : float
        Probability of following the graph instead of jumping.
    tolerance : float
        The power iteration stops once the distribution changes by less than this, in L1 norm.
    max_steps : int
        Largest number of iterations.

    Returns
    -------
    array of float64
        One share per sentence; the shares add up to 1.

    See Also
    --------
    cosine_similarity : The similarities that it takes.
    quality_features : More features of sentences.

    References
    ----------
    Erkan and Radev (2004), LexRank: Graph-based lexical centrality as salience in text summarization.

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
    """Return the transition matrix; each sentence is its own neighbour, so that no row is empty."""
    links = neighbours.astype(np.float64)
    np.fill_diagonal(links, 1.0)
    steps: NDArray[np.float64] = links / links.sum(axis=1, keepdims=True)
    return steps
