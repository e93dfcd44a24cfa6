"""Sparse tf-idf vectors of tokenised texts, on which similarity between sentences is measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import unit_rows
from listwright._internal.tokens import word_number

Rows: TypeAlias = "sparse.csr_array[Any, tuple[int, int]]"


def term_counts(texts: Sequence[Sequence[str]]) -> tuple[Rows, dict[str, int]]:
    columns: dict[str, int] = {}
    indices = [columns.setdefault(word, len(columns)) for text in texts for word in text]
    indptr = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
    shape = (len(texts), len(columns))
    counts = sparse.csr_array((np.ones(len(indices)), np.asarray(indices, dtype=np.int64), indptr), shape=shape)
    counts.sum_duplicates()
    return counts, columns


def tf_idf(texts: Sequence[Sequence[str]]) -> Rows:
    """Return one unit row per text: word counts times log((N + 1) / (df + 1/2)), N and df counted over the texts.

    Words that occur everywhere keep a small weight, so that no text with words becomes a zero row. Columns are in order
    of first use, so that rows of two calls cannot be compared: see `hashed_tf_idf` for that.

    Parameters
    ----------
    texts : sequence of sequences of str
        Tokens of each text.

    Returns
    -------
    sparse array of float32 of shape (texts, words)
        Rows of length 1; a text without words is a zero row.

    See Also
    --------
    hashed_tf_idf : Columns that are the same in every call.
    cosine_similarity : Compares the rows.

    Examples
    --------
    >>> rows = tf_idf([["rain", "fell"], ["rain", "stopped"], ["rain"]])
    >>> print(rows.toarray().round(2))
    [[0.13 0.99 0.  ]
     [0.13 0.   0.99]
     [1.   0.   0.  ]]
    """
    from sklearn.feature_extraction.text import TfidfTransformer  # here: it takes a second to import

    counts, columns = term_counts(texts)
    if not columns:
        return counts.astype(np.float32)
    weighted = TfidfTransformer()
    weighted.idf_ = np.log((len(texts) + 1) / (np.bincount(counts.indices, minlength=len(columns)) + 0.5))
    return sparse.csr_array(weighted.transform(counts), dtype=np.float32)


def hashed_tf_idf(texts: Sequence[Sequence[str]], width: int) -> Rows:
    """Return the rows of `tf_idf` with `width` columns, in which a word has the same column whatever the texts."""
    # Words that collide share a column, so that `width` should be far above the number of words in one text.
    rows = tf_idf(texts)
    names = dict.fromkeys(word for text in texts for word in text)
    columns = np.array([word_number(word) % width for word in names], dtype=np.int64)
    hashed = sparse.csr_array((rows.data, columns[rows.indices], rows.indptr), shape=(rows.shape[0], width))
    hashed.sum_duplicates()
    return hashed


def unit_vectors(rows: Rows) -> Rows:
    """Scales rows to length 1 in float32; zero rows stay zero."""
    scaled: Rows = unit_rows(rows).astype(np.float32)
    return scaled


def cosine_similarity(rows: Rows, others: Rows | None = None) -> NDArray[np.float32]:
    """Return the cosine of each unit row with each of `others`, as a dense table."""
    product = rows @ (rows if others is None else others).T
    return np.asarray(product.toarray(), dtype=np.float32)


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
    links = (similarity > threshold).astype(np.float64)
    np.fill_diagonal(links, 1.0)  # each sentence is its own neighbour, so that no row is empty
    step = links / links.sum(axis=1, keepdims=True)
    share = np.full(n_rows, 1.0 / max(n_rows, 1))
    for _ in range(max_steps):
        moved = damping * (share @ step) + (1.0 - damping) / n_rows
        if np.abs(moved - share).sum() < tolerance:
            return moved
        share = moved
    return share
