"""Questions with paragraphs in the forms of HotpotQA and MuSiQue."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.datasets import read_questions
from listwright.errors import InputError
from listwright.text.readers import ReadingNote

QUESTION = "Which river flows through the town where Ada Quill was born?"
PARAGRAPHS = [
    ("Ada Quill", ["Ada Quill was a painter.", " She was born in Morlow."], True),
    ("Morlow (town)", ["Morlow is a town on the Tern."], True),
    ("Bel Canto", ["An opera by nobody.", "It was sung in Paris."], False),
    ("The", ["A painter of the river."], False),
]


def lines(name: str = "q1") -> dict[str, Any]:
    keys = ("title", "sentences", "supporting")
    return {"id": name, "question": QUESTION, "paragraphs": [dict(zip(keys, p, strict=True)) for p in PARAGRAPHS]}


def hotpot(name: str = "q1") -> dict[str, Any]:
    facts = [[title, 0] for title, _, supporting in PARAGRAPHS if supporting]
    context = [[title, sentences] for title, sentences, _ in PARAGRAPHS]
    return {"_id": name, "question": QUESTION, "context": context, "supporting_facts": facts}


def musique(name: str = "q1") -> dict[str, Any]:
    paragraphs = [{"title": t, "paragraph_text": " ".join(s), "is_supporting": y} for t, s, y in PARAGRAPHS]
    return {"id": name, "question": QUESTION, "paragraphs": paragraphs}


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    text = json.dumps(records) if path.suffix == ".json" else "\n".join(map(json.dumps, records))
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.fixture
def questions(tmp_path: Path) -> lw.Problems:
    return read_questions(write(tmp_path / "q.jsonl", [lines("q1"), lines("q2")]))


def column(questions: lw.Problems, name: str) -> list[float]:
    names = questions.feature_names
    assert names is not None
    return questions.features[:4, names.index(name)].tolist()


def test_problems(questions: lw.Problems) -> None:
    problems = questions
    assert problems.problem_ids.tolist() == ["q1", "q2"]
    assert problems.item_ids is not None
    assert problems.item_ids[:4].tolist() == [title for title, _, _ in PARAGRAPHS]
    assert problems.sizes is not None
    assert problems.sizes[:4].tolist() == [10, 7, 9, 5]
    assert problems.vectors.shape[0] == 8
    state = problems.reward.start(problems)
    assert problems.reward.gains(state)[:4].tolist() == [0.5, 0.5, 0, 0]
    best = lw.greedy(problems, length=2)
    assert sorted(best.item_ids[0].tolist()) == ["Ada Quill", "Morlow (town)"]


def test_links_by_title(questions: lw.Problems) -> None:
    assert questions.links is not None
    mentioned = questions.links["mentioned_in"].toarray()
    assert np.argwhere(mentioned).tolist() == [[1, 0], [5, 0]]  # Morlow in Ada Quill's text; "The" is no name
    np.testing.assert_array_equal(questions.links["mentions"].toarray()[4:], mentioned[4:].T)


def test_links_by_the_words_of_a_title(questions: lw.Problems) -> None:
    assert questions.links is not None
    shares = questions.links["title_words_in"].toarray()
    assert shares[:3].tolist() == [[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]  # Morlow in Ada Quill's text
    np.testing.assert_array_equal(questions.links["title_words_of"].toarray()[4:], shares[4:].T)


def test_links_by_rare_words(questions: lw.Problems) -> None:
    assert questions.links is not None
    shared = questions.links["shared_words"].toarray()
    assert shared[0].tolist() == shared[4].tolist()
    assert (shared[0] > 0).tolist() == [False, True, False, True]  # "morlow"; "painter"
    assert (shared[:4] == shared[:4].T).all()


def test_features_look_at_the_question_and_at_links(questions: lw.Problems) -> None:
    assert column(questions, "title_in_question") == [1, 0, 0, 0]
    assert column(questions, "title_words_in_question")[:3] == [1, 0, 0]
    assert column(questions, "bm25_rank")[0] == 0
    assert column(questions, "relative_bm25")[0] == 1
    assert column(questions, "best_mentioned_in") == [0, 1, 0, 0]  # by the best paragraph
    assert column(questions, "question_words")[2] == 0


def test_features_do_not_depend_on_other_questions_or_labels(questions: lw.Problems, tmp_path: Path) -> None:
    other = lines("q2") | {"question": "Who sang Bel Canto in Paris?"}
    for paragraph in other["paragraphs"]:
        paragraph["supporting"] = not paragraph["supporting"]
    mixed = read_questions(write(tmp_path / "m.jsonl", [other, lines("q1")]))
    np.testing.assert_array_equal(mixed[1].features, questions[0].features)
    np.testing.assert_array_equal(mixed[1].vectors.toarray(), questions[0].vectors.toarray())


@pytest.mark.parametrize(("file", "form"), [("h.json", hotpot), ("m.jsonl", musique), ("l.jsonl.gz", lines)])
def test_all_forms_say_the_same(questions: lw.Problems, tmp_path: Path, file: str, form: Any) -> None:
    other = read_questions(write(tmp_path / file, [form("q1"), form("q2")]))
    np.testing.assert_array_equal(other.features, questions.features)
    assert lw.greedy(other, length=2).rows.tolist() == lw.greedy(questions, length=2).rows.tolist()


def test_without_labels_there_is_no_reward(tmp_path: Path) -> None:
    record = {key: value for key, value in hotpot().items() if key != "supporting_facts"}
    assert read_questions(write(tmp_path / "q.json", [record])).reward is None
    with pytest.warns(ReadingNote, match=r"left out 1 of 2 records: 1 without a supporting paragraph"):
        some = read_questions(write(tmp_path / "s.json", [record, hotpot("q2")]))
    assert some.problem_ids.tolist() == ["q2"]


def test_musique_titles_and_ids_repeat(tmp_path: Path) -> None:
    """Two chunks of one page are normal, and the full MuSiQue has each id twice, once unanswerable."""
    record = musique()
    record["paragraphs"] += [record["paragraphs"][1] | {"is_supporting": True}, record["paragraphs"][2]]
    records = [record | {"answerable": True}, record | {"answerable": False}, musique("q2"), musique("q2")]
    with pytest.warns(ReadingNote, match=r"q\.jsonl: left out 1 of 4 records: 1 unanswerable\."):
        problems = read_questions(write(tmp_path / "q.jsonl", records))
    assert problems.problem_ids.tolist() == ["q1", "q2", "q2 #2"]
    assert problems.item_ids is not None
    assert problems.item_ids[4:6].tolist() == ["Morlow (town) #2", "Bel Canto #2"]
    gains = problems.reward.gains(problems.reward.start(problems))
    np.testing.assert_allclose(gains[:6], [1 / 3, 1 / 3, 0, 0, 1 / 3, 0])  # each supporting paragraph is needed


def test_titles_that_repeat_in_2wiki_share_a_fact(tmp_path: Path) -> None:
    """A fact names a title and a sentence: a chunk that lacks the sentence does not hold it, a copy does."""
    record = hotpot()
    record["context"] += [["Ada Quill", ["A chunk of one sentence."]], record["context"][1]]
    record["supporting_facts"] = [["Ada Quill", 1], ["Morlow (town)", 7], ["Not in the context", 0]]
    problems = read_questions(write(tmp_path / "q.json", [record]))
    assert problems.item_ids is not None
    assert problems.item_ids[4:].tolist() == ["Ada Quill #2", "Morlow (town) #2"]
    reward = problems.reward
    state = reward.start(problems)
    assert reward.gains(state).tolist() == [0.5, 0.5, 0, 0, 0, 0.5]
    assert reward.gains(reward.add(state, np.array([5]))).tolist() == [0.5, 0, 0, 0, 0, 0]


def test_records_without_paragraphs_are_counted(tmp_path: Path) -> None:
    empty = [musique("a") | {"paragraphs": []}, hotpot("b") | {"context": None}, {"id": "c", "question": "?"}]
    with pytest.warns(ReadingNote, match=r"left out 3 of 4 records: 3 without paragraphs"):
        problems = read_questions(write(tmp_path / "q.jsonl", [*empty, lines()]))
    assert problems.problem_ids.tolist() == ["q1"]


def test_columns_as_on_the_hub(questions: lw.Problems, tmp_path: Path) -> None:
    record = hotpot("q1")
    titles, sentences = zip(*record["context"], strict=True)
    facts, numbers = zip(*record["supporting_facts"], strict=True)
    record["context"] = {"title": titles, "sentences": sentences}
    record["supporting_facts"] = {"title": facts, "sent_id": numbers}
    other = read_questions(write(tmp_path / "q.jsonl", [record]))
    np.testing.assert_array_equal(other.features, questions[0].features)
    assert lw.greedy(other, length=2).rows.tolist() == lw.greedy(questions[0], length=2).rows.tolist()


def test_missing_ids_and_titles_become_positions(tmp_path: Path) -> None:
    records = [{key: value for key, value in musique().items() if key != "id"} for _ in range(2)]
    del records[0]["paragraphs"][2]["title"]
    records[0]["paragraphs"][3]["paragraph_text"] = None
    problems = read_questions(write(tmp_path / "q.jsonl", records))
    assert problems.problem_ids.tolist() == ["1", "2"]
    assert problems.item_ids is not None
    assert problems.item_ids[2] == "paragraph 3"


def test_marks_and_line_ends_of_windows(questions: lw.Problems, tmp_path: Path) -> None:
    text = "\r\n\r\n".join(map(json.dumps, [musique("q1"), musique("q2")]))
    (tmp_path / "q.jsonl").write_bytes(b"\xef\xbb\xbf" + text.encode() + b"\r\n")
    np.testing.assert_array_equal(read_questions(tmp_path / "q.jsonl").features, questions.features)


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not there: .*none.json"):
        read_questions(tmp_path / "none.json")
    with pytest.raises(InputError, match=r"Question q1 of .* lacks question"):
        read_questions(write(tmp_path / "a.json", [{"id": "q1", "paragraphs": [{"title": "t"}]}]))
    with pytest.raises(InputError, match=r"holds no questions with paragraphs\. It has 1 records"):
        read_questions(write(tmp_path / "b.json", [{"id": "q1", "question": "?"}]))
    with pytest.raises(InputError, match=r"of another form: KeyError\('sentences'\)"):
        read_questions(write(tmp_path / "c.json", [{"id": "1", "question": "?", "paragraphs": [{"title": "t"}]}]))
    (tmp_path / "d.jsonl").write_text("{no json")
    with pytest.raises(InputError, match=r"d.jsonl is not JSON"):
        read_questions(tmp_path / "d.jsonl")
    (tmp_path / "e.jsonl").write_text("[1, 2]")
    with pytest.raises(InputError, match="must hold JSON objects"):
        read_questions(tmp_path / "e.jsonl")
    (tmp_path / "f.json").write_text("[]")
    with pytest.raises(InputError, match=r"holds no questions with paragraphs\. It has 0 records"):
        read_questions(tmp_path / "f.json")
