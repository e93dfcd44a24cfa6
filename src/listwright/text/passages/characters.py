"""What every character is to the word splitter: letter, digit, sign, mark or gap; and how it is folded.

Case and accents are folded away. Scripts without blanks between words (Chinese, Japanese, Korean, Thai and their kin)
are read as overlapping pairs of signs.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright._kernels import words as kernel

_SIGNS = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x31F0, 0x31FF))
_WIDE_SIGNS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF))  # letters throughout
_ACCENTS = ((0x0300, 0x036F), (0x0591, 0x05C7), (0x064B, 0x0652), (0x0670, 0x0670), (0x1AB0, 0x1AFF), (0x20D0, 0x20FF))
_BREAKS = '.!?;:,()"[]/{}|<>=\u201c\u201d\u2013\u2014\u00ab\u00bb\u3001\uff0c\uff1a\uff1b\u300c\u300d'
_STOPS = ".!?\u2026"
_WIDE_STOPS = "\u3002\uff01\uff1f\u0964\u061f"


@cache
def tables() -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Build two lookup tables over the code points up to U+FFFF, once per process.

    Returns
    -------
    kinds : array of uint16
        Bits of each code point: letter, digit, sign, space, break and so on (see `_kernels.words`).
    folds : array of uint16
        The code point that it is folded to: lower case, without accents.
    """
    kinds = np.zeros(kernel.LAST_IN_TABLE + 1, dtype=np.uint16)
    folds = np.arange(kernel.LAST_IN_TABLE + 1, dtype=np.uint16)
    for first, last in _WIDE_SIGNS:
        kinds[first : last + 1] = kernel.LETTER | kernel.SIGN
    for code in np.flatnonzero(kinds == 0).tolist():
        kinds[code] = _kind(chr(code))
        if kinds[code] & kernel.LETTER:
            folds[code] = _folded(chr(code))
    return kinds, folds


def _kind(character: str) -> int:
    """Return the bits of one character, from its Unicode category and the lists above."""
    code, category = ord(character), unicodedata.category(character)
    if _within(code, _ACCENTS):
        return kernel.DROPPED
    if category[0] in "LNM":
        bits = kernel.LETTER | (kernel.SIGN if _within(code, _SIGNS) else 0)
        bits |= kernel.UPPER if category in ("Lu", "Lt") else kernel.LOWER if category == "Ll" else 0
        return bits | (kernel.DIGIT if character.isdigit() else 0)
    if character.isspace():
        return kernel.SPACE | (kernel.LINE if character in "\n\u2028\u2029" else 0)
    bits = kernel.BREAK if character in _BREAKS + _WIDE_STOPS + _STOPS else 0
    bits |= kernel.STOP if character in _STOPS else 0
    return bits | (kernel.WIDE_STOP if character in _WIDE_STOPS else 0)


def _folded(character: str) -> int:
    """Return the code point of the base letter in lower case; of a ligature, that of its first letter."""
    base = unicodedata.normalize("NFKD", character)[0].lower()[0]
    return min(ord(base), kernel.LAST_IN_TABLE)


def _within(code: int, ranges: Any) -> bool:
    """Return whether a code point lies in one of several ranges, ends included."""
    return any(first <= code <= last for first, last in ranges)
