"""Features of passages: the kernels against plain definitions, and what the columns say of a worked example."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwright._internal.tokens import word_set
from listwright.errors import InputError
from listwright.text import passage_features, question_problems
from tests.text.passages.plain import Plain

VOCABULARY = sorted(word_set("river town film director Alien Ridley Scott born in of the 1937 1979 Shields crew rain"))
SENTENCE = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=6).map(lambda words: "A " + " ".join(words))
PASSAGE = st.lists(SENTENCE, min_size=1, max_size=3).map(lambda sentences: ". ".join(sentences) + ".")
TITLE = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=2).map(" ".join)

QUESTION = 'Where was the director of the film "Alien" born?'
TITLES = ["Alien (film)", "Ridley Scott", "Aliens (film)", "Weather"]
TEXTS = [
    "Alien is a science fiction film of 1979. It was directed by Ridley Scott and shown in London.",
    "Ridley Scott is a director. He was born in South Shields in 1937.",
    "Aliens is a film by James Cameron. It came out in 1986.",
    "Rain fell on the town.",
]


def column(name: str, question: str = QUESTION, titles: list[str] | None = TITLES) -> list[float]:
    found = passage_features(question, TEXTS, titles)
    return found.table[:, found.names.index(name)].astype(float).round(3).tolist()


@settings(deadline=None, max_examples=60)
@given(SENTENCE, st.lists(st.tuples(TITLE, PASSAGE), min_size=1, max_size=5))
def test_kernels_agree_with_plain_definitions(question: str, passages: list[tuple[str, str]]) -> None:
    titles, texts = [title for title, _ in passages], [text for _, text in passages]
    found, plain = passage_features(question, texts, titles), Plain(question, titles, texts)
    n = len(texts)
    columns = {
        "question_words": [plain.share(bag) for bag in plain.bags],
        "best_sentence": [max(map(plain.share, sentences)) for sentences in plain.sentences],
        "first_sentence": [plain.share(sentences[0]) for sentences in plain.sentences],
        "bm25": [plain.bm25(i) for i in range(n)],
    }
    for name, expected in columns.items():
        np.testing.assert_allclose(found.table[:, found.names.index(name)], expected, atol=1e-5, err_msg=name)
    for kind in ("adds", "together", "mentioned_in", "shared_words", "title_words_in"):
        expected = [[float(getattr(plain, kind)(i, j)) if i != j else 0.0 for j in range(n)] for i in range(n)]
        np.testing.assert_allclose(found.links[kind], expected, atol=1e-9, err_msg=kind)
    likeness = [[plain.cosine(i, j) if i != j else 0.0 for j in range(n)] for i in range(n)]
    np.testing.assert_allclose(found.links["alike"], likeness, atol=1e-9)


def test_words_spans_and_titles_of_the_question() -> None:
    assert column("question_words")[3] == 0
    assert column("name_words") == [1, 0, 1, 0]  # "Aliens" has the same first five letters
    assert column("best_span_in_title") == [1, 0, 0.9, 0]
    assert column("whole_spans_in_text") == [1, 0, 0, 0]
    assert column("title_in_question") == [1, 0, 0, 0]
    assert column("note_in_question") == [1, 0, 1, 0]
    assert column("longest_run") == [2, 1, 1, 1]  # the note "film", then "Alien"
    assert column("log_years") == np.log1p([1, 1, 1, 0]).round(3).tolist()
    assert column("bm25_rank") == [0, 2, 1, 3]


def test_answers_count_where_they_are_asked_for() -> None:
    assert column("dates_asked") == column("log_years")  # "born"
    assert column("people_asked") == [0, 3, 0, 0]  # "director" asks; "He" and "born" among nine words
    assert column("dates_asked", "Who made Alien?") == [0, 0, 0, 0]
    assert column("asks_yes_no", "Is Alien a film?") == [1, 1, 1, 1]
    assert column("amounts_asked", "How many films are there?") == column("log_years")


def test_links_lead_from_the_film_to_its_director() -> None:
    links = passage_features(QUESTION, TEXTS, TITLES).links
    assert links["mentioned_in"][1, 0] == links["mentions"][0, 1] == links["newly_mentioned_in"][1, 0] == 1
    assert links["mention_matches"][1, 0] > 0  # "directed" stands in the sentence that names him
    np.testing.assert_allclose(links["bridge"], links["bridge"].T)
    assert links["bridge"][0, 1] > links["bridge"][0, 2]
    assert links["adds_by_title"][1, 0] > links["adds_by_title"][2, 0]
    assert links["bridged_addition"][1, 0] > 0  # "born" stands beside the name only as "He": by the title
    assert (np.diag(links["bridge"]) == 0).all()


def test_a_passage_without_a_title_is_named_by_its_opening() -> None:
    links = passage_features(QUESTION, TEXTS).links
    assert links["mentioned_in"][1, 0] == 1
    assert column("title_in_question", titles=None) == [1, 0, 0, 0]
    assert column("title_length", titles=None) == [1, 2, 1, 1]


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("", ["Some text."]),
        ("of the", ["Some text."]),
        ("Who?", [""]),
        ("Who?", ["", "...", "x"]),
        ("東京の首都は\uff1f", ["東京は日本の首都です。", "大阪は違う。"]),
        ("def main", ["def main():\n    return 1", "| a | b |\n| 1 | 2 |"]),
        ("\ud800", ["\ud800 broken"]),
        (" ".join(f"word{i}" for i in range(200)), ["word1 word150", "word7"]),
    ],
)
def test_any_text_gives_finite_numbers(question: str, texts: list[str]) -> None:
    found = passage_features(question, texts)
    assert np.isfinite(found.table).all()
    assert all(np.isfinite(table).all() for table in found.links.values())


def test_scripts_without_blanks_are_told_apart() -> None:
    found = passage_features("東京の首都は\uff1f", ["東京は日本の首都です。", "大阪は違う。"])
    assert found.table[:, found.names.index("question_words")].tolist() == [1, 0]


def test_rarity_does_not_grow_with_the_number_of_passages() -> None:
    few = passage_features("Where is Alien?", ["Alien", "Rain"]).rarity.max()
    many = passage_features("Where is Alien?", ["Alien", *["Rain"] * 50]).rarity.max()
    assert few == many == 1


def test_a_passage_that_is_no_text_is_named() -> None:
    assert question_problems([QUESTION], [["", *TEXTS]]).n_rows == 5
    with pytest.raises(InputError, match=r"Passage 1 \(from 0\) of the question 'Where .* must be text. Got NoneType"):
        question_problems([QUESTION], [[TEXTS[0], None]])  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"at least one passage each\. Got 2 questions and lists of \[4, 0\] passages"):
        question_problems([QUESTION, QUESTION], [TEXTS, []])


def test_no_passages() -> None:
    with pytest.raises(InputError, match="at least one passage"):
        passage_features("Who?", [])
