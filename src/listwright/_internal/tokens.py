"""Tokens and stems as ROUGE counts them, equal to those of the `rouge-score` package."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any
from zlib import crc32

from listwright._internal.extras import require_extra

_TOKEN = re.compile(r"[a-z0-9]+")
_LONGEST_UNSTEMMED = 3


def tokens(text: str, *, stem: bool = False) -> list[str]:
    """Return lower-case runs of the letters a-z and digits, in order.

    These are the tokens of the `rouge-score` package, so that scores compare with published ones. Letters outside a-z
    split words; for features of text in other languages, see `passage_features`.

    Parameters
    ----------
    text : str
        The text.
    stem : bool
        Whether to reduce tokens to their Porter stems, which needs nltk (the extra `text`).

    See Also
    --------
    stem_token : The stem of one token.
    rouge : Scores that compare tokens.

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
    if len(word) <= _LONGEST_UNSTEMMED:
        return word
    return str(_stemmer().stem(word))


def word_number(word: str) -> int:
    """Hash a word to 32 bits with CRC-32, the same in every process and on every machine, unlike `hash`."""
    return crc32(word.encode(errors="surrogatepass"))


@cache
def _stemmer() -> Any:
    """Make nltk's Porter stemmer once, on first use, so that importing this package does not need nltk."""
    return require_extra("nltk.stem.porter", "Stemming needs nltk.", extra="text").PorterStemmer()


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PRONOUNS = word_set(
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself "
    "she her hers herself they them their theirs themselves"
)

FUNCTION_WORDS = PRONOUNS | word_set(
    "a an the this that these those it its itself and or but nor so yet if then else than as because while when where "
    "who whom whose which what how why of in on at by for from to into onto over under up down out off with without "
    "within through during before after between among against about above below across along around near since until "
    "is am are was were be been being do does did done doing has have had having will would shall should can could may "
    "might must not no only just also very too more most some any all each every both few many much other such own "
    "same there here again once further s t d m re ve ll don didn doesn isn wasn weren won"
)
