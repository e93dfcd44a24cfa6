"""ROUGE recall must equal that of the rouge-score package."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright._internal.tokens import tokens

scoring = pytest.importorskip("rouge_score.rouge_scorer")

STEMS = ["flood", "river", "happi", "relat", "run", "town", "citi", "hope", "2", "10", "x", "die", "sky", "generali"]
ENDINGS = ["", "s", "ed", "ing", "ational", "ly", "ness", "es", "y", "'s", "-", ".", "É"]
PHRASES = ["the river rose again", "hopes of the town", "flooding, flooded, floods", "it's 10 o'clock"]  # shared runs
N_TEXTS = 1000


def random_text(rng: np.random.Generator) -> str:
    words = [random_words(rng) for _ in range(rng.integers(1, 20))]
    return " ".join(word.upper() if rng.random() < 0.1 else word for word in words)


def random_words(rng: np.random.Generator) -> str:
    if rng.random() < 0.3:
        return PHRASES[rng.integers(len(PHRASES))]
    return STEMS[rng.integers(len(STEMS))] + ENDINGS[rng.integers(len(ENDINGS))]


def texts(seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [random_text(rng) for _ in range(N_TEXTS)]


def recall_of_all(reward: lw.rewards.Reward, problems: lw.Problems) -> Any:
    """Value of the list of all candidates."""
    state = reward.start(problems)
    for position in range(problems.counts.max()):
        picks = np.where(problems.counts > position, problems.offsets[:-1] + position, -1)
        state = reward.add(state, picks)
    return reward.value(state)


def single_problems() -> lw.Problems:
    return lw.Problems.from_arrays(np.zeros((N_TEXTS, 1, 1)))


@pytest.mark.parametrize("stem", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_one_reference(n: int, stem: bool) -> None:
    summaries, references = texts(1), texts(2)
    scorer = scoring.RougeScorer([f"rouge{n}"], use_stemmer=stem)
    expected = [scorer.score(b, a)[f"rouge{n}"].recall for a, b in zip(summaries, references, strict=True)]
    reward = lw.rewards.Rouge([tokens(a) for a in summaries], [tokens(b) for b in references], n=n, stem=stem)
    np.testing.assert_allclose(recall_of_all(reward, single_problems()), expected, rtol=0, atol=1e-9)
    assert 0.01 < np.mean(expected) < 0.99


@pytest.mark.parametrize("stem", [False, True])
@pytest.mark.parametrize(("best", "combine"), [(False, np.mean), (True, np.max)])
def test_several_references(best: bool, combine: Any, stem: bool) -> None:
    summaries, references = texts(1), list(zip(texts(2), texts(3), texts(4), strict=True))
    scorer = scoring.RougeScorer(["rouge1"], use_stemmer=stem)
    expected = [
        combine([scorer.score(b, a)["rouge1"].recall for b in several])
        for a, several in zip(summaries, references, strict=True)
    ]
    reward = lw.rewards.Rouge(
        [tokens(a) for a in summaries], [[tokens(b) for b in several] for several in references], stem=stem, best=best
    )
    np.testing.assert_allclose(recall_of_all(reward, single_problems()), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("stem", [False, True])
def test_a_list_of_sentences_scores_like_the_text_they_make(stem: bool) -> None:
    rng = np.random.default_rng(5)
    sentences, references = texts(6), texts(7)[:200]
    offsets = np.concatenate([[0], np.sort(rng.choice(np.arange(1, N_TEXTS), 199, replace=False)), [N_TEXTS]])
    scorer = scoring.RougeScorer(["rouge1"], use_stemmer=stem)
    expected = [
        scorer.score(references[i], " ".join(sentences[offsets[i] : offsets[i + 1]]))["rouge1"].recall
        for i in range(200)
    ]
    reward = lw.rewards.Rouge([tokens(a) for a in sentences], [tokens(b) for b in references], stem=stem)
    problems = lw.Problems.from_arrays(np.zeros((N_TEXTS, 1)), offsets=offsets)
    np.testing.assert_allclose(recall_of_all(reward, problems), expected, rtol=0, atol=1e-9)
