"""Packing passages into a token budget, and reranking: the bodies of requests and answers, and the packer."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from threading import Lock
from time import thread_time
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, to_builtins

from listwright.context import ContextPacker, Packed
from listwright.context.fitting import ScoreWeights
from listwright.context.packed import decreasing_scores
from listwright.context.passages import token_counter
from listwright.errors import InputError
from listwright.serve.messages import Budgets, Group, PerGroup
from listwright.serve.models.intake import budgets_of, read_quota
from listwright.serve.models.version import Cost
from listwright.serve.refusals import check_affordable, invalid
from listwright.serve.settings import PRETRAINED, Limits
from listwright.serve.store.records import PackedContext

Query = Annotated[str, Meta(max_length=10_000)]
Count = Annotated[int, Meta(ge=1)]
Positive = Annotated[float, Meta(gt=0)]
BYTES_PER_CHARACTER = 50  # of a passage: words, their counts and links, and the text itself
EVERY_QUESTION, ONE_IN = 100, 10  # the first questions from which weights of scores are estimated, and then one in ten


class Passage(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A passage with its metadata. A plain string is enough where there is none."""

    text: str
    title: str | None = None
    source: Annotated[
        Group | None, Meta(description="Where it is from, for per_source; nested sources from coarse to fine.")
    ] = None
    score: Annotated[float | None, Meta(description="Of a retriever or reranker: higher is better.")] = None
    embedding: list[float] | None = None
    tokens: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description="What it takes of the budget; by default counted from its text."),
    ] = None
    uses: Annotated[Budgets | None, Meta(description="What it takes of each of `budgets`, by name.")] = None


class PackRequest(Struct, forbid_unknown_fields=True):
    """A question and the passages that may be put into the prompt."""

    query: Query
    passages: Annotated[list[str | Passage], Meta(min_length=1)]
    budget: Annotated[Positive | None, Meta(description="Tokens of all passages together; null for no limit.")] = 2000.0
    budgets: Annotated[
        Budgets | None, Meta(description="Further budgets by name, such as a price; see `uses` of the passages.")
    ] = None
    length: Annotated[Count | None, Meta(description="Most passages to pick.")] = None
    per_source: Annotated[
        PerGroup | None,
        Meta(
            description="Most passages from one source, or [least, most]; by source, too. "
            "For nested sources an array with one of these for each level."
        ),
    ] = None
    exclude: Annotated[list[int] | None, Meta(description="Positions of passages that are not picked.")] = None
    query_embedding: list[float] | None = None
    stop: Annotated[Literal["auto"] | None, Meta(description="Pick no passage that is hardly needed.")] = None
    min_probability: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None, Meta(description="Pick no passage that is less likely needed.")
    ] = None
    score_weight: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(
            description="What scores and embeddings weigh beside the texts: log-odds for a standard deviation. By "
            "default as learned by the packer, or as estimated from the questions so far."
        ),
    ] = None
    must_include: Annotated[list[int], Meta(description="Positions of passages that are picked in any case.")] = []
    truncate: Annotated[bool, Meta(description="Cut passages that are too long, instead of leaving them out.")] = False
    style: Annotated[Literal["plain", "numbered"], Meta(description="How `text` writes passages.")] = "plain"
    order: Annotated[
        Literal["rank", "score", "edges", "document"],
        Meta(description="Order of the passages in `text`: best first, best at both ends, or as they were sent."),
    ] = "rank"


class Document(Struct, omit_defaults=True):
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


class PickedPassage(Struct):
    """A picked passage."""

    index: Annotated[int, Meta(description="Where it stands among those sent.")]
    score: Annotated[float, Meta(description="What it was expected to add; it falls by position.")]
    reason: Annotated[str, Meta(description="What it adds, and what links it to those before it.")]
    probability: Annotated[float, Meta(description="That it is needed, given those before it.")]


class PackAnswer(Struct):
    """The passages to put into the prompt, best first, and as one text. Send `list_id` back with the feedback."""

    list_id: str
    passages: list[PickedPassage]
    tokens: float
    text: Annotated[str, Meta(description="The passages as one text, in the order that was asked for.")]
    tokens_saved: Annotated[float, Meta(description="Of the passages that `stop` left out.")] = 0
    notes: Annotated[list[str], Meta(description="What was left out because it is too long.")] = []


class RerankResult(Struct, omit_defaults=True):
    """A document and its score."""

    index: int
    relevance_score: Annotated[float, Meta(description="From 0 to 1; it falls by position.")]
    document: Annotated[dict[str, str] | None, Meta(description="With return_documents.")] = None


class RerankAnswer(Struct):
    """Documents, best first. Each score says what the document adds to those before it."""

    id: str
    model: str
    results: list[RerankResult]


class Packing:
    """Answers pack and rerank requests, and estimates from them what scores weigh."""

    def __init__(self, path: Path | None, tokens: str, limits: Limits) -> None:
        if path is None or path.name == PRETRAINED:
            self.packer = ContextPacker(tokens=tokens)
        else:
            self.packer = ContextPacker.load(path, tokens=tokens)
        self.limits, self.cost = limits, Cost()
        self.weights, self.asked, self.lock = ScoreWeights(self.packer), 0, Lock()
        token_counter(tokens)

    def warm_up(self) -> None:
        for _ in range(2):
            self.cost.forget()  # the first time was that of the compiler
            self._pack("Who wrote it?", ["Ada wrote it.", "The sea is wide."], "passages", {}, length=2).reasons  # noqa: B018

    def pack(self, request: PackRequest) -> tuple[PackAnswer, PackedContext]:
        self._check(request.passages, "passages")
        sizes = [None if isinstance(passage, str) else passage.tokens for passage in request.passages]
        uses = [None if isinstance(passage, str) else passage.uses for passage in request.passages]
        packed = self._pack(
            request.query,
            request.passages,
            "passages",
            {"style": request.style, "score_weight": self._score_weight(request)},
            query_embedding=request.query_embedding,
            sizes=None if None in sizes else sizes,
            budget=request.budget,
            length=request.length,
            per_source=_per_source(request),
            exclude=request.exclude or (),
            budgets=budgets_of(request.budgets, uses, "passages"),
            stop=request.stop,
            min_probability=request.min_probability,
            must_include=request.must_include,
            truncate=request.truncate,
        )
        asked: dict[str, Any] = {"query": request.query, "passages": to_builtins(request.passages)}
        if request.query_embedding is not None:
            asked["query_embedding"] = request.query_embedding
        context = PackedContext(asked, packed.positions)
        rows = zip(packed.positions, packed.scores, packed.reasons, packed.probabilities, strict=True)
        picked = [PickedPassage(*row) for row in rows]
        text = packed.text(request.order)
        return PackAnswer(context.id, picked, packed.tokens, text, packed.tokens_saved, packed.notes), context

    def _score_weight(self, request: PackRequest) -> float | None:
        """Return what scores weigh: as asked, or else as estimated from the questions so far, of which this is one."""
        if request.score_weight is not None:
            return request.score_weight
        with self.lock:
            self.asked += 1
            if self.asked <= EVERY_QUESTION or self.asked % ONE_IN == 0:
                try:
                    self.weights.add(request.query, request.passages, query_embedding=request.query_embedding)
                except InputError as error:
                    raise invalid("passages", str(error)) from None
            return self.weights.estimate()

    def rerank(self, request: RerankRequest) -> tuple[RerankAnswer, PackedContext]:
        documents = request.documents
        self._check(documents, "documents")
        count = min(request.top_n or len(documents), len(documents))
        uncounted = [0] * len(documents)  # without a budget, nobody asks for their tokens
        packed = self._pack(request.query, documents, "documents", {}, sizes=uncounted, budget=None, length=count)
        order, scores = _rank_all(packed, len(documents))
        results = [RerankResult(index, score) for index, score in zip(order[:count], scores, strict=False)]
        if request.return_documents:
            for result in results:
                document = documents[result.index]
                result.document = {"text": document if isinstance(document, str) else document.text}
        context = PackedContext({"query": request.query, "passages": to_builtins(documents)}, order[:count])
        return RerankAnswer(context.id, request.model, results), context

    def _check(self, passages: list[Any], field: str) -> None:
        if len(passages) > self.limits.items:
            raise invalid(field, f"Send at most {self.limits.items:,} {field}. Got {len(passages):,}.")
        work = _n_characters(passages)
        memory = BYTES_PER_CHARACTER * work
        check_affordable(self.cost.expected_seconds(work), memory, self.limits, f"Send fewer or shorter {field}.")

    def _pack(self, query: str, passages: list[Any], field: str, settings: dict[str, Any], **options: Any) -> Packed:
        start = thread_time()
        try:
            packed = copy(self.packer).set_params(**settings).pack(query, passages, **options)
        except InputError as error:
            raise invalid(field, str(error)) from None
        self.cost.note(_n_characters(passages), thread_time() - start)
        return packed


def _n_characters(passages: list[Any]) -> int:
    return sum(len(passage if isinstance(passage, str) else passage.text) for passage in passages)


def _per_source(request: PackRequest) -> Any:
    """Return the quotas of sources as `ContextPacker.pack` takes them."""
    asked = request.per_source
    sources = [passage.source for passage in request.passages if isinstance(passage, Passage)]
    names = [name for source in sources for name in (source if isinstance(source, list) else [source])]
    if isinstance(asked, list) and any(isinstance(source, list) for source in sources):
        return [read_quota(entry, names) for entry in asked]
    return read_quota(asked, names)


def _rank_all(packed: Packed, count: int) -> tuple[list[int], list[float]]:
    # Documents that are never picked (empty ones and copies) follow the picked ones.
    picked = set(packed.positions)
    left = [position for position in range(count) if position not in picked]
    bounded = decreasing_scores([*packed.probabilities, *[0.0] * len(left)])
    lowest = min(0.0, bounded[-1])  # scores that had to fall below 0 to stay apart
    return [*packed.positions, *left], [(score - lowest) / (1.0 - lowest) for score in bounded]
