"""Adapters that pack contexts inside other retrieval pipelines.

Each module wraps `listwright.context.ContextPacker` in the component type of one framework: `langchain` (a document
compressor), `llama_index` (a node postprocessor) and `haystack` (a ranker). Import the module of the framework that is
installed; nothing here imports them all.
"""

from __future__ import annotations

from typing import Any

from listwright.context import ContextPacker, Packed
from listwright.context.packed import Style
from listwright.context.packer import check_limits
from listwright.errors import InputError


def resolve_length(
    budget: float | None, per_source: int | None, length: int | None, top_n: int | None, top_k: int | None
) -> int | None:
    """Return the most passages to keep, which three names mean alike; limits that cannot be are an error."""
    given = {value for value in (length, top_n, top_k) if value is not None}
    if len(given) > 1:
        raise InputError(f"length, top_n and top_k mean the same. Got {', '.join(map(str, sorted(given)))}.")
    most = given.pop() if given else None
    check_limits(budget, most, per_source)
    return most


def make_packer(packer: Any, tokens: Any, score_weight: float | None, style: Style) -> ContextPacker:
    """Return the packer that an adapter uses: the one given, or one with the model of a file or the shipped one."""
    if isinstance(packer, ContextPacker):
        return packer
    return ContextPacker(packer, tokens=tokens, score_weight=score_weight, style=style)


def values_of_all(values: list[Any]) -> list[Any] | None:
    """Return the values if there are some and none is missing, else None."""
    return values if values and all(value is not None for value in values) else None


def pick_metadata(packed: Packed, scores: list[Any] | None) -> list[dict[str, Any]]:
    """Return what the metadata of each kept document gain: score, probability, reason and the retriever's score."""
    return [
        {
            "listwright_score": packed.scores[place],
            "listwright_probability": packed.probabilities[place],
            "listwright_reason": packed.reasons[place],
            **({} if scores is None else {"retriever_score": scores[position]}),
        }
        for place, position in enumerate(packed.positions)
    ]
