"""ROUGE against the rouge-score package."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwright.errors import InputError
from listwright.text.scores import rouge

rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=12)


@settings(deadline=None)
@given(WORDS, WORDS, st.integers(1, 3))
def test_one_reference_scores_as_rouge_score_does(candidate: list[str], reference: list[str], n: int) -> None:
    theirs = rouge_scorer.RougeScorer([f"rouge{n}"]).score(" ".join(reference), " ".join(candidate))[f"rouge{n}"]
    ours = rouge(candidate, [reference], n=n)
    assert ours == pytest.approx((theirs.recall, theirs.precision, theirs.fmeasure))


@settings(deadline=None)
@given(WORDS, st.lists(WORDS, min_size=1, max_size=4))
def test_best_reference_scores_as_rouge_score_does(candidate: list[str], references: list[list[str]]) -> None:
    texts = [" ".join(reference) for reference in references]
    theirs = rouge_scorer.RougeScorer(["rouge1"]).score_multi(texts, " ".join(candidate))["rouge1"]
    assert rouge(candidate, references, over="best") == pytest.approx(
        (theirs.recall, theirs.precision, theirs.fmeasure)
    )


def test_mean_averages_and_pooled_adds_up() -> None:
    candidate, references = ["a", "b"], [["a"], ["b", "c", "d"]]
    assert rouge(candidate, references).recall == pytest.approx((1 + 1 / 3) / 2)
    assert rouge(candidate, references, over="pooled").recall == pytest.approx(2 / 4)
    assert rouge(candidate, references, over="pooled").precision == pytest.approx(2 / 4)


def test_jackknife_pools_all_but_one_reference_in_turn() -> None:
    candidate, references = ["a", "b"], [["a"], ["b", "c", "d"], ["e"]]
    held = [rouge(candidate, [one for one in references if one is not out], over="pooled") for out in references]
    found = rouge(candidate, references, over="jackknife")
    assert found.recall == pytest.approx(sum(one.recall for one in held) / 3)
    assert found.recall == pytest.approx((1 / 4 + 1 / 2 + 2 / 4) / 3)
    assert rouge(candidate, [["a"]], over="jackknife") == rouge(candidate, [["a"]])


def test_repeats_count_no_more_often_than_in_the_reference() -> None:
    assert rouge(["a", "a", "a"], [["a", "a", "b"]]) == pytest.approx((2 / 3, 2 / 3, 2 / 3))


def test_errors_name_the_cure() -> None:
    with pytest.raises(InputError, match="at least one reference"):
        rouge(["a"], [])
    with pytest.raises(InputError, match="n must be at least 1"):
        rouge(["a"], [["a"]], n=0)
    with pytest.raises(InputError, match="pass tokens"):
        rouge(["a"], ["a text"])
    with pytest.raises(InputError, match="mean, pooled, jackknife or best"):
        rouge(["a"], [["a"]], over="sum")  # type: ignore[arg-type]
