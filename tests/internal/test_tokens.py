"""Tokens must equal those of rouge-score."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwright._internal import tokens as module
from listwright._internal.tokens import stem_token, tokens
from listwright.errors import MissingExtra

rouge_tokenizers = pytest.importorskip("rouge_score.tokenizers")

TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.text(alphabet="aeiosnrtlydgbz", max_size=12), max_size=8).map(" ".join),
    st.text(alphabet="İKßaZ09 -'.", max_size=30),
)


@pytest.mark.parametrize("stem", [False, True])
@settings(max_examples=200, deadline=None)
@given(text=TEXTS)
def test_same_tokens_as_rouge_score(stem: bool, text: str) -> None:
    assert tokens(text, stem=stem) == rouge_tokenizers.DefaultTokenizer(use_stemmer=stem).tokenize(text)


def test_short_words_keep_their_ending() -> None:
    assert stem_token("has") == "has"
    assert stem_token("houses") == "hous"


def test_missing_nltk_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "nltk.stem.porter", None)
        module._stemmer.cache_clear()
        with pytest.raises(MissingExtra, match=r'pip install "listwright\[text\]"'):
            stem_token("unheardofwords")
    assert stem_token("unheardofwords") == "unheardofword"
