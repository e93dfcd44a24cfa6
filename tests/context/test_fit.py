"""Packers that learn from labels, answers and citations."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import listwright as lw
from listwright.context.examples import read_examples
from listwright.errors import InputError
from tests import booster_tools


def record(i: int) -> dict[str, Any]:
    """The passage that mentions the colour counts, which the shipped model cannot know."""
    rng = np.random.default_rng(i)
    texts = [*(f"Ship {i} sailed with captain {name}." for name in ("Ada", "Bo", "Cy")), "A red flag was seen."]
    order = rng.permutation(4).tolist()
    return {
        "question": f"Who led ship {i}?",
        "context": [texts[k] for k in order],
        "helps": [k == 3 for k in order],
        "answer": "red flag",
        "cites": [order.index(3)],
    }


RECORDS = [record(i) for i in range(40)]
NAMES = {"query": "question", "passages": "context"}


@pytest.mark.parametrize("kind", [{"label": "helps"}, {"answer": "answer"}, {"cited": "cites"}])
def test_learns_what_counts(kind: dict[str, str]) -> None:
    packer = lw.ContextPacker()
    before = packer.score(RECORDS[30:], length=1, **NAMES, **kind)
    packer.fit(RECORDS[:30], **NAMES, **kind)
    assert before < 0.5 < packer.score(RECORDS[30:], length=1, **NAMES, **kind)


@pytest.mark.parametrize("library", ["lightgbm", "scikit-learn"])
def test_a_fitted_packer_is_saved(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    if library == "scikit-learn":
        monkeypatch.setitem(sys.modules, "lightgbm", None)
    else:
        booster_tools.library("lightgbm")
    packer = lw.ContextPacker().fit(RECORDS[:10], **NAMES, label="helps")
    packer.save(tmp_path / "packer.listwright")
    again = lw.ContextPacker.load(tmp_path / "packer.listwright")
    for one in RECORDS[10:20]:
        first, second = (which.pack(one["question"], one["context"]) for which in (packer, again))
        assert first.positions == second.positions
        assert first.scores == second.scores


def test_labels_of_passages_and_other_forms_of_citations() -> None:
    passages = [{"title": "A", "text": "One.", "ok": True}, {"title": "B", "text": "Two.", "ok": False}]
    one = {"query": "Which?", "passages": passages, "cites": ["B"], "flags": [False, True]}
    assert read_examples([one], label="ok")[0].facts == [0, -1]
    assert read_examples([one], cited="cites")[0].facts == [-1, 0]
    assert read_examples([one], cited="flags")[0].facts == [-1, 0]
    assert read_examples([one | {"gold": ["two", "three"]}], answer="gold")[0].facts == [-1, 0]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_answers_of_all_rows_count_and_empty_cells_do_not(library: Any) -> None:
    texts = ["Emma is by Austen.", "Rain fell.", "Dracula is by Stoker."]
    frame = library({"query": ["Who?"] * 3, "passages": texts, "gold": ["Austen", "Stoker", None]})
    assert read_examples(frame, answer="gold")[0].facts == [0, -1, 0]
    flagged = library({"query": ["Who?"] * 3, "passages": texts, "good": [1.0, float("nan"), None]})
    assert read_examples(flagged, label="good")[0].facts == [0, -1, -1]
    several = library({"query": ["Who?"], "passages": texts[:1], "gold": [["Woolf", "Austen"]]})
    assert read_examples(several, answer="gold")[0].facts == [0]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_have_one_row_per_passage(library: Any) -> None:
    columns: dict[str, list[Any]] = {"q": [], "text": [], "good": [], "name": []}
    for one in RECORDS[:3]:
        for text, good in zip(one["context"], one["helps"], strict=True):
            for key, value in zip(columns, (one["question"], text, good, "T"), strict=True):
                columns[key].append(value)
    found = read_examples(library(columns), query="q", passages="text", label="good", titles="name")
    expected = read_examples(RECORDS[:3], **NAMES, label="helps")
    assert [example.facts for example in found] == [example.facts for example in expected]
    assert found[0].titles == ["T"] * 4
    with pytest.raises(InputError, match="no column 'passages'"):
        read_examples(library(columns), query="q", label="good")


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (RECORDS, {}, "Give one of label, answer and cited"),
        (RECORDS, {"label": "helps", "answer": "answer"}, "Give one of label, answer and cited"),
        (RECORDS, {"label": "gone"}, "Record 0 has no 'gone', and neither have its passages"),
        ([RECORDS[0] | {"helps": [True]}], {"label": "helps"}, "4 passages and 1 labels"),
        ([RECORDS[0] | {"helps": [False] * 4}], {"label": "helps"}, "No question has a passage to learn from"),
        ([RECORDS[0] | {"cites": [9]}], {"cited": "cites"}, "cites passage 9 of 4"),
        ([{"question": "Who?"}], {"label": "helps"}, "Record 0 has no 'context'"),
        (["text"], {"label": "helps"}, "Record 0 is not a dictionary"),
        (7, {"label": "helps"}, "Pass a frame or a list of records"),
    ],
)
def test_bad_input_is_named(data: Any, options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_examples(data, **NAMES, **options)
