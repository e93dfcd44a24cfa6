"""Clusters: the sentences of some documents on one topic, and summaries that people wrote of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from listwright.errors import InputError


@dataclass(frozen=True)
class Cluster:
    """The candidate sentences of one topic.

    Attributes:
        id: name of the cluster.
        sentences: all sentences, document after document.
        documents: number of the document of each sentence, from 0.
        positions: place of each sentence in its document, from 0.
        references: summaries written by people; empty where there are none.
        title: title or topic, if there is one.
        split: "train", "test" or the like, if the source says so.
        document_names: name of each document, if known.
        sections: heading that each sentence stands under, if known.

    Examples
    --------
    >>> cluster = Cluster.from_documents("rain", [["It rained.", "Rivers rose."], ["Rain fell."]])
    >>> cluster.documents, cluster.positions
    ((0, 0, 1), (0, 1, 0))
    """

    id: str
    sentences: tuple[str, ...]
    documents: tuple[int, ...]
    positions: tuple[int, ...]
    references: tuple[str, ...] = ()
    title: str | None = None
    split: str | None = None
    document_names: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n_sentences = len(self.sentences)
        if n_sentences == 0:
            raise InputError(f"Cluster {self.id!r} has no sentences.")
        for name in ("documents", "positions", "sections"):
            n_values = len(getattr(self, name))
            if n_values != n_sentences and (n_values or name != "sections"):
                raise InputError(f"Cluster {self.id!r} has {n_sentences} sentences but {n_values} {name}.")

    @classmethod
    def from_documents(
        cls,
        id: str,
        documents: Sequence[Sequence[str]],
        *,
        references: Sequence[str] = (),
        title: str | None = None,
        split: str | None = None,
        document_names: Sequence[str] = (),
        sections: Sequence[Sequence[str]] = (),
    ) -> Cluster:
        """Number the sentences of each document. Blank sentences are left out; the others keep their place.

        `sections`, where given, has the shape of `documents`.
        """
        kept = [
            (sentence, document, position)
            for document, sentences in enumerate(documents)
            for position, sentence in enumerate(sentences)
            if sentence.strip()
        ]
        return cls(
            id=id,
            sentences=tuple(sentence for sentence, _, _ in kept),
            documents=tuple(document for _, document, _ in kept),
            positions=tuple(position for _, _, position in kept),
            references=tuple(references),
            title=title,
            split=split,
            document_names=tuple(document_names),
            sections=tuple(sections[document][position] for _, document, position in kept) if sections else (),
        )


def require_references(cluster: Cluster, *, source: object) -> Cluster:
    """The cluster itself, or an error that says where references were missing."""
    if not cluster.references:
        raise InputError(f"Cluster {cluster.id!r} in {source} has no references. They may only be missing in predict.")
    return cluster
