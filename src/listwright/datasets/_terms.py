"""Words of candidates and of the query they answer, weighed within each problem.

How rare a word is, is counted among the candidates of its own problem. No other problem is looked at, so that features
of a test problem do not depend on what else is in the file. Each column of the tables here is a word *of a problem*, so
products of tables never link candidates of two problems.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Ints
from listwright.text.vectors import Rows, term_counts, unit_vectors
from listwright.text.words import FUNCTION_WORDS

VECTOR_COLUMNS = 1 << 18  # words are hashed into as many columns, so that vectors of two files fit together


@dataclass(frozen=True, eq=False)
class Terms:
    """Counts of the words of each candidate and of each problem's query."""

    counts: Rows  # (candidates, terms)
    queries: Rows  # (problems, terms)
    owners: Ints  # by candidate: its problem
    term_owners: Ints  # by term, its problem
    hashes: Ints  # by term: its column in vectors
    is_content: Bools  # by term: whether it is more than a function word

    @cached_property
    def frequency(self) -> Ints:
        """By term: the number of candidates of its problem that contain it."""
        return np.bincount(self.counts.indices, minlength=self.counts.shape[1])

    @cached_property
    def n_candidates(self) -> Ints:
        """By term: the number of candidates of its problem."""
        return np.bincount(self.owners)[self.term_owners]

    @cached_property
    def idf(self) -> Floats:
        """By term: log((N + 1) / (df + 1/2)), as in `listwright.text.vectors.tf_idf`."""
        return np.log((self.n_candidates + 1) / (self.frequency + 0.5))

    @cached_property
    def unit(self) -> Rows:
        """tf-idf rows of the candidates, scaled to length 1."""
        return unit_vectors(_scaled(self.counts, self.idf))

    @cached_property
    def query_cosine(self) -> Floats:
        """By candidate: the tf-idf cosine with its query."""
        return row_sums(self.unit @ unit_vectors(_scaled(self.queries, self.idf)).T)

    def cosines(self) -> Rows:
        """Return the tf-idf cosines of pairs of candidates as a sparse link table, without the diagonal."""
        return off_diagonal(self.unit @ self.unit.T)

    def vectors(self) -> Rows:
        """Return the tf-idf rows over hashed columns, for similarity within a problem (`Problems.vectors`)."""
        # Hashing makes the columns of two files agree, so that their problems can be joined.
        indices = self.hashes[self.unit.indices]
        rows = sparse.csr_array((self.unit.data, indices, self.unit.indptr), (len(self.owners), VECTOR_COLUMNS))
        rows.sum_duplicates()
        return rows


def count_terms(texts: Sequence[Sequence[str]], owners: Ints, queries: Sequence[Sequence[str]]) -> Terms:
    """Count the words of candidates and queries."""
    counts, columns = term_counts([*texts, *queries])
    problem = np.concatenate([owners, np.arange(len(queries))])
    entry_owner = np.repeat(problem, np.diff(counts.indptr))
    keys, local = np.unique(entry_owner * len(columns) + counts.indices, return_inverse=True)
    table = sparse.csr_array((counts.data, local, counts.indptr), (len(problem), len(keys)))
    hashes = np.array([zlib.crc32(word.encode()) % VECTOR_COLUMNS for word in columns], dtype=np.int64)
    content = np.array([word not in FUNCTION_WORDS for word in columns], dtype=bool)
    word_of = keys % len(columns)
    return Terms(
        counts=table[: len(texts)],
        queries=table[len(texts) :],
        owners=owners,
        term_owners=keys // len(columns),
        hashes=hashes[word_of],
        is_content=content[word_of],
    )


def row_sums(table: Any) -> Floats:
    """Return the sum of each row of a sparse table as a flat array."""
    return np.asarray(table.sum(axis=1), dtype=np.float64).ravel()


def off_diagonal(table: Rows) -> Rows:
    """Return the table in float32, with sorted indices, without its diagonal and without stored zeros."""
    entries = sparse.coo_array(table)
    keep = (entries.row != entries.col) & (entries.data != 0)
    where = (entries.row[keep], entries.col[keep])
    kept = sparse.csr_array((entries.data[keep].astype(np.float32), where), shape=table.shape)
    kept.sort_indices()
    return kept


def best_link(table: Rows, worth: Floats) -> Floats:
    """Return, for each row, the largest product of a link and the worth of the candidate linked to; 0 without links."""
    values = table.data * worth[table.indices]
    best = np.zeros(table.shape[0])
    np.maximum.at(best, np.repeat(np.arange(table.shape[0]), np.diff(table.indptr)), values)
    return best


def highest(values: Floats, owners: Ints) -> Floats:
    """By row: the highest value in its problem."""
    best = np.full(int(owners.max()) + 1, -np.inf)
    np.maximum.at(best, owners, values)
    return best[owners]


def _with_data(table: Rows, data: Any) -> Rows:
    """Return a table with the same sparsity pattern and other values."""
    return sparse.csr_array((data, table.indices, table.indptr), shape=table.shape)


def _scaled(table: Rows, by_column: Any) -> Rows:
    """Return the table with each column multiplied by a number."""
    return _with_data(table, table.data * by_column[table.indices])
