"""Very many passages, near copies, and texts that are no English prose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.context.examples import read_examples
from listwright.context.passages import MOST
from listwright.errors import InputError
from listwright.text import shortlist

QUESTION = "Where was the director of Alien born?"
FILM = "Alien is a science fiction film of 1979 that was directed by Ridley Scott and written by Dan O'Bannon."
BIRTH = "Ridley Scott was born in South Shields in the north of England."


@pytest.fixture(scope="module")
def packer() -> lw.ContextPacker:
    return lw.ContextPacker()


def notes(n: int) -> list[str]:
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(500)])
    return [" ".join(rng.choice(words, 30)) + "." for _ in range(n)]


def test_of_very_many_passages_the_promising_ones_are_looked_at(packer: lw.ContextPacker) -> None:
    texts = notes(5000)
    texts[4000], texts[1234] = FILM, BIRTH
    packed = packer.pack(QUESTION, texts, length=2)
    assert sorted(packed.positions) == [1234, 4000]
    assert packed.texts == [texts[position] for position in packed.positions]
    assert len(packer.pack(QUESTION, texts, budget=None)) <= MOST


def test_what_scores_and_embeddings_favour_is_looked_at(packer: lw.ContextPacker) -> None:
    texts, favoured = notes(600), np.arange(300, 310)
    scores = np.zeros(600)
    scores[favoured] = 1.0
    assert set(favoured) <= set(shortlist(QUESTION, texts, most=50, signals=[scores]))
    vectors = np.random.default_rng(1).normal(size=(600, 8))
    packed = packer.pack(QUESTION, texts, budget=None, embeddings=vectors, query_embedding=vectors[77], scores=scores)
    assert 77 in packed.positions


def test_a_shortlist_keeps_all_of_few() -> None:
    assert shortlist(QUESTION, ["a", "b"], most=5).tolist() == [0, 1]


def test_near_copies_are_left_out(packer: lw.ContextPacker) -> None:
    near = FILM.replace("that was", "which was")
    other_year = FILM.replace("1979", "1986")
    packed = packer.pack(QUESTION, [FILM, near, BIRTH, other_year, *notes(4)])
    assert len({0, 1} & set(packed.positions)) == 1
    assert {2, 3, 4, 5, 6, 7} < set(packed.positions)


def test_embeddings_tell_the_same_in_other_words(packer: lw.ContextPacker) -> None:
    other_words = "In 1979 Ridley Scott made a movie called Alien from a script that Dan O'Bannon had finished."
    texts = [FILM, other_words, BIRTH, *notes(4)]
    vectors = np.eye(7, 8)
    assert {0, 1} <= set(packer.pack(QUESTION, texts, embeddings=vectors).positions)
    vectors[1] = vectors[0] + 0.01
    assert len({0, 1} & set(packer.pack(QUESTION, texts, embeddings=vectors).positions)) == 1


TEXTS: dict[str, tuple[str, list[str]]] = {
    "Chinese": ("东京的人口是多少", ["大阪是一个城市。", "东京的人口是一千四百万。", "天气很好。"]),
    "Russian": ("Где родился Пушкин?", ["Дождь шёл.", "Пушкин родился в Москве.", "Зима была долгой."]),
    "Arabic": ("أين ولد محمود درويش؟", ["الطقس جميل.", "ولد محمود درويش في البروة.", "المدينة كبيرة."]),
    "Hindi": ("ताजमहल कहाँ है?", ["बारिश हुई।", "ताजमहल आगरा में है।", "नदी लंबी है।"]),
    "code": (
        "What does parse_budget return?",
        ["def main():\n    run()", "def parse_budget(text):\n    return Budget(size, unit)", "import os\nimport sys"],
    ),
    "table": (
        "What is the population of Oslo?",
        ["| city | area |\n|---|---|\n| Bergen | 465 |", "| Oslo | population 700000 |", "|---|---|"],
    ),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_other_scripts_code_and_tables(packer: lw.ContextPacker, kind: str) -> None:
    question, texts = TEXTS[kind]
    packed = packer.pack(question, texts, length=1)
    assert packed.positions == [1]
    assert packed.reasons[0]


@pytest.mark.parametrize("question", ["", "?", "the of and", "🙂"])
def test_questions_without_words(packer: lw.ContextPacker, question: str) -> None:
    assert len(packer.pack(question, [FILM, BIRTH])) == 2


def test_chunks_of_one_page_and_repeated_titles(packer: lw.ContextPacker) -> None:
    chunks = [FILM, BIRTH, "The film was shot in England in 1978.", "It was a success."]
    packed = packer.pack(QUESTION, chunks, titles=["Alien"] * 4)
    assert sorted(packed.positions) == [0, 1, 2, 3]
    assert len(packer.pack(QUESTION, chunks, titles=["Alien"] * 4, per_source=2)) == 2


def record(i: int, helps: int) -> dict[str, Any]:
    texts = [f"Ship {i} sailed with captain Ada{i}.", "A red flag was seen.", "Tides rise twice a day."]
    return {"query": f"Who led ship {i}?", "passages": texts, "cited": [helps]}


def test_certify(packer: lw.ContextPacker) -> None:
    certificate = packer.certify([record(i, 0) for i in range(60)], cited="cited", length=1)
    assert certificate.mean == certificate.greedy_mean == 1.0
    assert 0.9 < certificate.value < 1.0
    assert set(certificate.ahead_of) == {"BM25"}
    assert "On problems like these 60" in str(certificate)
    learned = lw.ContextPacker().fit([record(i, 0) for i in range(30)], cited="cited")
    with pytest.raises(InputError, match="were learned from"):
        learned.certify([record(i, 0) for i in range(30)], cited="cited", length=1)
    assert learned.certify([record(i, 0) for i in range(30, 90)], cited="cited", budget=9).n == 60


def test_a_repeated_question_is_certified_once(packer: lw.ContextPacker) -> None:
    rng, false = np.random.default_rng(0), 0
    for _ in range(12):
        some = [record(i, int(rng.random() < 0.4)) for i in rng.choice(1000, 5, replace=False)]
        copies = [one | {"query": one["query"] + " " * i} for one in some for i in range(8)]
        made = packer.certify(copies, 0.1, cited="cited", length=1, rivals=[])
        assert (made.n, made.n_groups) == (40, 5)
        false += made.value > 0.6  # the passage that is found is the one cited in six of ten questions
    assert "35 of these are repeated questions" in str(made)
    assert false <= 4


def test_a_second_certificate_on_the_same_questions_says_so(packer: lw.ContextPacker) -> None:
    records = [record(i, i % 2) for i in range(2000, 2040)]
    said = [str(packer.certify(records, cited="cited", length=length, rivals=[])) for length in (1, 2, 2)]
    assert ["were used for 1 other certificate" in text for text in said] == [False, True, True]
    assert ["The same was certified before" in text for text in said] == [False, False, True]


def test_a_question_is_known_again_with_other_passages() -> None:
    one = record(1, 0)
    records = [one, one | {"passages": [*one["passages"][::-1], "Another."], "cited": [2]}, record(2, 0)]
    first, again, other = (example.key() for example in read_examples(records, cited="cited"))
    assert first == again != other


@pytest.mark.parametrize("seed", range(3))
def test_questions_that_were_learned_from_are_refused_with_other_passages(seed: int) -> None:
    rng = np.random.default_rng(seed)
    records = [record(i, int(rng.random() < 0.3)) for i in range(30)]
    fitted = lw.ContextPacker().fit(records, cited="cited")
    others = [one | {"passages": [*one["passages"], f"Gulls {i}."]} for i, one in enumerate(records)]
    with pytest.raises(InputError, match="30 of these 30 questions were learned from"):
        fitted.certify(others, cited="cited", length=1)


def test_tokenizers(packer: lw.ContextPacker) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    letters = tiktoken.Encoding(
        "letters", pat_str=r"\w|\W", mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={}
    )
    packed = lw.ContextPacker(tokens=letters).pack(QUESTION, [FILM, BIRTH], budget=len(FILM) + len(BIRTH) + 4)
    assert packed.tokens == len(packed.text()) + 2  # a blank line behind each


def test_a_tokenizer_of_hugging_face_by_its_file(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = {word: i for i, word in enumerate(["?", *FILM.split(), *BIRTH.split()])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    given = lw.ContextPacker(tokens=tokenizer).pack(QUESTION, [FILM, BIRTH], budget=40)
    by_name = lw.ContextPacker(tokens=f"huggingface:{tmp_path / 'tokenizer.json'}")
    assert by_name.pack(QUESTION, [FILM, BIRTH], budget=40).tokens == given.tokens
    assert given.tokens >= len(tokenizer.encode(given.text()).ids)
    (tmp_path / "broken.json").write_text("{}")
    for file in ("none.json", "broken.json"):
        with pytest.raises(InputError, match=f"{file}' cannot be loaded"):
            lw.ContextPacker(tokens=f"huggingface:{tmp_path / file}").pack(QUESTION, [FILM], budget=40)
