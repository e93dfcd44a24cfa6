"""Quality features of sentences: what each shows by itself, in the manner of Kulesza and Taskar (2012)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from listwright._internal.tokens import FUNCTION_WORDS, PRONOUNS, tokens
from listwright.text.clusters import Cluster
from listwright.text.vectors import Rows, cosine_similarity, lexrank, term_counts, tf_idf, unit_vectors

_Column = NDArray[np.float64]
_CAPITAL = re.compile(r"(?<=[a-z0-9,;:)'\"] )[A-Z][\w'-]*")  # inside a sentence: mostly names
_QUOTE = re.compile(r"[\"\u201c\u201d]|``")
_LONG_WORDS = 40
_LONG_CHARACTERS = 240


@dataclass(frozen=True)
class _View:
    """What the features are computed from, worked out once per cluster; arrays have one entry or row per sentence."""

    cluster: Cluster
    words: list[list[str]]
    documents: NDArray[np.int64]
    positions: NDArray[np.int64]
    lengths: _Column
    counts: Rows
    columns: dict[str, int]
    is_content: _Column
    vectors: Rows
    similarity: NDArray[np.float32]


def quality_features(cluster: Cluster) -> tuple[NDArray[np.float32], tuple[str, ...]]:
    """Describe each sentence of a cluster by 20 features between 0 and 1.

    They look at position (first, second, early, ...), length, similarity to the cluster, to its document and to its
    title, centrality, and the kinds of words. Nothing here looks at references or at a list so far, so that the same
    columns are available for new clusters.

    Parameters
    ----------
    cluster : Cluster
        The sentences.

    Returns
    -------
    rows : array of float32 of shape (sentences, 20)
        One row per sentence.
    names : tuple of str
        The name of each column.

    See Also
    --------
    listwright.text.tf_idf : The vectors that similarities are measured on.

    References
    ----------
    Kulesza and Taskar (2012), Determinantal point processes for machine learning.

    Examples
    --------
    >>> cluster = Cluster.from_documents("rain", [["Rain hit Oslo.", "It stopped."], ["Heavy rain hit Oslo."]])
    >>> rows, names = quality_features(cluster)
    >>> rows.shape, names[:3]
    ((3, 20), ('first', 'second', 'early'))
    >>> rows[:, names.index("echo")].tolist()
    [1.0, 0.0, 1.0]
    """
    view = _view(cluster)
    columns = [np.clip(feature(view), 0.0, 1.0) for feature in _FEATURES.values()]
    return np.stack(columns, axis=1).astype(np.float32), tuple(_FEATURES)


def _view(cluster: Cluster) -> _View:
    words = [tokens(sentence) for sentence in cluster.sentences]
    counts, columns = term_counts(words)
    vectors = tf_idf(words)
    return _View(
        cluster=cluster,
        words=words,
        documents=np.asarray(cluster.documents, dtype=np.int64),
        positions=np.asarray(cluster.positions, dtype=np.int64),
        lengths=np.maximum([len(sentence) for sentence in words], 1).astype(np.float64),
        counts=counts,
        columns=columns,
        is_content=np.array([word not in FUNCTION_WORDS for word in columns], dtype=np.float64),
        vectors=vectors,
        similarity=cosine_similarity(vectors),
    )


def _relative(view: _View) -> _Column:
    """Position as a share of that of the document's last sentence."""
    last = np.zeros(view.documents.max() + 1)
    np.maximum.at(last, view.documents, view.positions)
    return view.positions / np.maximum(last[view.documents], 1.0)


def _cosine_to_mean(vectors: Rows, group: NDArray[np.int64]) -> _Column:
    means = unit_vectors(_group_sums(vectors, group))
    return np.asarray(vectors.multiply(means[group]).sum(axis=1), dtype=np.float64).ravel()


def _group_sums(rows: Rows, group: NDArray[np.int64]) -> Rows:
    membership = type(rows)((np.ones(len(group)), (group, np.arange(len(group)))), shape=(group.max() + 1, len(group)))
    return type(rows)(membership @ rows)


def _degree(view: _View) -> _Column:
    """Sum of cosines with the other sentences, relative to the highest of the cluster."""
    total = view.similarity.sum(axis=1, dtype=np.float64) - view.similarity.diagonal()
    return total / max(total.max(), 1e-9)


def _echo(view: _View) -> _Column:
    """Share of the other documents that hold a sentence with a cosine above 0.3 to this one."""
    alike = type(view.counts)(view.similarity > 0.3)
    heard = _group_sums(alike, view.documents).toarray() > 0
    n_documents = len(heard)
    return (heard.sum(axis=0) - heard[view.documents, np.arange(len(view.documents))]) / max(n_documents - 1, 1)


def _word_frequency(view: _View) -> _Column:
    """Mean frequency of its content words in the cluster (SumBasic), relative to the most frequent one."""
    chance = np.asarray(view.counts.sum(axis=0)).ravel() * view.is_content
    return _content_mean(view, chance / max(chance.max(initial=0.0), 1.0))


def _word_spread(view: _View) -> _Column:
    """Mean share of the documents that use its content words."""
    used = _group_sums(view.counts, view.documents).toarray() > 0
    return _content_mean(view, used.mean(axis=0))


def _content_mean(view: _View, worth: _Column) -> _Column:
    """Average a value per word over the content words of each sentence; 0 where there are none."""
    n_content = np.asarray(view.counts @ view.is_content)
    return np.asarray(view.counts @ (worth * view.is_content)) / np.maximum(n_content, 1.0)


def _title_overlap(view: _View) -> _Column:
    """Share of the title's content words that the sentence holds; 0 without a title."""
    title = {word for word in tokens(view.cluster.title or "") if word not in FUNCTION_WORDS}
    held = [view.columns[word] for word in sorted(title) if word in view.columns]
    present = (view.counts[:, held] > 0).sum(axis=1) if held else np.zeros(len(view.lengths))
    return np.asarray(present, dtype=np.float64).ravel() / max(len(title), 1)


def _share_of(view: _View, wanted: Callable[[str], bool]) -> _Column:
    """Share of a sentence's words for which `wanted` is true."""
    flags = np.array([wanted(word) for word in view.columns], dtype=np.float64)
    return np.asarray(view.counts @ flags) / view.lengths


_FEATURES: dict[str, Callable[[_View], _Column]] = {
    "first": lambda view: (view.positions == 0).astype(np.float64),
    "second": lambda view: (view.positions == 1).astype(np.float64),
    "early": lambda view: (view.positions < 5).astype(np.float64),
    "inverse_position": lambda view: np.asarray(1.0 / (1.0 + view.positions), np.float64),
    "relative_position": _relative,
    "words": lambda view: view.lengths / _LONG_WORDS,
    "characters": lambda view: np.array([len(text) for text in view.cluster.sentences]) / _LONG_CHARACTERS,
    "short": lambda view: (view.lengths < 8).astype(np.float64),
    "centroid": lambda view: _cosine_to_mean(view.vectors, np.zeros_like(view.documents)),
    "own_document": lambda view: _cosine_to_mean(view.vectors, view.documents),
    "lexrank": lambda view: (share := lexrank(view.similarity)) / share.max(),
    "degree": _degree,
    "echo": _echo,
    "word_frequency": _word_frequency,
    "word_spread": _word_spread,
    "title_overlap": _title_overlap,
    "capitals": lambda view: np.array([len(_CAPITAL.findall(text)) for text in view.cluster.sentences]) / view.lengths,
    "pronouns": lambda view: _share_of(view, PRONOUNS.__contains__),
    "numbers": lambda view: _share_of(view, str.isdigit),
    "quotes": lambda view: np.array([_QUOTE.search(text) is not None for text in view.cluster.sentences], np.float64),
}
