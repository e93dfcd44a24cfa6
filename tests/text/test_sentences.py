"""Sentence splitting on the cases that news and papers bring."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwright.text.sentences import split_sentences

# A bar marks where one sentence ends and the next begins.
CASES = [
    "The U.S. Congress met at 5 p.m. Monday.|George W. Bush spoke to Gen. A. B. Smith Jr. in Calif. on Jan. 5.|He sat.",
    "He left the U.S.|The deal, worth $3.5 million, was with Acme Inc. and others.",
    "As shown by Smith et al. (2003), Fig. 3 and Eq. (2) agree.|Smith et al. propose more.",
    "We follow Smith et al.|The rest is in Sec. 4.1.|See Table 2.",
    "See Fig. A and Figs. 2-4, cf. Jones (2004) vs. Smith, e.g. The Hague.|It ends.",
    "No.|That is wrong.|It was No. 5.|So did I.|Then he ran.",
    'He said "No."|Then he left.|"I agree."|"Me too," she said.',
    "``We are here,'' he said.|``Stop!''|They ran.",
    '"Why?" he asked.|(See Fig. 3.)|Next came rain!|Really?!|Yes.',
    "Wait... what?|Wait...|What?|It cost $5.|20 people came.",
    "The cat sat.|Sun was out.|He felt ill.|Rain fell on Sun. 5 July.",
    "1. Introduction of A. Method",
    "Vitamin C.|The rest went with J. Smith, Ph.D.|The end.",
    ", and is very accurate .|The next is good .",
    "Да.|Нет.|Это конец.",
]


@pytest.mark.parametrize("case", CASES)
def test_splits_where_the_bars_are(case: str) -> None:
    assert split_sentences(case.replace("|", " ")) == case.split("|")


def test_cjk_marks_need_no_space() -> None:
    assert split_sentences("这是。你好。") == ["这是。", "你好。"]


def test_blank_lines_indents_and_bullets_split_and_plain_line_breaks_do_not() -> None:
    text = "A headline\n\nFirst line\nwraps here.\n   Indented start\n- one\n* two\r\n\r\nLast"
    assert split_sentences(text) == ["A headline", "First line wraps here.", "Indented start", "- one", "* two", "Last"]


@pytest.mark.parametrize("text", ["", "  \n\n \t"])
def test_nothing_gives_nothing(text: str) -> None:
    assert split_sentences(text) == []


@given(st.text(alphabet="aB1 .!?\"'()\n-é。", max_size=80))
def test_no_character_is_lost(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


def test_long_texts_without_breaks_stay_linear() -> None:
    assert len(split_sentences("It rained. " * 20_000)) == 20_000
    assert len(split_sentences("." * 100_000 + " a" * 100_000)) == 1
