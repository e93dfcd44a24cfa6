"""Packing passages with the shipped model."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.context.model import passage_policy_features, shipped_model
from listwright.errors import InputError
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
    packed = packer.pack(QUESTION, PASSAGES, budget=20)
    assert sorted(packed.positions) == [1, 2]
    assert packed.texts == [PASSAGES[position] for position in packed.positions]
    assert packed.tokens == 19
    assert packed.scores == sorted(packed.scores, reverse=True)
    assert len(set(packed.scores)) == len(packed.scores)
    assert "'Ridley Scott'" in packed.reasons[1]


def test_the_compiled_walk_picks_what_the_model_predicts(packer: lw.ContextPacker) -> None:
    rng = np.random.default_rng(0)
    words = np.array(["Alien", "film", "Ridley Scott", "born", "town", "river", "in 1937", "Shields", "director"])
    for _ in range(20):
        texts = [" ".join(rng.choice(words, 8)) + f" {i}." for i in range(7)]
        problems = question_problems([QUESTION], [texts], sizes=[[len(text.split()) for text in texts]])
        for limit in ({"length": 4}, {"budget": 30.0}):
            expected = shipped_model().predict(problems, **limit)[0]
            packed = packer.pack(QUESTION, texts, **({"budget": None} | limit))
            assert packed.positions == expected.tolist()


def test_orders(packer: lw.ContextPacker) -> None:
    packed = packer.pack(QUESTION, PASSAGES)
    ranked = packed.text().split("\n\n")
    assert ranked == packed.texts
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
    assert packer.pack(QUESTION, PASSAGES, sizes=[1, 1, 1, 1], budget=3).tokens == 3
    characters = lw.ContextPacker(tokens=len).pack(QUESTION, PASSAGES, budget=100)
    assert characters.tokens == sum(map(len, characters.texts)) <= 100
    tokenizer = SimpleNamespace(encode=lambda text: text.split("e"))
    encoded = lw.ContextPacker(tokens=tokenizer).pack(QUESTION, PASSAGES, budget=12)
    assert encoded.tokens == sum(len(text.split("e")) for text in encoded.texts) <= 12


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
        ({"budget": 2}, "No passage fits 2 tokens: the shortest has 5"),
        ({"length": 0}, "length must be at least 1"),
        ({"per_source": 1}, "per_source needs sources"),
    ],
)
def test_bad_input_is_named(packer: lw.ContextPacker, changes: dict[str, Any], message: str) -> None:
    arguments = {"query": QUESTION, "passages": PASSAGES} | changes
    with pytest.raises(InputError, match=message):
        packer.pack(**arguments)


def test_tokens_that_count_nothing() -> None:
    with pytest.raises(InputError, match="tokens must be"):
        lw.ContextPacker(tokens="letters").pack(QUESTION, PASSAGES)


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
