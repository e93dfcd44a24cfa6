"""Context packing as a Haystack ranker; needs the package haystack-ai."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from listwright.context import ContextPacker


@component
class ListwrightRanker:
    """Haystack component that keeps the documents which together cover a query within a token budget.

    Place it after a retriever or a reranker. Unlike a reranker, it weighs each document against those already kept, so
    near copies are dropped. Scores, embeddings and sources are used where all documents have them; titles and sources
    come from `meta`.

    Parameters
    ----------
    model : str, optional
        A file that `ContextPacker.save` wrote; the packaged model by default.
    budget : float or None
        Tokens (words separated by blanks) that the kept documents may have in total; None for no limit.
    top_k : int, optional
        The most documents to keep.
    per_source : int, optional
        The most documents to keep from one source (`meta["source"]` or `meta["file_path"]`).

    See Also
    --------
    listwright.context.ContextPacker : The model behind it, with training.
    """

    def __init__(
        self,
        model: str | None = None,
        budget: float | None = 2000,
        top_k: int | None = None,
        per_source: int | None = None,
    ) -> None:
        self.model = model
        self.budget = budget
        self.top_k = top_k
        self.per_source = per_source
        self._packer = ContextPacker(model)

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
            Overrides the component's `top_k` for this call.

        Returns
        -------
        dict
            `{"documents": [...]}`: the kept documents, best first, with the packer's score as their `score`.
        """
        packed = self._packer.pack(
            query,
            [document.content or "" for document in documents],
            budget=self.budget,
            length=self.top_k if top_k is None else top_k,
            titles=[document.meta.get("title") for document in documents],
            sources=_sources(documents),
            scores=_of_all([document.score for document in documents]),
            embeddings=_of_all([document.embedding for document in documents]),
            per_source=self.per_source,
        )
        kept = zip(packed.positions, packed.scores, strict=True)
        return {"documents": [replace(documents[position], score=score) for position, score in kept]}

    def to_dict(self) -> dict[str, Any]:
        """Serialise the component's parameters for a pipeline file."""
        return default_to_dict(self, model=self.model, budget=self.budget, top_k=self.top_k, per_source=self.per_source)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ListwrightRanker:
        """Build a ranker from the dictionary that `to_dict` returned."""
        return default_from_dict(cls, data)


def _sources(documents: list[Document]) -> list[Any] | None:
    """Return the source of each document; None unless all documents have one."""
    return _of_all([document.meta.get("source") or document.meta.get("file_path") for document in documents])


def _of_all(values: list[Any]) -> list[Any] | None:
    """Return the values if there are some and none is missing, else None."""
    return values if values and all(value is not None for value in values) else None
