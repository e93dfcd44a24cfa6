"""Reads passages in the forms that retrieval libraries return: strings, dictionaries, and document objects.

LangChain's `page_content` and `metadata`, LlamaIndex's and Haystack's `text`, `content` and `meta` are understood
without those libraries being imported: only field names matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints, as_numbers
from listwright._internal.linalg import unit_rows
from listwright._kernels.words import LAST_IN_TABLE, SIGN
from listwright.errors import InputError
from listwright.text.passages import PassageFeatures
from listwright.text.passages.reading import tables

TEXTS = ("text", "page_content", "content", "passage", "paragraph_text", "body")
ABOUT = ("metadata", "meta")
Counter = Callable[[str], int]
SAME_WORDS = 0.9  # cosine of tf-idf
SAME_MEANING, SOME_WORDS = 0.95, 0.25  # cosine of embeddings, and of tf-idf beside it
_NUMBER = re.compile(r"\d+")


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
    named = _as_list(titles, n, "titles") or [_metadata(one, "title") or "" for one in passages]
    vectors = _numbers(embeddings, passages, "embedding", 2)
    asked = None if query_embedding is None else as_numbers(query_embedding, "query_embedding")
    if asked is not None and vectors is not None and asked.shape != vectors.shape[1:]:
        raise InputError(f"query_embedding has shape {asked.shape}, and the embeddings {vectors.shape}.")
    return Passages(
        texts=[_text(one, place) for place, one in enumerate(passages)],
        titles=[str(title or "") for title in named],
        sources=_as_list(sources, n, "sources") or _metadata_of_all(passages, "source"),
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


def _metadata(passage: Any, name: str) -> Any:
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


def _metadata_of_all(passages: Sequence[Any], name: str) -> list[Any] | None:
    """Return the value of every passage under a name, or None unless all passages have one."""
    found = [_metadata(one, name) for one in passages]
    return found if found and all(value is not None for value in found) else None


def _as_list(values: Sequence[Any] | None, n: int, name: str) -> list[Any] | None:
    """Return an argument as a list, after checking that it has one entry per passage."""
    if values is None:
        return None
    found = list(values)
    if len(found) != n:
        raise InputError(f"{name} must be one per passage ({n}). Got {len(found)}.")
    return found


def _numbers(values: Any, passages: Sequence[Any], name: str, dimensions: int) -> Floats | None:
    """Return scores or embeddings as an array with the expected number of dimensions, or None where there are none."""
    values = _metadata_of_all(passages, name) if values is None else values
    if values is None:
        return None
    found = as_numbers(values, f"{name}s")
    if found.ndim != dimensions or len(found) != len(passages) or not np.isfinite(found).all():
        raise InputError(f"{name}s must be finite, one per passage ({len(passages)}). Got shape {found.shape}.")
    return found


def words(text: str) -> int:
    """Count the words between blanks; in scripts without blanks, each sign counts as a word."""
    count = len(text.split())
    if text.isascii():
        return count
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    signs = int((tables()[0][codes[codes <= LAST_IN_TABLE]] & SIGN > 0).sum())
    return max(count, signs)


def counter(tokens: Any) -> Counter:
    """Return a function that counts the tokens of a text."""
    if tokens == "words":
        return words
    if hasattr(tokens, "encode") and not isinstance(tokens, str):
        return lambda text: len(tokens.encode(text))
    if callable(tokens):
        return tokens
    raise InputError(f'tokens must be "words", a function of a text, or a tokenizer with encode. Got {tokens!r}.')


def sizes_of(texts: Sequence[str], sizes: Any, tokens: Any) -> Floats:
    """Return the size of each passage: those given, or else those counted."""
    # Raises `InputError` unless sizes are finite, not negative, and one per passage.
    if sizes is None:
        count = counter(tokens)
        sizes = [count(text) for text in texts]
    found = as_numbers(sizes, "sizes")
    if found.shape != (len(texts),) or not (np.isfinite(found) & (found >= 0)).all():
        raise InputError(f"sizes must be one number from 0 per passage ({len(texts)}). Got {sizes!r:.80}.")
    return found


def candidates(texts: list[str]) -> Ints:
    """Return the positions of passages that are not blank, exact copies (up to case and white space) only once."""
    seen: dict[str, int] = {}
    for row, text in enumerate(texts):
        plain = " ".join(text.split()).casefold()
        if plain:
            seen.setdefault(plain, row)
    return np.array(list(seen.values()), dtype=np.int64)


def twins_of(given: Passages, found: PassageFeatures) -> Bools:
    """Return a (passages, passages) table: whether the passage of the row adds nothing to that of the column."""
    same = found.links["alike"] >= SAME_WORDS
    if given.embeddings is not None:
        units = unit_rows(given.embeddings)
        same |= (units @ units.T >= SAME_MEANING) & (found.links["alike"] >= SOME_WORDS)
    np.fill_diagonal(same, False)
    for row, other in np.argwhere(same):
        numbers, known = (set(_NUMBER.findall(given.texts[one])) for one in (row, other))
        same[row, other] = numbers <= known
    return same
