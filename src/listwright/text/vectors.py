"""Sentences as sparse tf-idf vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.linalg import unit_rows
from listwright.text.words import word_number

Rows: TypeAlias = "sparse.csr_array[Any, tuple[int, int]]"


class DocumentFrequency(NamedTuple):
    """In how many of `n_documents` texts each word occurs."""

    n_documents: int
    counts: Mapping[str, int]


def document_frequency(texts: Iterable[Sequence[str]]) -> DocumentFrequency:
    """Count, for each word, the texts that hold it.

    Examples
    --------
    >>> document_frequency([["rain", "rain"], ["rain", "wind"]])
    DocumentFrequency(n_documents=2, counts=Counter({'rain': 2, 'wind': 1}))
    """
    sets = [set(text) for text in texts]
    return DocumentFrequency(len(sets), Counter(word for words in sets for word in sorted(words)))


def term_counts(texts: Sequence[Sequence[str]]) -> tuple[Rows, dict[str, int]]:
    """How often each word stands in each text, and the column of each word (in order of first use).

    Examples
    --------
    >>> counts, columns = term_counts([["rain", "rain"], ["rain", "wind"]])
    >>> counts.toarray().tolist(), columns
    ([[2.0, 0.0], [1.0, 1.0]], {'rain': 0, 'wind': 1})
    """
    columns: dict[str, int] = {}
    indices = [columns.setdefault(word, len(columns)) for text in texts for word in text]
    indptr = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
    shape = (len(texts), len(columns))
    counts = sparse.csr_array((np.ones(len(indices)), np.asarray(indices, dtype=np.int64), indptr), shape=shape)
    counts.sum_duplicates()
    return counts, columns


def tf_idf(texts: Sequence[Sequence[str]], *, document_frequency: DocumentFrequency | None = None) -> Rows:
    """One unit row per text: word counts times log((N + 1) / (df + 1/2)).

    N and df are taken over the texts themselves unless `document_frequency` brings its own. Words that occur
    everywhere keep a small weight, so that no text with words becomes a zero row. Columns are in order of first use.

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
    weighted.idf_ = _own_idf(counts) if document_frequency is None else _given_idf(columns, document_frequency)
    return sparse.csr_array(weighted.transform(counts), dtype=np.float32)


def hashed_tf_idf(texts: Sequence[Sequence[str]], width: int) -> Rows:
    """The same rows with `width` columns, in which a word has the same column whatever the texts.

    Examples
    --------
    >>> rows = hashed_tf_idf([["rain", "fell"], ["rain", "stopped"], ["rain"]], 1000)
    >>> rows.shape, rows[[2]].indices.tolist() == [word_number("rain") % 1000]
    ((3, 1000), True)
    """
    rows = tf_idf(texts)
    names = dict.fromkeys(word for text in texts for word in text)
    columns = np.array([word_number(word) % width for word in names], dtype=np.int64)
    hashed = sparse.csr_array((rows.data, columns[rows.indices], rows.indptr), shape=(rows.shape[0], width))
    hashed.sum_duplicates()
    return hashed


def unit_vectors(rows: Rows) -> Rows:
    """The rows at length 1 in float32; empty rows stay zero."""
    found: Rows = unit_rows(rows).astype(np.float32)
    return found


def cosine_similarity(rows: Rows, others: Rows | None = None) -> NDArray[np.float32]:
    """Cosine of each unit row with each of `others` (default: the rows themselves), as a dense table.

    Examples
    --------
    >>> rows = tf_idf([["rain", "fell"], ["rain", "stopped"], ["wind"]])
    >>> print(cosine_similarity(rows).round(2))
    [[1.   0.19 0.  ]
     [0.19 1.   0.  ]
     [0.   0.   1.  ]]
    """
    product = rows @ (rows if others is None else others).T
    return np.asarray(product.toarray(), dtype=np.float32)


def _own_idf(counts: Rows) -> NDArray[np.float64]:
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    return _idf(counts.shape[0], frequency)


def _given_idf(columns: Mapping[str, int], known: DocumentFrequency) -> NDArray[np.float64]:
    return _idf(known.n_documents, np.array([known.counts.get(word, 0) for word in columns], dtype=np.int64))


def _idf(n_documents: int, frequency: NDArray[np.int64]) -> NDArray[np.float64]:
    weight: NDArray[np.float64] = np.log((n_documents + 1) / (frequency + 0.5))
    return weight
