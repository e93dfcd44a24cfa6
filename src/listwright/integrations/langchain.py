"""A document compressor for LangChain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from pydantic import ConfigDict, Field

from listwright.context import ContextPacker


class ListwrightCompressor(BaseDocumentCompressor):
    """Keeps the documents that together hold what an answer needs, within a budget of tokens.

    Titles, sources, scores and embeddings are taken from the metadata of the documents, under the keys named, where
    all documents have them. The score of each document kept is written to its metadata as `listwright_score`, and why
    it was kept as `listwright_reason`.

    Parameters
    ----------
    packer : ContextPacker
        What chooses; the shipped model by default.
    budget : float or None
        Tokens that the documents may have together.
    top_k, per_source : int, optional
        Documents that may be kept, in all and from one source.
    embedder : Embeddings, optional
        Embeds the query and, where their metadata hold no embeddings, the documents. Without one, embeddings in the
        metadata still tell near copies.
    title_key, source_key, score_key, embedding_key : str
        Keys of the metadata.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    packer: Any = Field(default_factory=ContextPacker)
    budget: float | None = 2000
    top_k: int | None = None
    per_source: int | None = None
    embedder: Embeddings | None = None
    title_key: str = "title"
    source_key: str = "source"
    score_key: str = "score"
    embedding_key: str = "embedding"

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """The documents to keep, best first."""
        packed = self.packer.pack(
            query,
            [document.page_content for document in documents],
            budget=self.budget,
            length=self.top_k,
            titles=[document.metadata.get(self.title_key) for document in documents],
            sources=self._all(documents, self.source_key),
            scores=self._all(documents, self.score_key),
            per_source=self.per_source,
            **self._embeddings(documents, query),
        )
        kept = zip(packed.positions, packed.scores, packed.reasons, strict=True)
        return [_told(documents[position], score, reason) for position, score, reason in kept]

    def _all(self, documents: Sequence[Document], key: str) -> list[Any] | None:
        found = [document.metadata.get(key) for document in documents]
        return found if found and all(value is not None for value in found) else None

    def _embeddings(self, documents: Sequence[Document], query: str) -> dict[str, Any]:
        known = self._all(documents, self.embedding_key)
        if self.embedder is None or not documents:
            return {"embeddings": known}
        vectors = known or self.embedder.embed_documents([document.page_content for document in documents])
        return {"embeddings": vectors, "query_embedding": self.embedder.embed_query(query)}


def _told(document: Document, score: float, reason: str) -> Document:
    told = {"listwright_score": score, "listwright_reason": reason}
    return document.model_copy(update={"metadata": {**document.metadata, **told}})
