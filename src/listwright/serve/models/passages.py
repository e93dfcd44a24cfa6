"""Requests for packing and reranking passages, and the packer that answers them.

Structs describe the bodies; their descriptions appear in the OpenAPI document. `Packing` holds the service's
`ContextPacker`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from listwright.context import ContextPacker, Packed
from listwright.context.packed import decreasing_scores
from listwright.errors import InputError
from listwright.serve.refusals import invalid
from listwright.serve.settings import Limits

Query = Annotated[str, Meta(min_length=1, max_length=10_000)]
Count = Annotated[int, Meta(ge=1)]
Positive = Annotated[float, Meta(gt=0)]


class Passage(Struct, forbid_unknown_fields=True):
    """A passage with its metadata. A plain string is enough where there is none."""

    text: str
    title: str | None = None
    source: Annotated[str | int | None, Meta(description="Where it is from; see per_source.")] = None
    score: Annotated[float | None, Meta(description="Of a retriever or reranker: higher is better.")] = None
    embedding: list[float] | None = None
    tokens: Annotated[
        Annotated[float, Meta(ge=0)] | None, Meta(description="What it takes of the budget; by default its words.")
    ] = None


class PackRequest(Struct, forbid_unknown_fields=True):
    """A question and the passages that may be put into the prompt."""

    query: Query
    passages: Annotated[list[str | Passage], Meta(min_length=1)]
    budget: Annotated[Positive | None, Meta(description="Tokens of all passages together; null for no limit.")] = 2000.0
    length: Annotated[Count | None, Meta(description="Most passages to pick.")] = None
    per_source: Annotated[Count | None, Meta(description="Most passages from one source.")] = None
    query_embedding: list[float] | None = None
    order: Annotated[
        Literal["rank", "edges", "document"],
        Meta(description="Order of the passages in `text`: best first, best at both ends, or as they were sent."),
    ] = "rank"


class Document(Struct):
    """A document in the format of reranker clients; unknown fields are ignored."""

    text: str
    title: str | None = None


class RerankRequest(Struct):
    """The request of Cohere's and Jina's reranker clients; fields without a meaning here are ignored."""

    query: Query
    documents: Annotated[list[str | Document], Meta(min_length=1)]
    top_n: Annotated[Count | None, Meta(description="Results to return; all by default.")] = None
    return_documents: bool = False
    model: Annotated[str, Meta(max_length=200, description="Sent back as it is: the service has one packer.")] = (
        "listwright"
    )


class Packing:
    """Answers pack and rerank requests."""

    def __init__(self, path: Path | None, limits: Limits) -> None:
        """Load the packer."""
        self.packer = ContextPacker() if path is None else ContextPacker.load(path)
        self.limits = limits

    def warm_up(self) -> None:
        """Load the packer and compile its kernels, with a made-up question."""
        self.packer.pack("Who wrote it?", ["Ada wrote it.", "The sea is wide."], length=2).reasons  # noqa: B018

    def pack(self, asked: PackRequest) -> dict[str, Any]:
        """Choose passages within the budget of tokens."""
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
        """Rank all documents, or the best `top_n` of them."""
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
        """Refuse more passages than the service takes."""
        if len(passages) > self.limits.items:
            raise invalid(field, f"Send at most {self.limits.items:,} {field}. Got {len(passages):,}.")

    def _packed(self, query: str, passages: list[Any], field: str, **options: Any) -> Packed:
        """Run the packer; its input errors become 422 refusals of `field`."""
        try:
            return self.packer.pack(query, passages, **options)
        except InputError as error:
            raise invalid(field, str(error)) from None


def _all_of(found: Packed, count: int) -> tuple[list[int], list[float]]:
    """Return the order and the scores of all documents."""
    # Documents that are never picked (empty ones and copies) follow the picked ones.
    picked = set(found.positions)
    left = [position for position in range(count) if position not in picked]
    bounded = decreasing_scores([min(1.0, max(0.0, score)) for score in [*found.scores, *[0.0] * len(left)]])
    lowest = min(0.0, bounded[-1])  # scores that had to fall below 0 to stay apart
    return [*found.positions, *left], [(score - lowest) / (1.0 - lowest) for score in bounded]
