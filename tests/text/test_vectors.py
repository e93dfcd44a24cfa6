"""tf-idf vectors, cosine and LexRank."""

from __future__ import annotations

import numpy as np
import pytest

from listwright.text.vectors import cosine_similarity, lexrank, term_counts, tf_idf, unit_vectors

TEXTS = [["rain", "fell", "rain"], ["wind", "rose"], [], ["rain", "wind", "stopped"]]


def test_counts_are_those_of_the_words() -> None:
    counts, columns = term_counts(TEXTS)
    assert counts.toarray()[0, columns["rain"]] == 2
    assert counts.sum() == sum(len(text) for text in TEXTS)
    assert counts.has_canonical_format


def test_rows_have_length_one_and_empty_texts_are_zero() -> None:
    rows = tf_idf(TEXTS)
    lengths = np.linalg.norm(rows.toarray(), axis=1)
    np.testing.assert_allclose(lengths, [1, 1, 0, 1], atol=1e-6)
    assert rows.dtype == np.float32


def test_weights_are_counts_times_idf() -> None:
    first = tf_idf(TEXTS).toarray()[0]
    rain, fell = 2 * np.log(5 / 2.5), np.log(5 / 1.5)
    np.testing.assert_allclose(first[:2], np.array([rain, fell]) / np.hypot(rain, fell), rtol=1e-6)


def test_cosine_agrees_with_dense_products_and_takes_other_rows() -> None:
    rows = tf_idf(TEXTS)
    dense = rows.toarray()
    np.testing.assert_allclose(cosine_similarity(rows), dense @ dense.T, atol=1e-6)
    np.testing.assert_allclose(cosine_similarity(rows, rows[:1]), dense @ dense[:1].T, atol=1e-6)


def test_unit_rows_leaves_its_argument_alone() -> None:
    counts, _ = term_counts(TEXTS)
    before = counts.toarray()
    unit_vectors(counts)
    np.testing.assert_array_equal(counts.toarray(), before)


def test_lexrank_solves_its_equation() -> None:
    rng = np.random.default_rng(3)
    similarity = rng.random((12, 12)) * 0.3
    similarity = (similarity + similarity.T) / 2
    links = (similarity > 0.1).astype(float)
    np.fill_diagonal(links, 1)
    steps = 0.85 * links / links.sum(axis=1, keepdims=True) + 0.15 / 12
    share = lexrank(similarity)
    assert share.sum() == pytest.approx(1)
    np.testing.assert_allclose(share @ steps, share, atol=1e-7)


def test_lexrank_of_unlike_sentences_is_even() -> None:
    np.testing.assert_allclose(lexrank(np.eye(4)), 0.25)
