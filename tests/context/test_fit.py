"""Packers that learn from labels, answers and citations."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import listwright as lw
from listwright.context.examples import read_examples
from listwright.context.model import shipped_model
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
    assert found[0].titles == [""] * 4  # all passages share it
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
        ([RECORDS[0] | {"cites": [np.int64(9)]}], {"cited": "cites"}, "cites passage 9 of 4"),
        ([RECORDS[0] | {"cites": 2}], {"cited": "cites"}, "'cites' of record 0 must be a list of positions"),
        ([RECORDS[0] | {"cites": "B"}], {"cited": "cites"}, "'cites' of record 0 must be a list of positions"),
        ([RECORDS[0] | {"cites": ["Nobody"]}], {"cited": "cites"}, "record 0 names 'Nobody', which is no title"),
        (
            [RECORDS[0] | {"helps": ["no", "yes", "no", "no"]}],
            {"label": "helps"},
            "must hold flags or numbers. Got 'no'",
        ),
        (RECORDS, {"label": "helps", "question_id": "number"}, "No record has 'number'"),
        (RECORDS, {"label": "helps", "scores": "scored"}, "No record has 'scored'"),
        ([{"question": "Who?"}], {"label": "helps"}, "Record 0 has no 'context'"),
        (["text"], {"label": "helps"}, "Record 0 is not a dictionary"),
        (7, {"label": "helps"}, "Pass a frame or a list of records"),
        ([], {"label": "helps", "titles": "titles"}, "There are no records"),
    ],
)
def test_bad_input_is_named(data: Any, options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_examples(data, **NAMES, **options)


def hard_records(n: int, seed: int, strength: float) -> list[dict[str, Any]]:
    """Questions whose texts tell little, with scores that are higher for the passage that helps."""
    rng = np.random.default_rng(seed)
    records = []
    for i in range(n):
        helps = int(rng.integers(6))
        texts = [f"Note {i} {j} of the ship and its crew {rng.integers(99)}." for j in range(6)]
        scores = rng.normal(size=6) + strength * (np.arange(6) == helps)
        sources = ["good" if j == helps and rng.random() < 0.8 else "bad" for j in range(6)]
        records.append(
            {"query": f"What of the ship {i}?", "passages": texts, "cited": [helps], "s": scores, "from": sources}
        )
    return records


def test_fit_learns_what_scores_and_sources_weigh() -> None:
    told: list[str] = []
    names = {"cited": "cited", "scores": "s", "sources": "from"}
    packer = lw.ContextPacker().fit(hard_records(40, 0, 3.0), progress=lambda what, *_: told.append(what), **names)
    calibration = packer.model_.calibration_
    assert calibration.weights["score"] > 0.7
    assert calibration.sources["good"] > 0.2 > calibration.sources["bad"]
    assert any("folds" in what for what in told)
    test = hard_records(40, 1, 3.0)
    assert packer.score(test, length=1, **names) > lw.ContextPacker().score(test, length=1, cited="cited") + 0.2
    useless = lw.ContextPacker().fit(hard_records(40, 0, 0.0), cited="cited", scores="s")
    assert useless.model_.calibration_.weights["score"] < 0.4


def hop_records(n: int, seed: int) -> list[dict[str, Any]]:
    """Questions of two steps whose texts tell everything once they are learned from, and scores that tell little."""
    rng, records = np.random.default_rng(seed), []
    for _ in range(n):
        book, author, town = (f"{kind}{rng.integers(10**6)}" for kind in ("Book", "Author", "Town"))
        others = [f"Book{rng.integers(10**6)} was written by Author{rng.integers(10**6)}." for _ in range(8)]
        others += [f"Author{rng.integers(10**6)} was born in Town{rng.integers(10**6)}." for _ in range(8)]
        texts = np.array([f"{book} was written by {author}.", f"{author} was born in {town}.", *others])
        order = rng.permutation(len(texts))
        query, needed = f"Where was the author of {book} born?", order < 2
        scores = needed + rng.normal(size=len(texts))
        records.append({"query": query, "passages": texts[order].tolist(), "label": needed.tolist(), "s": scores})
    return records


@pytest.mark.parametrize("seed", [5, 6])
def test_weak_scores_do_not_spoil_what_texts_tell(seed: int) -> None:
    records = hop_records(160, seed)
    by_text = lw.ContextPacker().fit(records[:60], label="label").score(records[60:], label="label", length=2)
    packer = lw.ContextPacker().fit(records[:60], label="label", scores="s")
    assert packer.score(records[60:], label="label", scores="s", length=2) > by_text - 0.02


def test_a_model_that_is_right_already_is_kept() -> None:
    def asked(i: int) -> dict[str, Any]:
        texts = [f"Film{i} was directed by Ann Lee{i}.", f"Ann Lee{i} was born in Town{i}.", f"Rain {i}.", f"Wind {i}."]
        return {"query": f"Where was the director of Film{i} born?", "passages": texts, "cited": [0, 1]}

    records = [asked(i) for i in range(14)]
    packer = lw.ContextPacker().fit(records, cited="cited")
    assert packer.model_.policy_ is shipped_model().policy_
    assert not hasattr(shipped_model(), "calibration_")
    assert packer.fit(records, cited="cited").model_.policy_ is not shipped_model().policy_  # it has seen these


def test_first_passages_decide_where_longer_lists_hold_everything() -> None:
    """Of three passages, any two of the likelier ones hold the answer, so that lists of two tell no ways apart."""
    records = [
        {
            "query": f"Which ship did captain {name} lead?",
            "passages": [f"Captain {name} liked tea.", f"The ship of {name} was the {ship}.", "Tides rise."],
            "cited": [1],
        }
        for name, ship in [("Ada", "Swan"), ("Bo", "Lark"), ("Cy", "Crane"), ("Di", "Heron")] * 5
    ]
    packer = lw.ContextPacker()
    assert packer.score(records[16:], cited="cited", length=1) == 0.0
    assert packer.fit(records[:16], cited="cited").score(records[16:], cited="cited", length=1) == 1.0


def test_what_was_not_shown_is_not_learned_from() -> None:
    one = {"query": "Who?", "passages": ["One.", "Two.", "Three."], "cited": [2], "seen": [1, 2]}
    (example,) = read_examples([one], cited="cited", shown="seen")
    assert (example.texts, example.facts) == (["Two.", "Three."], [-1, 0])
    frame = pd.DataFrame({"query": ["Who?"] * 3, "passages": one["passages"], "c": [0, 0, 1], "shown": [0, 1, 1]})
    assert read_examples(frame, cited="c", shown="shown")[0].texts == ["Two.", "Three."]


def test_missing_labels_are_no_labels_and_questions_of_one_passage_are_learned_from() -> None:
    record = {"query": "Who?", "passages": ["One.", "Two."], "label": [float("nan"), 1.0]}
    assert read_examples([record], label="label")[0].facts == [-1, 0]
    assert read_examples([record, record | {"label": [-1, 1]}], label="label")[1].facts == [-1, 0]
    assert len(read_examples([record, {"query": "Who?", "passages": [], "label": []}], label="label")) == 1
    by_file = record | {
        "passages": [{"text": "One.", "title": "a.pdf"}, {"text": "Two.", "title": "b.pdf"}],
        "cited": ["b.pdf"],
    }
    assert read_examples([by_file], cited="cited")[0].facts == [-1, 0]
    frame = pd.DataFrame({"query": ["Who?", None], "passages": ["One.", "Two."], "ok": [1, 0]})
    with pytest.raises(InputError, match="Row 1 of the frame has no 'query'"):
        read_examples(frame, label="ok")
    records = [{"query": f"Who is Ann{i}?", "passages": [f"Ann{i} is a pilot."], "cited": [0]} for i in range(14)]
    packer = lw.ContextPacker().fit(records, cited="cited")
    assert packer.pack("Who is Bo?", ["Bo is a pilot.", "Rain fell."]).positions == [0, 1]


def test_a_question_that_is_asked_twice() -> None:
    columns = {"query": ["Who?"] * 4, "passages": ["a", "b", "a", "c"], "ok": [1, 0, 0, 1], "id": [1, 1, 2, 2]}
    frame = pd.DataFrame(columns)
    for names in ({}, {"question_id": "id"}):
        assert [example.texts for example in read_examples(frame, label="ok", **names)] == [["a", "b"], ["a", "c"]]
    with pytest.raises(InputError, match="'labels' is not known"):
        read_examples(frame, labels="ok")


def test_certify_against_the_scores() -> None:
    certificate = lw.ContextPacker().certify(
        hard_records(60, 2, 1.0), cited="cited", scores="s", rivals=["scores"], length=2
    )
    assert set(certificate.ahead_of) == {"your reranker's top k"}
    assert " your reranker's top k, with " in str(certificate)
    stopped = lw.ContextPacker().certify(
        hard_records(60, 2, 4.0), cited="cited", scores="s", rivals=["scores"], length=4, stop="auto"
    )
    assert re.search(r"than your reranker's top k, with \d+ % fewer tokens", str(stopped))
    with pytest.raises(InputError, match="needs a score of every passage"):
        lw.ContextPacker().certify(RECORDS, **NAMES, label="helps", rivals=["scores"], length=2)
