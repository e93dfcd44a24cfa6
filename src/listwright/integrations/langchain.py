"""Context packing as a LangChain document compressor; needs the package langchain-core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from pydantic import ConfigDict, PrivateAttr, StrictBool, field_serializer

from listwright.context import ContextPacker
from listwright.context.passages import values_of_all
from listwright.integrations import keep_documents, make_packer, serialize_setting


class ListwrightCompressor(BaseDocumentCompressor):
    """LangChain compressor that keeps the documents which together cover a query within a token budget.

    Use it in a `ContextualCompressionRetriever` after a retriever that returns more than fits. Each document is
    compared with those already kept, so near copies are dropped. Titles are used where there are any; sources, scores
    and embeddings only where all documents have them. The metadata of each kept document gain `listwright_score`,
    `listwright_probability`, `listwright_reason` and `retriever_score`. What windows of one text share is kept once.

    Parameters
    ----------
    packer : str, Path or ContextPacker, optional
        A packer, or the file that `ContextPacker.save` wrote; the packaged model by default. Serialised, a packer takes
        its model along, and a file its name only.
    budget : float or None
        Tokens that the kept documents may have in total; None for no limit.
    length, top_k, top_n : int, optional
        The most documents to keep; the three mean the same.
    per_source : int, tuple, dict or list, optional
        The most documents to keep from one source, or other quotas, as in `ContextPacker.pack`.
    stop : "auto", optional
        Keep no document that is hardly needed: see `ContextPacker.pack`.
    tokens, score_weight, style
        As in `ContextPacker`, unless a packer is given.
    embedder : Embeddings, optional
        Embeds the query and, where their metadata hold no embeddings, the documents; `acompress_documents` awaits it.
        Without it, embeddings in the metadata still serve to recognise near copies.
    title_key, source_key, score_key, embedding_key : str
        Metadata keys to read from.

    See Also
    --------
    listwright.context.ContextPacker : The model behind it, with training.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    packer: Any = None
    budget: StrictBool | float | None = 2000  # which keeps True, and `make_packer` refuses it: else it were 1
    length: StrictBool | int | None = None
    top_k: StrictBool | int | None = None
    top_n: StrictBool | int | None = None
    per_source: Any = None
    stop: str | None = None
    tokens: Any = "estimate"
    score_weight: StrictBool | float | None = None
    style: Any = "plain"
    embedder: Embeddings | None = None
    title_key: str = "title"
    source_key: str = "source"
    score_key: str = "score"
    embedding_key: str = "embedding"
    _packer: ContextPacker = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        self._packer = make_packer(self, "embed_query")

    @field_serializer("packer", "tokens", "embedder", "per_source")
    def _serialize(self, value: Any) -> Any:
        return serialize_setting(value)

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
        known, asked = self._stored_embeddings(documents), None
        if self.embedder is not None and documents:
            known = known or self.embedder.embed_documents([document.page_content for document in documents])
            asked = self.embedder.embed_query(query)
        return self._keep(documents, query, known, asked)

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Select documents for a query, and await the embedder."""
        known, asked = self._stored_embeddings(documents), None
        if self.embedder is not None and documents:
            known = known or await self.embedder.aembed_documents([document.page_content for document in documents])
            asked = await self.embedder.aembed_query(query)
        return self._keep(documents, query, known, asked)

    def _keep(self, documents: Sequence[Document], query: str, embeddings: Any, asked: Any) -> list[Document]:
        kept = keep_documents(
            self,
            query,
            [document.page_content for document in documents],
            titles=[document.metadata.get(self.title_key) for document in documents],
            sources=[document.metadata.get(self.source_key) for document in documents],
            scores=[document.metadata.get(self.score_key) for document in documents],
            embeddings=embeddings,
            query_embedding=asked,
        )
        return [
            documents[place].model_copy(update={"page_content": text, "metadata": documents[place].metadata | said})
            for place, text, _, said in kept
        ]

    def _stored_embeddings(self, documents: Sequence[Document]) -> list[Any] | None:
        return values_of_all([document.metadata.get(self.embedding_key) for document in documents])
