"""Words of texts in many scripts, and where sentences begin."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwright._kernels.words import CAPITAL, FUNCTION, NUMBER, YEAR
from listwright.text.passages.reading import hashes_of, numbers_of, split


def words_of(text: str) -> list[str]:
    found = split([text])
    return [text[first:last] for first, last in zip(found.firsts, found.lasts, strict=True)]


def sentences_of(text: str) -> list[list[str]]:
    found, words = split([text]), words_of(text)
    return [
        [word for word, number in zip(words, found.sentences, strict=True) if number == sentence]
        for sentence in range(int(found.sentences.max()) + 1)
    ]


@given(st.text(alphabet=st.characters(max_codepoint=0x24F)))
def test_words_are_runs_of_letters_and_digits(text: str) -> None:
    assert words_of(text) == re.findall(r"[^\W_]+", text)


@given(st.text(min_size=1, alphabet="abcÄéñ1"), st.text(min_size=1, alphabet="abcÄéñ1"))
def test_words_are_the_same_but_for_case_and_accents(one: str, other: str) -> None:
    def plain(word: str) -> str:
        return "".join(c for c in unicodedata.normalize("NFKD", word.lower()) if not unicodedata.combining(c))

    first, second = split([one]), split([other])
    assert (first.words[0] == second.words[0]) == (plain(one) == plain(other))
    whole = [plain(word) if word.isdigit() else plain(word)[:5] for word in (one, other)]
    assert (first.stems[0] == second.stems[0]) == (whole[0] == whole[1])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("東京は日本", ["東京", "京は", "は日", "日本"]),
        ("한국 어", ["한국", "어"]),
        ("Привет, мир", ["Привет", "мир"]),
        ("get_user(x1)", ["get", "user", "x1"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("naïve cafe\u0301", ["naïve", "cafe\u0301"]),
        ("", []),
        ("...", []),
        ("😀 ok", ["😀", "ok"]),
    ],
)
def test_words_of_other_scripts(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("It rained. Rivers rose.", [2, 2]),
        ("J. R. Smith came. He left.", [4, 2]),
        ("It cost 2.5 marks. why?", [6]),
        ("One line\nof text", [4]),
        ("| a | 1 |\n| B | 2 |", [2, 2]),
        ("A title\n\nand text", [2, 2]),
        ("東京。大阪\uff01", [1, 1]),
        ('He said "Go." Then he left.', [3, 3]),
    ],
)
def test_sentences(text: str, lengths: list[int]) -> None:
    assert [len(sentence) for sentence in sentences_of(text)] == lengths


def test_kinds_of_words() -> None:
    flags = split(["The Duke, born in 1769 with 12"]).flags
    assert [bool(flag & CAPITAL) for flag in flags] == [True, True, False, False, True, False, True]
    assert [bool(flag & FUNCTION) for flag in flags] == [True, False, False, True, False, True, False]
    assert [bool(flag & YEAR) for flag in flags] == [False] * 4 + [True, False, False]
    assert [bool(flag & NUMBER) for flag in flags] == [False] * 4 + [True, False, True]


def test_numbers_are_in_order_of_first_use() -> None:
    numbers, count = numbers_of(hashes_of(["b", "a", "b", "c"]))
    assert numbers.tolist() == [0, 1, 0, 2]
    assert count == 3
    keys = np.arange(1000, dtype=np.uint64) * np.uint64(1 << 40)  # all fall into one slot
    assert numbers_of(keys)[0].tolist() == list(range(1000))
