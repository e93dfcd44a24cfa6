"""A ranker for Haystack."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from listwright.context import ContextPacker


@component
class ListwrightRanker:
    """Keeps the documents that together hold what an answer needs, within a budget of tokens.

    Scores and embeddings are taken from the documents where all have one; titles and sources from their `meta`.

    Parameters
    ----------
    model : str, optional
        A file that `ContextPacker.save` wrote; the shipped model by default.
    budget : float or None
        Tokens (words between blanks) that the documents may have together.
    top_k, per_source : int, optional
        Documents that may be kept, in all and from one source.
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
        """The documents to keep, best first; `top_k` takes the place of the one that was set."""
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
        """What a pipeline's file holds."""
        return default_to_dict(self, model=self.model, budget=self.budget, top_k=self.top_k, per_source=self.per_source)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ListwrightRanker:
        """A ranker from a pipeline's file."""
        return default_from_dict(cls, data)


def _sources(documents: list[Document]) -> list[Any] | None:
    return _of_all([document.meta.get("source") or document.meta.get("file_path") for document in documents])


def _of_all(values: list[Any]) -> list[Any] | None:
    """The values, where none is missing."""
    return values if values and all(value is not None for value in values) else None
