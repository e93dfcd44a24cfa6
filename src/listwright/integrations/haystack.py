"""Context packing as a Haystack ranker; needs the package haystack-ai."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from listwright.errors import InputError
from listwright.integrations import make_packer, pick_metadata, resolve_length, values_of_all


@component
class ListwrightRanker:
    """Haystack component that keeps the documents which together cover a query within a token budget.

    Place it after a retriever or a reranker. Unlike a reranker, it weighs each document against those already kept, so
    near copies are dropped. Scores, embeddings and sources are used where all documents have them; titles and sources
    come from `meta`. The `meta` of each kept document gain `listwright_score`, `listwright_probability`,
    `listwright_reason` and `retriever_score`.

    Parameters
    ----------
    packer : str or ContextPacker, optional
        A file that `ContextPacker.save` wrote; the packaged model by default. A pipeline with a packer that is an
        object cannot be written to a file: save the packer, and name its file.
    budget : float or None
        Tokens that the kept documents may have in total; None for no limit.
    length, top_k, top_n : int, optional
        The most documents to keep; the three mean the same.
    per_source : int, optional
        The most documents to keep from one source (`meta["source"]` or `meta["file_path"]`).
    stop : "auto", optional
        Keep no document that is hardly needed: see `ContextPacker.pack`.
    tokens, score_weight, style
        As in `ContextPacker`, unless a packer is given.

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
        per_source: int | None = None,
        stop: str | None = None,
        tokens: Any = "estimate",
        score_weight: float | None = None,
        style: Any = "plain",
    ) -> None:
        self.packer = packer
        self.budget = budget
        self.length = resolve_length(budget, per_source, length, top_n, top_k)
        self.per_source = per_source
        self.stop = stop
        self.tokens = tokens
        self.score_weight = score_weight
        self.style = style
        self._packer = make_packer(packer, tokens, score_weight, style)

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, list[Document]]:
        """Select documents for a query.

        Parameters
        ----------
        query : str
            The user's question.
        documents : list of Document
            Candidates, in any order.
        top_k : int, optional
            Overrides the component's limit for this call.

        Returns
        -------
        dict
            `{"documents": [...]}`: the kept documents, best first, with the packer's score as their `score`.
        """
        scores = values_of_all([document.score for document in documents])
        packed = self._packer.pack(
            query,
            [document.content or "" for document in documents],
            budget=self.budget,
            length=self.length if top_k is None else top_k,
            titles=[document.meta.get("title") for document in documents],
            sources=values_of_all([doc.meta.get("source") or doc.meta.get("file_path") for doc in documents]),
            scores=scores,
            embeddings=values_of_all([document.embedding for document in documents]),
            per_source=self.per_source,
            stop=self.stop,
        )
        kept = zip(packed.positions, packed.scores, pick_metadata(packed, scores), strict=True)
        return {
            "documents": [
                replace(documents[position], score=score, meta={**documents[position].meta, **said})
                for position, score, said in kept
            ]
        }

    def to_dict(self) -> dict[str, Any]:
        """Serialise the component's parameters for a pipeline file."""
        if not isinstance(self.packer, str | None) or not isinstance(self.tokens, str):
            raise InputError("Name the packer's file, and tokens by a word, to write this pipeline to a file.")
        names = ("packer", "budget", "length", "per_source", "stop", "tokens", "score_weight", "style")
        return default_to_dict(self, **{name: getattr(self, name) for name in names})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ListwrightRanker:
        """Build a ranker from the dictionary that `to_dict` returned."""
        return default_from_dict(cls, data)
