"""Context packing as a LangChain document compressor; needs the package langchain-core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from pydantic import ConfigDict, Field

from listwright.context import ContextPacker


class ListwrightCompressor(BaseDocumentCompressor):
    """LangChain compressor that keeps the documents which together cover a query within a token budget.

    Use it in a `ContextualCompressionRetriever` after a retriever that returns more than fits. Each document is weighed
    against those already kept, so near copies are dropped. Titles are used where there are any; sources, scores and
    embeddings only where all documents have them. The metadata of each kept document gains `listwright_score` and
    `listwright_reason`; the input documents are not changed.

    Parameters
    ----------
    packer : ContextPacker
        The model that selects; the packaged one by default.
    budget : float or None
        Tokens that the kept documents may have in total; None for no limit.
    top_k : int, optional
        The most documents to keep.
    per_source : int, optional
        The most documents to keep from one source.
    embedder : Embeddings, optional
        Embeds the query and, where their metadata hold no embeddings, the documents. Without it, embeddings in the
        metadata still serve to recognise near copies.
    title_key, source_key, score_key, embedding_key : str
        Metadata keys to read from.

    See Also
    --------
    listwright.context.ContextPacker : The model behind it, with training.
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
        """Select documents for a query.

        Parameters
        ----------
        documents : sequence of Document
            Candidates, in any order.
        query : str
            The user's question.
        callbacks : Callbacks, optional
            Part of LangChain's interface; not used.

        Returns
        -------
        list of Document
            Copies of the kept documents, best first.
        """
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
        """Return the metadata value of each document; None unless all documents have it."""
        found = [document.metadata.get(key) for document in documents]
        return found if found and all(value is not None for value in found) else None

    def _embeddings(self, documents: Sequence[Document], query: str) -> dict[str, Any]:
        """Return the embedding arguments of `ContextPacker.pack`, computing what is missing if there is an embedder."""
        known = self._all(documents, self.embedding_key)
        if self.embedder is None or not documents:
            return {"embeddings": known}
        vectors = known or self.embedder.embed_documents([document.page_content for document in documents])
        return {"embeddings": vectors, "query_embedding": self.embedder.embed_query(query)}


def _told(document: Document, score: float, reason: str) -> Document:
    """Return a copy of the document with its score and reason in the metadata."""
    told = {"listwright_score": score, "listwright_reason": reason}
    return document.model_copy(update={"metadata": {**document.metadata, **told}})
