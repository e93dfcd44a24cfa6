"""`Cluster`: the sentences of some documents on one topic, and the reference summaries that people wrote of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from listwright.errors import InputError


@dataclass(frozen=True)
class Cluster:
    """The candidate sentences of one topic, with their place in the documents.

    Make one with `Cluster.from_documents`, which numbers the sentences. Instances are immutable.

    Parameters
    ----------
    id : str
        Name of the cluster.
    sentences : tuple of str
        All sentences, document after document.
    documents : tuple of int
        Number of the document of each sentence, from 0.
    positions : tuple of int
        Place of each sentence in its document, from 0.
    references : tuple of str
        Summaries written by people; empty where there are none.
    title : str, optional
        Title or topic.
    split : str, optional
        The part of the data, such as "train" or "test", if the source defines one.
    document_names : tuple of str
        Name of each document; empty if unknown.
    sections : tuple of str
        Heading of the section of each sentence; empty if unknown.

    Raises
    ------
    InputError
        If there are no sentences, or lengths do not agree.

    See Also
    --------
    read_jsonl, read_cluster_folder, read_duc : Read clusters from files.

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
        """Make a cluster from the sentences of each document.

        Blank sentences are left out; the others keep the position that they have in their document.

        Parameters
        ----------
        id : str
            Name of the cluster.
        documents : sequence of sequences of str
            The sentences of each document.
        references : sequence of str
            Summaries written by people, if there are any.
        title, split : str, optional
            Title of the topic, and the part of the data that the cluster belongs to.
        document_names : sequence of str
            One name per document.
        sections : sequence of sequences of str
            The heading of each sentence, in the shape of `documents`.

        Returns
        -------
        Cluster
            With sentences in the order of the documents.
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
    """Return the cluster, or raises `InputError` naming it and its source if it has no references to learn from."""
    if not cluster.references:
        raise InputError(f"Cluster {cluster.id!r} in {source} has no references. They may only be missing in predict.")
    return cluster
