"""Counts what passages take of a token budget: by words, by a function, or by a tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, as_numbers
from listwright._kernels.words import LAST_IN_TABLE, SIGN
from listwright.errors import InputError
from listwright.text.passages.characters import tables

Counter = Callable[[str], int]


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
