"""Budgets: reading, measuring, cutting."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwright._internal.tokens import tokens
from listwright.errors import InputError
from listwright.text.budget import UNITS, Budget, Unit, parse_budget, sizes, truncate

TEXTS = st.text(alphabet="aB1é€😀İ -.\n", max_size=40)
SENTENCES = st.lists(st.text(alphabet="aB1é€ -.", max_size=12), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("text", "amount", "unit"),
    [
        ("665b", 665, "bytes"),
        ("250C", 250, "characters"),
        (" 100 words ", 100, "words"),
        ("1word", 1, "words"),
        ("120t", 120, "tokens"),
        ("3tokens", 3, "tokens"),
    ],
)
def test_reads_what_people_write(text: str, amount: int, unit: Unit) -> None:
    assert parse_budget(text) == Budget(amount, unit)


@pytest.mark.parametrize("text", ["", "665", "b", "-5b", "1.5w", "10x", "10bits", "5 b b"])
def test_says_what_a_budget_looks_like(text: str) -> None:
    with pytest.raises(InputError, match="a number and a unit: 665b"):
        parse_budget(text)


def test_a_budget_must_be_positive_and_its_unit_known() -> None:
    with pytest.raises(InputError, match=r"at least 1. Got 0 bytes"):
        parse_budget("0b")
    with pytest.raises(InputError, match="unit must be one of bytes"):
        sizes(["a"], "lines")  # type: ignore[arg-type]


def test_sizes_count_bytes_characters_words_and_tokens() -> None:
    sentence = ["Très  well-known."]
    assert [sizes(sentence, unit)[0] for unit in UNITS.values()] == [19, 18, 2, 4]


@given(SENTENCES)
def test_sizes_add_up_to_the_joined_text(sentences: list[str]) -> None:
    joined = " ".join(sentences)
    assert sizes(sentences, "bytes").sum() == len(joined.encode()) + 1
    assert sizes(sentences, "characters").sum() == len(joined) + 1
    assert sizes(sentences, "tokens").sum() == len(tokens(joined))
    assert sizes(sentences, "words").sum() == len(joined.split())


@given(TEXTS, st.integers(1, 60))
def test_bytes_are_cut_as_late_as_whole_characters_allow(text: str, amount: int) -> None:
    cut = truncate(text, Budget(amount))
    assert text.startswith(cut)
    assert len(cut.encode()) <= amount
    longer = text[: len(cut) + 1]
    assert cut == text or len(longer.encode()) > amount


@given(TEXTS, st.integers(1, 8))
def test_words_and_tokens_keep_exactly_the_first_ones(text: str, amount: int) -> None:
    assert truncate(text, Budget(amount, "words")).split() == text.split()[:amount]
    assert tokens(truncate(text, Budget(amount, "tokens"))) == tokens(text)[:amount]
    assert truncate(text, Budget(amount, "characters")) == text[:amount]
