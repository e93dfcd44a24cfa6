"""Words as ROUGE counts them."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from listwright.errors import MissingExtra

_TOKEN = re.compile(r"[a-z0-9]+")
_LONGEST_UNSTEMMED = 3


def tokens(text: str, *, stem: bool = False) -> list[str]:
    """Lower-case runs of letters a-z and digits, in order; ``stem=True`` also takes word endings off.

    These are the tokens of the `rouge-score` package, so that scores compare with published ones.

    Examples
    --------
    >>> tokens("Rivers rose 2.5 metres.")
    ['rivers', 'rose', '2', '5', 'metres']
    >>> tokens("Rivers rose 2.5 metres.", stem=True)
    ['river', 'rose', '2', '5', 'metr']
    """
    words = _TOKEN.findall(text.lower())
    return [stem_token(word) for word in words] if stem else words


@lru_cache(maxsize=1 << 18)
def stem_token(word: str) -> str:
    """The Porter stem of one token; words of up to three characters stay as they are.

    Examples
    --------
    >>> stem_token("flooding"), stem_token("was")
    ('flood', 'was')
    """
    if len(word) <= _LONGEST_UNSTEMMED:
        return word
    return str(_stemmer().stem(word))


@cache
def _stemmer() -> Any:
    try:
        return import_module("nltk.stem.porter").PorterStemmer()
    except ImportError as error:
        raise MissingExtra("Stemming needs nltk, which is not installed.", extra="text") from error
