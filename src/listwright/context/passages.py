"""Reads passages in the forms that retrieval libraries return: strings, dictionaries, and document objects.

LangChain's `page_content` and `metadata`, LlamaIndex's and Haystack's `text`, `content` and `meta` are understood
without those libraries being imported: only field names matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Ints, as_numbers
from listwright.errors import InputError

TEXTS = ("text", "page_content", "content", "passage", "paragraph_text", "body")
ABOUT = ("metadata", "meta")


@dataclass(frozen=True, eq=False)
class Passages:
    """The passages of one query and what is known of them, checked and in parallel lists."""

    texts: list[str]  # one per passage; a title is "" where there is none
    titles: list[str]
    sources: list[Any] | None  # where each passage is from, or None where not all passages say
    scores: Floats | None  # scores of a retriever, higher for better passages
    embeddings: Floats | None  # vectors of the passages
    query_embedding: Floats | None  # vector of the question

    @property
    def tells(self) -> bool:
        """Whether there are scores or embeddings with which the policy's own scores can be adjusted."""
        return self.scores is not None or (self.embeddings is not None and self.query_embedding is not None)

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: Ints) -> Passages:
        """Return the passages at these rows, in their order."""
        return replace(
            self,
            texts=[self.texts[row] for row in rows],
            titles=[self.titles[row] for row in rows],
            sources=None if self.sources is None else [self.sources[row] for row in rows],
            scores=None if self.scores is None else self.scores[rows],
            embeddings=None if self.embeddings is None else self.embeddings[rows],
        )


def read_passages(
    passages: Sequence[Any],
    *,
    titles: Sequence[str | None] | None = None,
    sources: Sequence[Any] | None = None,
    scores: Any = None,
    embeddings: Any = None,
    query_embedding: Any = None,
) -> Passages:
    """Read passages and what is known of them, from the arguments or from the passages themselves."""
    if isinstance(passages, str | bytes | Mapping) or not hasattr(passages, "__len__"):
        raise InputError(f"passages must be a list of texts or documents. Got {type(passages).__name__}.")
    n = len(passages)
    named = _given(titles, n, "titles") or [_said(one, "title") or "" for one in passages]
    vectors = _numbers(embeddings, passages, "embedding", 2)
    asked = None if query_embedding is None else as_numbers(query_embedding, "query_embedding")
    if asked is not None and vectors is not None and asked.shape != vectors.shape[1:]:
        raise InputError(f"query_embedding has shape {asked.shape}, and the embeddings {vectors.shape}.")
    return Passages(
        texts=[_text(one, place) for place, one in enumerate(passages)],
        titles=[str(title or "") for title in named],
        sources=_given(sources, n, "sources") or _all_said(passages, "source"),
        scores=_numbers(scores, passages, "score", 1),
        embeddings=vectors,
        query_embedding=asked,
    )


def _text(passage: Any, place: int) -> str:
    """Return the text of a passage, from the first of the known field names that holds a string."""
    if isinstance(passage, str):
        return passage
    for name in TEXTS:
        found = _field(passage, name)
        if isinstance(found, str):
            return found
    raise InputError(
        f"Passage {place} has no text. Give strings, or dictionaries or objects with {', '.join(TEXTS[:3])}. "
        f"Got {type(passage).__name__}."
    )


def _said(passage: Any, name: str) -> Any:
    """Return the value that a passage, or else its metadata, holds under a name; None for plain strings."""
    if isinstance(passage, str):
        return None
    found = _field(passage, name)
    for about in ABOUT:
        inside = _field(passage, about)
        if found is None and isinstance(inside, Mapping):
            found = inside.get(name)
    return found


def _field(passage: Any, name: str) -> Any:
    """Return a key of a mapping or an attribute of an object, None where it is missing."""
    return passage.get(name) if isinstance(passage, Mapping) else getattr(passage, name, None)


def _all_said(passages: Sequence[Any], name: str) -> list[Any] | None:
    """Return the value of every passage under a name, or None unless all passages have one."""
    found = [_said(one, name) for one in passages]
    return found if found and all(value is not None for value in found) else None


def _given(values: Sequence[Any] | None, n: int, name: str) -> list[Any] | None:
    """Return an argument as a list, after checking that it has one entry per passage."""
    if values is None:
        return None
    found = list(values)
    if len(found) != n:
        raise InputError(f"{name} must be one per passage ({n}). Got {len(found)}.")
    return found


def _numbers(values: Any, passages: Sequence[Any], name: str, dimensions: int) -> Floats | None:
    """Return scores or embeddings as an array with the expected number of dimensions, or None where there are none."""
    values = _all_said(passages, name) if values is None else values
    if values is None:
        return None
    found = as_numbers(values, f"{name}s")
    if found.ndim != dimensions or len(found) != len(passages) or not np.isfinite(found).all():
        raise InputError(f"{name}s must be finite, one per passage ({len(passages)}). Got shape {found.shape}.")
    return found
