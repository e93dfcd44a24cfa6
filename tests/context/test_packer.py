"""Packing passages with the shipped model."""

from __future__ import annotations

import os
import pickle  # noqa: TID251
from collections import Counter
from itertools import combinations, permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import listwright as lw
from listwright.context.fitting import ScoreWeights
from listwright.context.model import passage_policy_features, shipped_model
from listwright.context.passages import estimate_tokens, token_counter, usable_titles
from listwright.errors import InputError
from listwright.simulate.questions import questions
from listwright.text import question_problems

QUESTION = "Where was the director of Alien born?"
PASSAGES = [
    "Rain fell on the town.",
    "Ridley Scott was born in South Shields in 1937.",
    "Alien is a film of 1979, directed by Ridley Scott.",
    "Aliens is a film of 1986, directed by James Cameron.",
]


@pytest.fixture(scope="module")
def packer() -> lw.ContextPacker:
    return lw.ContextPacker()


def test_picks_passages_that_lead_to_each_other(packer: lw.ContextPacker) -> None:
    packed = packer.pack(QUESTION, PASSAGES, budget=41)
    assert sorted(packed.positions) == [1, 2]
    assert packed.texts == [PASSAGES[position] for position in packed.positions]
    assert packed.tokens == 40
    assert packed.scores == sorted(packed.scores, reverse=True)
    assert len(set(packed.scores)) == len(packed.scores)
    assert "'Ridley Scott'" in packed.reasons[1]


def test_the_compiled_walk_picks_what_the_model_predicts(packer: lw.ContextPacker) -> None:
    rng = np.random.default_rng(0)
    words = np.array(
        ["Alien", "film", "Ridley Scott", "born", "town", "river", "in 1937", "Shields", "maker"]
    )  # no text holds every word
    for _ in range(20):
        texts = [" ".join(rng.choice(words, 8)) + f" {i}." for i in range(7)]
        problems = question_problems([QUESTION], [texts], sizes=[[len(text.split()) for text in texts]])
        for limit in ({"length": 4}, {"budget": 30.0}):
            expected = shipped_model().predict(problems, **limit)[0]
            packed = lw.ContextPacker(tokens="words").pack(QUESTION, texts, **({"budget": None} | limit))
            assert packed.positions == expected.tolist()


def test_orders(packer: lw.ContextPacker) -> None:
    packed = packer.pack(QUESTION, PASSAGES)
    ranked = packed.text().split("\n\n")
    assert ranked == packed.texts == packed.text("score").split("\n\n")
    edges = packed.text("edges").split("\n\n")
    assert (edges[0], edges[-1]) == (ranked[0], ranked[1])
    assert sorted(edges) == sorted(ranked)
    assert packed.text("document", separator="|").split("|") == PASSAGES
    with pytest.raises(InputError, match="order must be"):
        packed.text("best")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "form",
    [
        lambda text: {"text": text, "title": ""},
        lambda text: {"page_content": text, "metadata": {"source": "a"}},
        lambda text: SimpleNamespace(page_content=text, metadata={}),
        lambda text: SimpleNamespace(text=text),
    ],
)
def test_passages_in_other_forms(packer: lw.ContextPacker, form: Any) -> None:
    plain = packer.pack(QUESTION, PASSAGES)
    assert packer.pack(QUESTION, [form(text) for text in PASSAGES]).positions == plain.positions


def test_limits(packer: lw.ContextPacker) -> None:
    assert len(packer.pack(QUESTION, PASSAGES, length=2)) == 2
    sources = ["a", "b", "b", "b"]
    packed = packer.pack(QUESTION, PASSAGES, sources=sources, per_source=1)
    assert len({sources[position] for position in packed.positions}) == len(packed) == 2
    from_b = packer.pack(QUESTION, PASSAGES, sources=sources, per_source={"b": (2, 2)}, length=2)
    assert [sources[position] for position in from_b.positions] == ["b", "b"]
    every = packer.pack(QUESTION, PASSAGES, sources=sources, per_source=(1, 1)).positions
    assert sorted(sources[position] for position in every) == ["a", "b"]
    for least in (1, 2):  # which count for more than `min_probability`
        needed = {"per_source": {"b": (least, None)}, "min_probability": 1.0}
        packed = packer.pack(QUESTION, PASSAGES, sources=sources, **needed)
        assert [sources[position] for position in packed.positions].count("b") == least
    first = packer.pack(QUESTION, PASSAGES).positions[0]
    assert first not in packer.pack(QUESTION, PASSAGES, exclude=[first]).positions
    assert len(packer.pack(QUESTION, PASSAGES, budgets=[([1.0] * 4, 2.0)])) == 2
    with pytest.raises(InputError, match="must be included, but is excluded"):
        packer.pack(QUESTION, PASSAGES, must_include=[0], exclude=[0])
    assert packer.pack(QUESTION, PASSAGES, sizes=[1, 1, 1, 1], budget=3).tokens == 3
    characters = lw.ContextPacker(tokens=len).pack(QUESTION, PASSAGES, budget=100)
    assert characters.tokens == len(characters.text()) + 2 <= 100  # a blank line behind each
    tokenizer = SimpleNamespace(encode=lambda text: text.split("e"))
    encoded = lw.ContextPacker(tokens=tokenizer).pack(QUESTION, PASSAGES, budget=12)
    assert encoded.tokens == sum(len(text.split("e")) + 1 for text in encoded.texts) <= 12


def test_empty_passages_copies_and_few_passages(packer: lw.ContextPacker) -> None:
    assert len(packer.pack(QUESTION, [])) == 0
    assert len(packer.pack(QUESTION, ["", " \n"])) == 0
    assert packer.pack(QUESTION, PASSAGES[:1]).positions == [0]
    packed = packer.pack(QUESTION, [PASSAGES[2], "", PASSAGES[2].upper(), PASSAGES[1]])
    assert sorted(packed.positions) == [0, 3]


def test_scores_and_embeddings_are_used_and_not_needed(packer: lw.ContextPacker) -> None:
    texts = [f"Note {i} of the ship." for i in range(6)]
    scores = [0.1, 0.2, 0.9, 0.3, 0.2, 0.1]
    assert len(packer.pack("What did the captain say?", texts, scores=scores)) == 6
    vectors = np.eye(6)
    assert len(packer.pack(QUESTION, texts, embeddings=vectors, query_embedding=vectors[2])) == 6
    assert packer.pack(QUESTION, PASSAGES, scores=[1, 1, 1, 1]).positions == packer.pack(QUESTION, PASSAGES).positions


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"passages": "one text"}, "must be a list"),
        ({"passages": [1, 2]}, "Passage 0 has no text"),
        ({"query": 7}, "query must be a string"),
        ({"titles": ["a"]}, r"titles must be one per passage \(4\)"),
        ({"scores": [1.0]}, "scores must be finite, one per passage"),
        ({"scores": [1.0, 2.0, 3.0, np.nan]}, "scores must be finite"),
        ({"embeddings": np.ones((4, 3)), "query_embedding": [1.0]}, "query_embedding has shape"),
        ({"embeddings": [None, [1.0, 2.0], [1.0, 0.0], [0.0, 1.0]]}, r"embeddings must .*\. Row 0 \(from 0\) is None"),
        ({"sizes": [1, 2]}, "sizes must be one number"),
        ({"budget": 0}, "budget must be above 0"),
        ({"budget": -5}, "budget must be above 0"),
        ({"must_include": [4]}, "must_include must hold positions from 0 to 3"),
        ({"must_include": [True]}, "must_include must hold positions from 0 to 3"),
        ({"must_include": 1}, "must_include must hold positions from 0 to 3"),
        ({"passages": pd.DataFrame({"text": PASSAGES})}, "must be a list"),
        ({"must_include": [1], "budget": 9}, "Passage 1 must be included, but has .* raise it"),
        ({"must_include": [4], "passages": [*PASSAGES, " "]}, "Passage 4 must be included, but is blank"),
        ({"must_include": [0, 1], "passages": [PASSAGES[0]] * 2}, "Passage 1 must be included, but is a copy"),
        ({"exclude": [[0], [1]]}, r"exclude must be one list of row numbers. Got shape \(2, 1\)"),
        ({"exclude": [[1], [2, 3]]}, r"exclude must be one list of row numbers. Got \[\[1\], \[2, 3\]\]"),
        ({"exclude": 1}, "exclude must be a list of positions. Got 1"),
        ({"sources": 5}, r"sources must be a list with one entry per passage \(4\). Got 5"),
        ({"titles": "abcd"}, r"titles must be a list with one entry per passage \(4\). Got 'abcd'"),
        ({"budgets": 3}, r"budgets must be pairs of .* Got 3"),
        ({"embeddings": np.ones((4, 2)), "query_embedding": [np.nan, 1.0]}, "query_embedding must be finite. Got nan"),
        ({"scores": [10**400, 1, 2, 3]}, "scores must be an array of numbers"),
        ({"must_include": [1, 2], "budget": 25}, "do not fit the limits together. They have .* tokens: raise"),
        ({"stop": "now"}, 'stop must be "auto"'),
        ({"min_probability": 2}, "min_probability must be from 0 to 1"),
        ({"length": 0}, "length must be at least 1"),
        ({"per_source": 1}, "per_source needs sources"),
        ({"length": (1, 2)}, "length must be"),
        ({"per_source": [2, 1], "sources": ["a", "b", "c", "d"]}, "That of passage 0 has 1"),
        ({"per_source": [2, 1], "sources": [("a", 1), ("a", 2), ("b", 3), ("b", 1)]}, "not nested"),
        ({"per_source": [2, None], "sources": [("a", 1), ("a", 2), ("b", 3), ("b", 4)]}, "per_source must be"),
    ],
)
def test_bad_input_is_named(packer: lw.ContextPacker, changes: dict[str, Any], message: str) -> None:
    arguments = {"query": QUESTION, "passages": PASSAGES} | changes
    with pytest.raises(InputError, match=message):
        packer.pack(**arguments)


def test_tokens_that_count_nothing() -> None:
    with pytest.raises(InputError, match="tokens must be"):
        lw.ContextPacker(tokens="letters").pack(QUESTION, PASSAGES)


@pytest.mark.parametrize("count", [None, -1, float("nan"), float("inf"), "3"])
def test_functions_that_count_no_tokens(count: Any) -> None:
    with pytest.raises(InputError, match="tokens must return a number from 0 for each text"):
        lw.ContextPacker(tokens=lambda text: count).pack(QUESTION, PASSAGES)


def test_save_and_load(packer: lw.ContextPacker, tmp_path: Path) -> None:
    packer.save(tmp_path / "packer.listwright")
    again = lw.ContextPacker.load(tmp_path / "packer.listwright")
    assert again.pack(QUESTION, PASSAGES).positions == packer.pack(QUESTION, PASSAGES).positions
    named = lw.ContextPacker(tmp_path / "packer.listwright").pack(QUESTION, PASSAGES, length=1)
    assert named.positions == packer.pack(QUESTION, PASSAGES, length=1).positions
    problems = lw.Problems.from_arrays(np.ones((9, 2, 1)), reward=lw.rewards.AnySuccess(np.eye(9, 2)))
    lw.SCP(length=1, effort="fast").fit(problems).save(tmp_path / "other.listwright")
    with pytest.raises(InputError, match="not a model of ContextPacker"):
        lw.ContextPacker.load(tmp_path / "other.listwright")


def test_the_shipped_model_sees_what_it_is_said_to() -> None:
    names = [type(part).__name__ for part in passage_policy_features().parts]
    assert names == ["Candidate", "Links", "UncoveredTerms"]


@pytest.mark.parametrize("question", ["Wer hat das Rathaus entworfen?", "", "Wer hat Alien gedreht?"])
def test_where_words_tell_nothing_the_order_is_that_of_the_scores(packer: lw.ContextPacker, question: str) -> None:
    scores = [0.01, 0.95, 0.9, 0.02]
    assert packer.pack(question, PASSAGES, scores=scores).positions == [1, 2, 3, 0]
    vectors = np.array([[0.1, 1.0], [1.0, 0.0], [1.0, 0.3], [0.2, 1.0]])
    by_cosine = packer.pack(question, PASSAGES, embeddings=vectors, query_embedding=[1.0, 0.0])
    assert by_cosine.positions == [1, 2, 3, 0]
    assert packer.pack(QUESTION, PASSAGES[:2], scores=[0.9, 0.1]).positions == [0, 1]


def test_scores_count_by_one_number() -> None:
    scores = [0.0, 0.0, 0.0, 1.0]
    assert lw.ContextPacker(score_weight=0).pack(QUESTION, PASSAGES, scores=scores, length=2).positions == [2, 1]
    assert lw.ContextPacker(score_weight=50).pack(QUESTION, PASSAGES, scores=scores, length=1).positions == [3]


def test_texts_do_not_spoil_a_strong_reranker(packer: lw.ContextPacker) -> None:
    rng = np.random.default_rng(0)
    for asked in questions(20, random_state=3, steps=(2, 2)):
        supports = np.array([passage.step is not None for passage in asked.passages])
        texts, scores = [passage.text for passage in asked.passages], 8 * supports + rng.normal(size=len(supports))
        picks = packer.pack(asked.text, texts, scores=scores, length=2, budget=None).positions
        assert supports[picks].all()


def test_it_stops_where_nothing_more_is_needed(packer: lw.ContextPacker) -> None:
    every = packer.pack(QUESTION, PASSAGES)
    assert len(every.probabilities) == 4
    stopped = packer.pack(QUESTION, PASSAGES, stop="auto")
    assert stopped.positions == every.positions[: len(stopped)]
    assert len(stopped) < 4
    scored = packer.pack(QUESTION, PASSAGES, scores=[0, 9, 5, 8])
    for least in (0.01, 0.1, 0.5, 0.9):  # behind an unlikely passage, a likely one is still picked
        some = packer.pack(QUESTION, PASSAGES, scores=[0, 9, 5, 8], min_probability=least)
        chances = zip(scored.positions, scored.probabilities, strict=True)
        assert some.positions == [place for i, (place, chance) in enumerate(chances) if i == 0 or chance >= least]
    assert stopped.tokens + stopped.tokens_saved == every.tokens
    assert packer.pack(QUESTION, PASSAGES, min_probability=1.0).positions == every.positions[:1]


@pytest.mark.parametrize("stride", [50, 100, 150])
@pytest.mark.parametrize("tokens", ["words", "estimate", len])
def test_what_windows_share_is_counted_once_and_leaves_its_tokens_to_others(stride: int, tokens: Any) -> None:
    words = [f"w{i}" for i in np.random.default_rng(stride).permutation(900)]
    windows = [" ".join(words[start : start + 200]) for start in range(0, 900, stride)]
    packer = lw.ContextPacker(tokens=tokens)
    count = token_counter(tokens)
    whole = packer.pack("What of w5 and w300?", windows, budget=None)
    assert sorted(" ".join(whole.texts).split()) == sorted(words)
    for budget in (whole.tokens // 2, whole.tokens - 1):
        packed = packer.pack("What of w5 and w300?", windows, budget=budget)
        told = " ".join(packed.texts).split()
        assert len(told) == len(set(told))
        assert count(packed.text()) <= packed.tokens <= budget
        left = [start for start in range(len(windows)) if start not in packed.positions]
        unsaid = [" ".join(word for word in windows[start].split() if word not in told) for start in left]
        assert all(not text or packed.tokens + count(text) + count("\n\n") > budget for text in unsaid)
    assert len(packer.pack("What of w5 and w300?", windows, budget=None, length=3)) == 3


def test_of_exact_copies_the_one_with_the_best_score_is_kept(packer: lw.ContextPacker) -> None:
    texts, scores = [PASSAGES[1], *PASSAGES, PASSAGES[1].upper()], [0.0, 1.0, 0.5, 3.0, 1.0, 4.0]
    assert {0, 2, 5} & set(packer.pack(QUESTION, texts, scores=scores).positions) == {5}
    assert {0, 2, 5} & set(packer.pack(QUESTION, texts, scores=scores, must_include=[2]).positions) == {2}
    assert {0, 2, 5} & set(packer.pack(QUESTION, texts).positions) == {0}


def test_near_copies_are_picked_where_both_must_be(packer: lw.ContextPacker) -> None:
    texts = [PASSAGES[1], PASSAGES[1].replace("born", "once born"), *PASSAGES[2:]]
    assert not {0, 1} <= set(packer.pack(QUESTION, texts).positions)
    assert {0, 1} <= set(packer.pack(QUESTION, texts, must_include=[0, 1]).positions)


def test_passages_that_are_too_long(packer: lw.ContextPacker) -> None:
    long = "Ridley Scott was born in South Shields. " + "He made films. " * 40
    packed = packer.pack(QUESTION, [long, PASSAGES[2]], budget=40)
    assert packed.positions == [1]
    assert "Passage 0 is too long for the budget" in packed.notes[0]
    assert packer.pack(QUESTION, [long], budget=2).positions == []
    both = packer.pack(QUESTION, [PASSAGES[2], long], budget=60, truncate=True)
    assert sorted(both.positions) == [0, 1], "what is cut gets the room that others leave"
    assert both.tokens <= 60
    assert both.notes == ["Passage 1 is cut from 214 to 39 tokens."]
    cut = packer.pack(QUESTION, [long], budget=40, truncate=True)
    assert cut.texts[0].startswith("Ridley Scott was born in South Shields. He made films.")
    assert cut.texts[0].endswith("films.")
    assert cut.tokens <= 40


def test_windows_that_overlap_are_told_once(packer: lw.ContextPacker) -> None:
    words = [f"word{i}" for i in range(600)]
    windows = [" ".join(words[start : start + 200]) for start in range(0, 500, 100)]
    packed = packer.pack("What about word5 and word450?", windows, budget=None)
    told = [word for text in packed.texts for word in text.split()]
    assert len(told) == len(set(told)) == 600
    assert len(packed) < 5
    assert packed.tokens < 600 * 5


def test_windows_that_begin_within_a_word_or_in_another_are_told_once(packer: lw.ContextPacker) -> None:
    rng = np.random.default_rng(0)
    text = " ".join(f"{''.join(rng.choice(list('abcdefghij'), rng.integers(3, 9)))}" for _ in range(500))[:2750]
    windows = [text[start : start + 500] for start in range(0, 2500, 250)]
    packed = lw.ContextPacker(tokens=len).pack("What is said?", windows, scores=-np.arange(10.0), budget=None)
    assert len(text) - 20 <= sum(map(len, packed.texts)) <= len(text)
    assert len(packed.text()) <= packed.tokens <= len(text) + 2 * len(windows)
    inner = packer.pack("What?", [text[:500], text[100:300], text[300:500]], scores=[3, 2, 1], budget=None)
    assert inner.positions == [0]
    parent = packer.pack("What?", [text[:500], text[100:300]], scores=[1, 2], budget=None)
    assert parent.texts == [text[100:300].strip(), text[:500]]


def test_must_include_and_many_questions(packer: lw.ContextPacker) -> None:
    assert packer.pack(QUESTION, PASSAGES, must_include=[0], length=2).positions == [0, 2]
    many = packer.pack_many([QUESTION] * 3, [PASSAGES] * 3, length=2, must_include=[[0], [], [3]])
    assert [packed.positions[0] for packed in many] == [0, 2, 3]
    many = packer.pack_many([QUESTION] * 2, [PASSAGES] * 2, exclude=[[2], {0, 1}])
    assert [sorted(packed.positions) for packed in many] == [[0, 1, 3], [2, 3]]
    with pytest.raises(InputError, match="queries must be a list"):
        packer.pack_many("ab", [PASSAGES] * 2)
    with pytest.raises(InputError, match="scores must have one entry per question"):
        packer.pack_many([QUESTION], [PASSAGES], scores=[])
    for wrong in ({"scores": [[1, 2, 3, 4], [1]]}, {"sizes": [None, [1]]}, {"must_include": [[], [9]]}):
        with pytest.raises(InputError, match="Question 1: "):
            packer.pack_many([QUESTION] * 2, [PASSAGES] * 2, **wrong)


def test_many_questions_take_any_iterable_and_say_what_is_no_list(packer: lw.ContextPacker) -> None:
    expected = packer.pack(QUESTION, PASSAGES, exclude=None).positions
    (packed,) = packer.pack_many(iter([QUESTION]), [PASSAGES], scores=None)
    assert packed.positions == expected
    with pytest.raises(InputError, match="scores must be a list with one entry"):
        packer.pack_many([QUESTION], [PASSAGES], scores=(row for row in [[1, 2, 3, 4]]))


def test_passages_of_pyarrow(packer: lw.ContextPacker) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    for make in (pyarrow.array, lambda texts: pyarrow.chunked_array([texts[:1], texts[1:]])):
        assert packer.pack(QUESTION, make(PASSAGES)).texts == packer.pack(QUESTION, PASSAGES).texts


def test_what_scores_weigh_is_estimated_over_many_questions(packer: lw.ContextPacker) -> None:
    rng = np.random.default_rng(0)
    asked = [f"Where was the director of Film{i} born?" for i in range(40)]
    texts = [
        [
            f"Film{i} was directed by Ann Lee{i}.",
            f"Ann Lee{i} was born in Town{i}.",
            *(f"Rain {i} {j}." for j in range(8)),
        ]
        for i in range(40)
    ]
    good = [[4.0, 4.0, *rng.normal(size=8).tolist()] for _ in asked]
    noise = [rng.normal(size=10).tolist() for _ in asked]
    weights = []
    for kind in (good, noise):
        estimate = ScoreWeights(packer)
        assert estimate.estimate() is None
        for question, passages, scores in zip(asked, texts, kind, strict=True):
            estimate.add(question, passages, scores=scores)
        weights.append(estimate.estimate())
    estimate.add(asked[0], ["Rain."] * 300, scores=range(300))  # too many to look at all of them closely
    assert len(estimate.products) == 40
    strong, weak = weights
    assert strong is not None
    assert weak is not None
    assert strong > 2 > 0.7 > weak
    many = packer.pack_many(asked, texts, scores=noise)
    assert many[0].scores == lw.ContextPacker(score_weight=weak).pack(asked[0], texts[0], scores=noise[0]).scores


def hops(rng: np.random.Generator) -> tuple[str, list[str], np.ndarray[Any, Any]]:
    """A question, its passages, and which of them it needs."""
    book, author, town = (f"{kind}{rng.integers(10**6)}" for kind in ("Book", "Author", "Town"))
    others = [f"Book{rng.integers(10**6)} was written by Author{rng.integers(10**6)}." for _ in range(4)]
    others += [f"Author{rng.integers(10**6)} was born in Town{rng.integers(10**6)}." for _ in range(4)]
    texts = np.array([f"{book} was written by {author}.", f"{author} was born in {town}.", *others])
    order = rng.permutation(len(texts))
    return f"Where was the author of {book} born?", texts[order].tolist(), order < 2


def test_where_words_tell_nothing_scores_decide_among_many_questions_too(packer: lw.ContextPacker) -> None:
    rng = np.random.default_rng(0)
    asked, texts, _ = zip(*(hops(rng) for _ in range(30)), strict=True)
    noise = rng.normal(size=(31, 10))
    order = np.argsort(-noise, axis=1, kind="stable").tolist()
    for other in ("Wo wurde der Verfasser denn geboren?", ""):
        packed = packer.pack_many([*asked, other], [*texts, texts[0]], scores=noise, budget=None)
        assert packed[-1].positions == order[-1]  # though scores that disagree with the texts weigh next to nothing
        assert packed[0].positions != order[0]
        alone = packer.pack_many([other] * 30, texts, scores=noise[:30], budget=None)
        assert [answer.positions for answer in alone] == order[:30]


def test_scores_of_a_search_by_words_are_no_news(packer: lw.ContextPacker) -> None:
    rng = np.random.default_rng(1)
    asked, texts, needed = zip(*(hops(rng) for _ in range(60)), strict=True)
    problems = question_problems(asked, texts)
    words = problems.features[:, list(problems.feature_names or ()).index("bm25")].reshape(60, 10)
    weights = []
    for scores in (words, 2.0 * np.array(needed) + rng.normal(size=(60, 10))):
        estimate = ScoreWeights(packer)
        for question, passages, own in zip(asked, texts, scores, strict=True):
            estimate.add(question, passages, scores=own)
        weights.append(estimate.estimate() or 0.0)
    assert weights[0] < 0.5 < 1.5 < weights[1]


@pytest.mark.parametrize(("strength", "lengths"), [(8.0, (1, 2, 3, 4, 5)), (2.0, (2, 3, 5))])
def test_a_good_reranker_of_passages_without_titles_is_not_spoilt(
    packer: lw.ContextPacker, strength: float, lengths: tuple[int, ...]
) -> None:
    rng, asked = np.random.default_rng(0), questions(60, random_state=3, steps=(2, 4))
    needed = [np.array([passage.step is not None for passage in question.passages]) for question in asked]
    scores = [strength * own + rng.normal(size=len(own)) for own in needed]
    texts = [[passage.text for passage in question.passages] for question in asked]
    many = packer.pack_many([question.text for question in asked], texts, scores=scores, length=5, budget=None)
    lists = [one.positions for one in many], [np.argsort(-own).tolist() for own in scores]
    for length in lengths:
        packed, by_score = (
            np.mean(
                [own[picks[:length]].sum() == min(own.sum(), length) for own, picks in zip(needed, some, strict=True)]
            )
            for some in lists
        )
        assert packed >= by_score - 0.02


def test_a_sentence_with_every_word_of_the_question_is_first(packer: lw.ContextPacker) -> None:
    passages = ["x y", "Ridley Scott directed Alien.", "Alien is a comic."]
    assert packer.pack("Who directed Alien?", passages, length=1).positions == [1]
    passages = ["z z", "Paris is the capital of France.", "France is a country.", "The capital is large."]
    for order in permutations(range(4)):
        packed = packer.pack("What is the capital of France?", [passages[i] for i in order], length=1)
        assert packed.texts == passages[1:2]


def test_titles_that_say_nothing(packer: lw.ContextPacker) -> None:
    plain = packer.pack(QUESTION, PASSAGES)
    for titles in (["notes.pdf"] * 4, ["a/b/c.txt", "x.md", None, float("nan")], ["Handbook"] * 4):
        packed = packer.pack(QUESTION, PASSAGES, titles=titles)
        assert packed.titles == [""] * 4
        assert packed.scores == plain.scores
    assert packer.pack(QUESTION, PASSAGES, titles=["", "Ridley Scott", "Alien", "Aliens"]).titles[0] == "Alien"


def test_long_numbers_count() -> None:
    texts = [f"Word{i} is here." for i in range(120)]
    packed = lw.ContextPacker(style="numbered", tokens=len).pack("Which word is it?", texts, budget=None)
    assert len(packed) == 120
    assert len(packed.text()) <= packed.tokens
    long = [f"{text} " * 9 for text in texts]
    cut = lw.ContextPacker(style="numbered", tokens=len).pack("Which word is it?", long, budget=150, truncate=True)
    assert len(cut.text()) <= cut.tokens <= 150


def test_which_score_is_not_finite_is_said(packer: lw.ContextPacker) -> None:
    with pytest.raises(InputError, match="That of passage 2 is not: nan"):
        packer.pack(QUESTION, PASSAGES, scores=[1, 2, float("nan"), 4])
    records = [{"query": QUESTION, "passages": PASSAGES, "label": [0, 1, 1, 0], "s": s} for s in ([1] * 4, [1] * 3)]
    with pytest.raises(InputError, match="Record 1: scores must be finite, one per passage"):
        packer.fit(records, label="label", scores="s")


def test_prompts_with_numbers_and_citations() -> None:
    packer = lw.ContextPacker(style="numbered", tokens=len)
    titles = ["", "Ridley Scott", "Alien", "Aliens"]
    packed = packer.pack(QUESTION, PASSAGES, titles=titles, length=2)
    assert packed.text() == f"[1] Alien\n{PASSAGES[2]}\n\n[2] Ridley Scott\n{PASSAGES[1]}"
    assert len(packed.text()) <= packed.tokens
    assert packed.citations("He was born there [2], says [2, 1] and [7].") == [1, 2]
    with pytest.raises(InputError, match="style must be"):
        lw.ContextPacker(style="bold").pack(QUESTION, PASSAGES)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="style must be"):
        packed.text(style="bold")  # type: ignore[arg-type]


def test_answers_are_pickled_and_sources_may_be_lists(packer: lw.ContextPacker) -> None:
    packed = packer.pack(QUESTION, PASSAGES, sources=[["a"], ["b"], ["a"], ["a"]], per_source=1)
    again = pickle.loads(pickle.dumps(packed))
    assert (again.positions, again.reasons) == (packed.positions, packed.reasons)


def test_estimated_tokens_do_not_undershoot() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    cache = Path(pytest.importorskip("llama_index.core").__file__).parent / "_static" / "tiktoken_cache"
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(cache))
    encoding = tiktoken.get_encoding("cl100k_base")
    texts = [" ".join(passage.text for passage in question.passages) for question in questions(30, random_state=3)]
    others = [
        "W Szczebrzeszynie chrzaszcz brzmi w trzcinie i Szczebrzeszyn z tego slynie.",
        "Bonke abantu bazalwa bekhululekile belingana ngesithunzi nangamalungelo.",
        "Kaikki ihmiset syntyvat vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan.",
        "Fe'u cynysgaeddir a rheswm a chydwybod, a dylai pawb ymddwyn y naill at y llall mewn ysbryd cymodlon.",
        "Rivaroxaban, apixaban, pembrolizumab, trastuzumab deruxtecan, ixekizumab and dupilumab",
        "INTERNATIONAL BUSINESS MACHINES CORPORATION, ARMONK. THE QUARTERLY REPORT OF THE SHAREHOLDERS",
        "for i in range(9):\n        if i:\n                print(i)\n\t\treturn",
    ]
    for text in [*texts, *others, "Über die Brücke, 1979-1981.", "東京は日本の首都です。", "x = {'a': [1, 2, 3]}"]:
        assert estimate_tokens(text) >= len(encoding.encode(text))


@pytest.mark.parametrize(
    ("title", "usable"),
    [
        ("My report 2020.PDF", False),
        ("docs/a b.pdf", False),
        ("src/app.js", False),
        ("../notes/intro", False),
        ("/usr/share/doc", False),
        ("Node.js", True),
        ("Dr.No", True),
        ("and/or", True),
        ("he/she/it", True),
        ("C:\\data\\my notes", False),
        ("https://example.org/a", False),
        ("nan", False),
        ("AC/DC", True),
        ("9/11", True),
        ("Input/output", True),
        ("St. Paul", True),
        ("Mr. Smith", True),
    ],
)
def test_titles_of_files_and_names_with_a_slash(title: str, usable: bool) -> None:
    assert usable_titles([title, "Alien"]) == [title if usable else "", "Alien"]


def test_missing_titles_of_frames_are_no_titles() -> None:
    pandas = pytest.importorskip("pandas")
    assert usable_titles([pandas.NA, pandas.NaT, float("nan"), None, "Alien"]) == ["", "", "", "", "Alien"]
    packed = lw.ContextPacker().pack("Who?", ["Ada.", "Bo."], titles=[pandas.NA, "Ada"])
    assert sorted(packed.titles) == ["", "Ada"]


def test_budgets_of_numpy_are_numbers_and_flags_are_not(packer: lw.ContextPacker) -> None:
    for budget in (np.int64(10), np.float32(10)):
        assert packer.pack("Who?", ["Ada.", "Bo."], budget=budget).positions
    with pytest.raises(InputError, match="budget must be above 0"):
        packer.pack("Who?", ["Ada.", "Bo."], budget=True)


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), "2"])
def test_weights_of_scores_that_mean_nothing(weight: Any) -> None:
    with pytest.raises(InputError, match="score_weight must be a number from 0"):
        lw.ContextPacker(score_weight=weight).pack("Who?", ["Ada.", "Bo."], scores=[1, 2])


def test_scores_of_any_size_nothing_at_all_and_broken_characters(packer: lw.ContextPacker) -> None:
    texts = ["Rain fell.", "A dog barked.", "The sea is wide."]
    assert packer.pack("", texts, scores=[1e300, -1e300, 0.0]).positions == [0, 2, 1]
    assert packer.pack("Who?", [], scores=[], stop="auto").positions == []
    assert len(packer.pack("Who is \ud800?", ["It is \ud800.", *texts])) == 4


def _keeps(rows: tuple[int, ...], sources: list[tuple[str, str]], per_source: list[Any]) -> bool:
    for level, quota in enumerate(per_source):
        counts = Counter(sources[row][level] for row in rows)
        for name in {source[level] for source in sources}:
            bounds = quota.get(name, (0, 9)) if isinstance(quota, dict) else quota
            least, most = bounds if isinstance(bounds, tuple) else (0, bounds)
            if not least <= counts[name] <= most:
                return False
    return True


def test_quotas_of_nested_sources_hold_both_ways(packer: lw.ContextPacker) -> None:
    rng, kept = np.random.default_rng(0), 0
    words = ["Alien", "Scott", "film", "born", "river", "sea", "town", "king"]
    for _ in range(60):
        sources = [(site := str(rng.choice(["a", "b"])), f"{site}{rng.integers(3)}") for _ in range(7)]
        texts = [f"{words[i]} {rng.integers(1000)} {' '.join(rng.choice(words, 3))}" for i in range(7)]
        least = int(rng.integers(3))
        coarse: Any = [(least, least + int(rng.integers(3))), {"a": (least, 3)}, 2][rng.integers(3)]
        fine: Any = [1, (0, 2), {"a0": 0, "b1": (1, 2)}, {}][rng.integers(4)]
        length = int(rng.integers(2, 6))
        allowed = [
            len(rows)
            for size in range(length + 1)
            for rows in combinations(range(7), size)
            if _keeps(rows, sources, [coarse, fine])
        ]
        if allowed:
            limits = {"sources": sources, "per_source": [coarse, fine], "length": length, "budget": None}
            packed = packer.pack(QUESTION, texts, **limits)
            assert _keeps(tuple(packed.positions), sources, [coarse, fine])
            assert len(packed) == max(allowed)
            kept += 1
    assert kept > 30
    several = packer.pack_many(
        [QUESTION] * 2,
        [PASSAGES] * 2,
        sources=[[("a", "x"), ("a", "x"), ("a", "y"), ("b", "z")]] * 2,
        per_source=[2, 1],
    )
    assert [len(packed) for packed in several] == [3, 3]
