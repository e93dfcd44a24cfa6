"""Routes for retrieval-augmented generation: packing passages into a token budget, and reranking.

Both use the service's `ContextPacker`, in a thread. Nothing is stored, so there is no feedback on these answers.
"""

from __future__ import annotations

import secrets
from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from listwright.serve.api.bodies import read_json
from listwright.serve.api.routes import ERRORS, answer, service_of, takes
from listwright.serve.models.passages import PackRequest, RerankRequest

passages = APIRouter(prefix="/v1", responses=ERRORS)


class PickedPassage(BaseModel):
    """A picked passage."""

    index: int = Field(description="Where it stands among those sent.")
    score: float = Field(description="What it was expected to add; it falls by position.")
    reason: str = Field(description="What it adds, and what links it to those before it.")


class PackAnswer(BaseModel):
    """The passages to put into the prompt, best first, and the same as one text."""

    passages: list[PickedPassage]
    tokens: float
    text: str = Field(description="The passages as one text, in the order that was asked for.")


class RerankResult(BaseModel):
    """A document and its score."""

    index: int
    relevance_score: float = Field(description="From 0 to 1; it falls by position.")
    document: dict[str, Any] | None = Field(default=None, description="With return_documents.")


class RerankAnswer(BaseModel):
    """Documents, best first. Each score says what the document adds to those before it."""

    id: str
    model: str
    results: list[RerankResult]


BODIES = (PackRequest, RerankRequest)


@passages.post("/pack", response_model=PackAnswer, openapi_extra=takes(PackRequest), tags=["passages"])
async def pack(request: Request) -> Response:
    """Choose passages that together contain what the answer to a question needs, within a budget of tokens."""
    service = service_of(request)
    asked = await read_json(request, PackRequest, service.limits.body_bytes)
    return answer(await service.building.run(service.packing.pack, asked))


@passages.post("/rerank", response_model=RerankAnswer, openapi_extra=takes(RerankRequest), tags=["passages"])
async def rerank(request: Request) -> Response:
    """Ranks documents, with the request and answer format of Cohere's and Jina's rerankers."""
    service = service_of(request)
    asked = await read_json(request, RerankRequest, service.limits.body_bytes)
    found = await service.building.run(service.packing.rerank, asked)
    return answer(msgspec.json.encode({"id": secrets.token_hex(16), **found}))
