"""Rewards in one line of text are the rewards that they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import listwright as lw
from listwright import rewards
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.tables import parse_reward
from tests.table_tools import assert_same

ORDER = [0, 2, 4, 1, 3, 5]  # rows by problem
BASE = {"problem": ["p", "q"] * 3, "item": [0, 0, 1, 1, 2, 2], "x": [1.0] * 6}
TOPICS = [["a"], ["b", "a"], ["a", "b"], [], ["c"], ["c", "b"]]
FLAGS = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1], [0, 1, 1]])
SHARES = np.array([[0.5, 0, 0], [1, 0.25, 0], [1, 0.125, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0.5]])
VECTORS = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0], [3.0, 0.0], [0.0, 0.0], [-1.0, 1.0]])


def built(spec: str, columns: dict[str, Any], **options: Any) -> Problems:
    """Problems with the reward of a spec."""
    return lw.Problems.from_frame(pa.table(BASE | columns), features=["x"], reward=spec, **options)


def expected(reward: rewards.Reward) -> Problems:
    """The same problems with a reward made by hand, rows by problem."""
    return built("any:x", {}).with_reward(reward)


def columns_of(name: str, matrix: Any) -> dict[str, Any]:
    return {f"{name}_{i}": np.asarray(matrix)[:, i] for i in range(np.shape(matrix)[1])}


CASES: dict[str, tuple[str, dict[str, Any], rewards.Reward]] = {
    "any": ("any:hit", {"hit": [0, 1, 1, 0, 0, 0]}, rewards.AnySuccess([0, 1, 0, 1, 0, 0])),
    "any of probabilities": ("any:hit", {"hit": SHARES[:, 0]}, rewards.AnySuccess(SHARES[ORDER, 0])),
    "graded": ("graded:grade", {"grade": [0, 1, 2, 0, 0, 0]}, rewards.AnySuccess([0, 0.75, 0, 0.25, 0, 0])),
    "coverage of lists": ("coverage:topics", {"topics": TOPICS}, rewards.Coverage(FLAGS[ORDER])),
    "coverage of numbers": (
        "coverage:topics",
        {"topics": [[ord(topic) for topic in several] for several in TOPICS]},
        rewards.Coverage(FLAGS[ORDER]),
    ),
    "coverage of text": ("coverage:topics", {"topics": ["|".join(t) for t in TOPICS]}, rewards.Coverage(FLAGS[ORDER])),
    "coverage of columns": ("coverage:topic_*", columns_of("topic", FLAGS), rewards.Coverage(FLAGS[ORDER])),
    "weighted lists": (
        "coverage:topics*worth",
        {"topics": TOPICS, "worth": [[{"a": 3.0, "b": 1.0, "c": 2.0}[topic] for topic in t] for t in TOPICS]},
        rewards.Coverage(FLAGS[ORDER], [3.0, 1.0, 2.0]),
    ),
    "weighted by a column": (
        "coverage:topics * worth",
        {"topics": [["a"], ["a"], ["b"], ["c"], ["c"], ["c"]], "worth": [3.0, 2.0, 1.0, 4.0, 5.0, 4.0]},
        rewards.Coverage(np.eye(3)[[0, 1, 2, 0, 2, 2]], [[3.0, 1.0, 5.0], [2.0, 1.0, 4.0]]),
    ),
    "weighted columns": (
        "coverage:topic_**worth",
        columns_of("topic", FLAGS) | {"worth": [[3.0, 1.0, 2.0]] * 6},
        rewards.Coverage(FLAGS[ORDER], [3.0, 1.0, 2.0]),
    ),
    "probabilistic": ("probabilistic:p_*", columns_of("p", SHARES), rewards.ProbabilisticCoverage(SHARES[ORDER])),
    "probabilistic lists": ("probabilistic:p", {"p": SHARES.tolist()}, rewards.ProbabilisticCoverage(SHARES[ORDER])),
    "sqrt": ("sqrt:t_*", columns_of("t", SHARES), rewards.ConcaveCoverage(SHARES[ORDER], "sqrt")),
    "log": ("log:t_*", columns_of("t", SHARES), rewards.ConcaveCoverage(SHARES[ORDER], "log")),
    "sqrt of lists": ("sqrt:topics", {"topics": TOPICS}, rewards.ConcaveCoverage(FLAGS[ORDER], "sqrt")),
}


@pytest.mark.parametrize("name", CASES)
def test_a_spec_is_the_reward_it_stands_for(name: str) -> None:
    spec, columns, reward = CASES[name]
    assert_same(built(spec, columns), expected(reward))


@pytest.mark.parametrize("columns", [{"e": VECTORS.tolist()}, columns_of("e", VECTORS)], ids=["lists", "columns"])
def test_facility_is_cosine_similarity_within_the_problem(columns: dict[str, Any]) -> None:
    lengths = np.linalg.norm(VECTORS, axis=1, keepdims=True)
    unit = VECTORS / np.where(lengths > 0, lengths, 1.0)
    blocks = [unit[rows] @ unit[rows].T for rows in (ORDER[:3], ORDER[3:])]
    found = built("facility:e" if "e" in columns else "facility:e_*", columns)
    mine = lw.greedy(expected(rewards.FacilityLocation(blocks)), length=2)
    np.testing.assert_allclose(lw.greedy(found, length=2).picked_gains, mine.picked_gains, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2])
def test_rouge_takes_texts_and_references(n: int) -> None:
    texts = ["the cat", "a dog", "cat sat down", "dog ran", "", "the dog ran off"]
    references = {"p": ["The cat sat."], "q": "a dog ran off"}
    found = built("rouge:t" if n == 1 else "rouge2:t", {"t": texts}, references=references)
    tokens = [lw.text.tokens(texts[row]) for row in ORDER]
    assert_same(found, expected(rewards.Rouge(tokens, [["the", "cat", "sat"], ["a", "dog", "ran", "off"]], n=n)))
    frame = pa.table({"problem": ["q", "p"], "reference": ["a dog ran off", "The cat sat."]})
    assert_same(found, built("rouge:t" if n == 1 else "rouge2:t", {"t": texts}, references=frame))


def test_rouge_needs_text_and_references_with_words() -> None:
    with pytest.raises(InputError, match="column 'x' must be text"):
        built("rouge:x", {}, references={"p": "a", "q": "b"})
    with pytest.raises(InputError, match="Problem q has no reference with any word"):
        built("rouge:t", {"t": ["x"] * 6}, references={"p": "a", "q": "..."})
    with pytest.raises(InputError, match="References of problem p must be texts"):
        built("rouge:t", {"t": ["x"] * 6}, references={"p": [3]})


def test_ones_own_function_is_loaded_from_the_file_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def worth(problem, items):\n    return len(items) / 3 if problem.problem_ids[0] == 'p' else 0.0\n")
    problems = built(f"{path}:worth", {})
    assert lw.greedy(problems, length=3).values is not None
    np.testing.assert_allclose(lw.greedy(problems, length=3).values, [1.0, 0.0])


@pytest.mark.parametrize(
    ("text", "spec", "message"),
    [
        (None, "mine.py:worth", "There is no file"),
        ("x = 1\n", "mine.py:worth", "has no function 'worth'. Define `def worth"),
        ("def (\n", "mine.py:worth", "cannot be run: SyntaxError"),
        ("1 / 0\n", "mine.py:worth", "cannot be run: ZeroDivisionError"),
    ],
)
def test_what_is_wrong_with_ones_own_file_is_told(tmp_path: Path, text: str | None, spec: str, message: str) -> None:
    if text is not None:
        (tmp_path / "mine.py").write_text(text)
    with pytest.raises(InputError, match=message):
        built(f"{tmp_path}/{spec}", {})


def test_the_columns_of_the_reward_are_no_features() -> None:
    table = pa.table(BASE | columns_of("topic", FLAGS) | {"worth": [1.0] * 6, "y": [2.0] * 6})
    assert lw.Problems.from_frame(table, reward="coverage:topic_**worth").feature_names == ("x", "y")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nonsense", r"Unknown reward 'nonsense'. Known are:\n  any:COLUMN"),
        ("coverge:x", "Did you mean 'coverage'"),
        ("any:", "names no column. Write any:COLUMN"),
        ("any", "names no column"),
    ],
)
def test_an_unknown_spec_lists_the_known_ones(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_reward(spec)


ERRORS: dict[str, tuple[str, dict[str, Any], str]] = {
    "no topic": ("coverage:topics", {"topics": [[]] * 6}, "no row has a topic"),
    "bad list": ("coverage:topics", {"topics": ["[1"] * 6}, r"Row 0 .* is not a list"),
    "negative": ("sqrt:t_*", columns_of("t", SHARES - 1), "is below 0"),
    "probability": ("probabilistic:t_*", columns_of("t", SHARES * 2), r"Row 2 .* 2 is no probability"),
    "two weights": (
        "coverage:topics*worth",
        {"topics": [["a"]] * 6, "worth": [1.0, 2.0, 1.0, 2.0, 3.0, 2.0]},
        r"Row 4 .* topic a of problem p weighs 3, but 1 at row 2",
    ),
    "few weights": (
        "coverage:topics*worth",
        {"topics": [["a", "b"]] * 6, "worth": [[1.0]] * 6},
        "1 weights for 2 topics",
    ),
    "weights of text": ("coverage:topics*worth", {"topics": [["a"]] * 6, "worth": [["w"]] * 6}, "lists of numbers"),
    "negative weight": ("coverage:topics*worth", {"topics": [["a"]] * 6, "worth": [-1.0] * 6}, "weight -1 is below 0"),
    "grades": ("graded:g", {"g": [-1.0] * 6}, "Grades are 0, 1, 2"),
    "no references": ("rouge:t", {"t": ["x"] * 6}, "rouge needs references"),
    "embedding": ("facility:e", {"e": [[1.0], [1.0, 2.0]] * 3}, "Vectors must be equally long"),
    "no names": ("coverage:topics", {"topics": [{"a": 1}] * 6}, "must hold topics, or lists of topics. Got struct"),
    "lists of lists": ("coverage:topics", {"topics": [[["a"]]] * 6}, "must hold topics, or lists of topics. Got list"),
    "missing in list": ("coverage:topics", {"topics": [["a", None]] * 6}, "the list has a missing entry"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_the_place(name: str) -> None:
    spec, columns, message = ERRORS[name]
    with pytest.raises(InputError, match=message):
        built(spec, columns)


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("share:clicks", 0.75),
        ("sum:clicks", 3.0),
        ("sum:clicks<=2", 2.0),
        ("sum:clicks*price", 6.0),
        ("share:clicks*price <= 3", 1.0),
    ],
)
def test_sums_and_shares_of_a_column(spec, value) -> None:
    columns = {"problem": ["q"] * 3, "x": [1.0, 2.0, 3.0], "clicks": [1, 0, 3], "price": [1.0, 5.0, 2.0]}
    problems = lw.Problems.from_frame(pa.table(columns), reward=spec)
    assert lw.greedy(problems, length=1).values == pytest.approx([value])
    assert "clicks" not in problems.feature_names


def test_a_sum_of_negative_numbers_is_refused() -> None:
    table = pa.table({"problem": ["q"], "x": [1.0], "clicks": [-2]})
    with pytest.raises(InputError, match="column 'clicks': -2 is below 0"):
        lw.Problems.from_frame(table, reward="sum:clicks")
