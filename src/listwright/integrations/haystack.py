"""Context packing as a Haystack ranker; needs the package haystack-ai."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.core.serialization import component_to_dict
from haystack.utils import deserialize_component_inplace

from listwright.context.passages import values_of_all
from listwright.integrations import keep_documents, make_packer, serialize_setting


@component
class ListwrightRanker:
    """Haystack component that keeps the documents which together cover a query within a token budget.

    Place it after a retriever or a reranker. Unlike a reranker, it weighs each document against those already kept, so
    near copies are dropped. Scores, embeddings and sources are used where all documents have them; titles and sources
    come from `meta`. The `meta` of each kept document gain `listwright_score`, `listwright_probability`,
    `listwright_reason` and `retriever_score`.

    Parameters
    ----------
    packer : str, Path or ContextPacker, optional
        A packer, or the file that `ContextPacker.save` wrote; the packaged model by default. In a pipeline's file, a
        packer takes its model along, and a file its name only.
    budget : float or None
        Tokens that the kept documents may have in total; None for no limit.
    length, top_k, top_n : int, optional
        The most documents to keep; the three mean the same.
    per_source : int, tuple, dict or list, optional
        The most documents to keep from one source (`meta["source"]` or `meta["file_path"]`), or other quotas, as in
        `ContextPacker.pack`.
    stop : "auto", optional
        Keep no document that is hardly needed: see `ContextPacker.pack`.
    tokens, score_weight, style
        As in `ContextPacker`, unless a packer is given.
    embedder : component, optional
        Embeds the query where `run` gets no `query_embedding`; `run_async` awaits it, or runs it in a thread.

    See Also
    --------
    listwright.context.ContextPacker : The model behind it, with training.
    """

    def __init__(
        self,
        packer: Any = None,
        budget: float | None = 2000,
        length: int | None = None,
        top_k: int | None = None,
        top_n: int | None = None,
        per_source: Any = None,
        stop: str | None = None,
        tokens: Any = "estimate",
        score_weight: float | None = None,
        style: Any = "plain",
        embedder: Any = None,
    ) -> None:
        self.packer = packer
        self.budget = budget
        self.length = length
        self.top_k = top_k
        self.top_n = top_n
        self.per_source = per_source
        self.stop = stop
        self.tokens = tokens
        self.score_weight = score_weight
        self.style = style
        self.embedder = embedder
        self._packer = make_packer(self, "run")

    def warm_up(self) -> None:
        """Load the embedder's model."""
        if hasattr(self.embedder, "warm_up"):
            self.embedder.warm_up()

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,
        documents: list[Document],
        top_k: int | None = None,
        query_embedding: list[float] | None = None,
    ) -> dict[str, list[Document]]:
        """Select documents for a query.

        Parameters
        ----------
        query : str
            The user's question.
        documents : list of Document
            Candidates, in any order.
        top_k : int, optional
            Overrides the component's limit for this call.
        query_embedding : list of float, optional
            What the embeddings of the documents are compared with.

        Returns
        -------
        dict
            `{"documents": [...]}`: the kept documents, best first, with the packer's score as their `score`.
        """
        if query_embedding is None and self.embedder is not None:
            query_embedding = self.embedder.run(text=query)["embedding"]
        return self._keep(query, documents, top_k, query_embedding)

    @component.output_types(documents=list[Document])
    async def run_async(
        self,
        query: str,
        documents: list[Document],
        top_k: int | None = None,
        query_embedding: list[float] | None = None,
    ) -> dict[str, list[Document]]:
        """Select documents for a query as `run` does, and await the embedder, or run it in a thread."""
        if query_embedding is None and self.embedder is not None:
            run = getattr(self.embedder, "run_async", None)
            waiting = run(text=query) if run else asyncio.to_thread(self.embedder.run, text=query)
            query_embedding = (await waiting)["embedding"]
        return self._keep(query, documents, top_k, query_embedding)

    def _keep(self, query: str, documents: list[Document], top_k: int | None, asked: Any) -> dict[str, list[Document]]:
        kept = keep_documents(
            self,
            query,
            [document.content or "" for document in documents],
            titles=[document.meta.get("title") for document in documents],
            sources=[document.meta.get("source") or document.meta.get("file_path") for document in documents],
            scores=[document.score for document in documents],
            embeddings=values_of_all([document.embedding for document in documents]),
            query_embedding=asked,
            length=top_k,
        )
        return {
            "documents": [
                replace(documents[place], content=text, score=score, meta={**documents[place].meta, **said})
                for place, text, score, said in kept
            ]
        }

    def to_dict(self) -> dict[str, Any]:
        """Serialise the component's parameters for a pipeline file."""
        names = ("budget", "length", "top_k", "top_n", "stop", "score_weight", "style")
        return default_to_dict(
            self,
            packer=serialize_setting(self.packer),
            tokens=serialize_setting(self.tokens),
            per_source=serialize_setting(self.per_source),
            embedder=None if self.embedder is None else component_to_dict(self.embedder, "embedder"),
            **{name: getattr(self, name) for name in names},
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ListwrightRanker:
        """Build a ranker from the dictionary that `to_dict` returned."""
        if data.get("init_parameters", {}).get("embedder") is not None:
            deserialize_component_inplace(data["init_parameters"], key="embedder")
        return default_from_dict(cls, data)
