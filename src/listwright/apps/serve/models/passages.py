"""Passages for a question: packed into a budget of tokens, or ranked in the form that clients of rerankers send."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from listwright.apps.serve.refusals import invalid
from listwright.apps.settings import Limits
from listwright.context import ContextPacker, Packed
from listwright.context.packed import falling
from listwright.errors import InputError

Query = Annotated[str, Meta(min_length=1, max_length=10_000)]
Count = Annotated[int, Meta(ge=1)]
Positive = Annotated[float, Meta(gt=0)]


class Passage(Struct, forbid_unknown_fields=True):
    """A passage with what is known of it."""

    text: str
    title: str | None = None
    source: Annotated[str | int | None, Meta(description="Where it is from; see per_source.")] = None
    score: Annotated[float | None, Meta(description="Of a retriever or reranker: higher is better.")] = None
    embedding: list[float] | None = None
    tokens: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="What it takes of the budget; by default its words.")
    ] = None


class PackRequest(Struct, forbid_unknown_fields=True):
    """A question and the passages that may be put into the context of its answer."""

    query: Query
    passages: Annotated[list[str | Passage], Meta(min_length=1)]
    budget: Annotated[Positive | None, Meta(description="Tokens of all passages together; null for no limit.")] = 2000.0
    length: Annotated[Count | None, Meta(description="Passages that may be picked.")] = None
    per_source: Annotated[Count | None, Meta(description="Passages that may come from one source.")] = None
    query_embedding: list[float] | None = None
    order: Annotated[
        Literal["rank", "edges", "document"],
        Meta(description="Order of the passages in `text`: best first, best at both ends, or as they were sent."),
    ] = "rank"


class Document(Struct):
    """A document of a reranker's client; other fields are not looked at."""

    text: str
    title: str | None = None


class RerankRequest(Struct):
    """What clients of Cohere's and Jina's rerankers send; fields that mean nothing here are not looked at."""

    query: Query
    documents: Annotated[list[str | Document], Meta(min_length=1)]
    top_n: Annotated[Count | None, Meta(description="Results to return; all by default.")] = None
    return_documents: bool = False
    model: Annotated[str, Meta(max_length=200, description="Sent back as it is: the service has one packer.")] = (
        "listwright"
    )


class Packing:
    """The packer of a service.

    Parameters
    ----------
    path : Path or None
        A file that `ContextPacker.save` wrote; None for the model that is shipped, which is read when it is first
        asked for.
    """

    def __init__(self, path: Path | None, limits: Limits) -> None:
        self.packer = ContextPacker() if path is None else ContextPacker.load(path)
        self.limits = limits

    def pack(self, asked: PackRequest) -> dict[str, Any]:
        """The passages to put into the context, as they are answered."""
        self._check(asked.passages, "passages")
        sizes = [None if isinstance(one, str) else one.tokens for one in asked.passages]
        options = {"budget": asked.budget, "length": asked.length, "per_source": asked.per_source}
        found = self._packed(
            asked.query,
            asked.passages,
            "passages",
            query_embedding=asked.query_embedding,
            sizes=None if None in sizes else sizes,
            **options,
        )
        picked = [
            {"index": index, "score": score, "reason": reason}
            for index, score, reason in zip(found.positions, found.scores, found.reasons, strict=True)
        ]
        return {"passages": picked, "tokens": found.tokens, "text": found.text(asked.order)}

    def rerank(self, asked: RerankRequest) -> dict[str, Any]:
        """All documents, or the best of them, with scores that fall by position."""
        self._check(asked.documents, "documents")
        count = min(asked.top_n or len(asked.documents), len(asked.documents))
        found = self._packed(asked.query, asked.documents, "documents", budget=None, length=count)
        order, scores = _all_of(found, len(asked.documents))
        results: list[dict[str, Any]] = [
            {"index": index, "relevance_score": score} for index, score in zip(order[:count], scores, strict=False)
        ]
        if asked.return_documents:
            for one in results:
                document = asked.documents[one["index"]]
                one["document"] = {"text": document if isinstance(document, str) else document.text}
        return {"model": asked.model, "results": results}

    def _check(self, passages: list[Any], field: str) -> None:
        if len(passages) > self.limits.items:
            raise invalid(field, f"Send at most {self.limits.items:,} {field}. Got {len(passages):,}.")

    def _packed(self, query: str, passages: list[Any], field: str, **options: Any) -> Packed:
        try:
            return self.packer.pack(query, passages, **options)
        except InputError as error:
            raise invalid(field, str(error)) from None


def _all_of(found: Packed, count: int) -> tuple[list[int], list[float]]:
    """Positions and scores in [0, 1], those that are never picked (empty ones and copies) at the end."""
    picked = set(found.positions)
    left = [position for position in range(count) if position not in picked]
    bounded = falling([min(1.0, max(0.0, score)) for score in [*found.scores, *[0.0] * len(left)]])
    lowest = min(0.0, bounded[-1])  # scores that had to fall below 0 to stay apart
    return [*found.positions, *left], [(score - lowest) / (1.0 - lowest) for score in bounded]
