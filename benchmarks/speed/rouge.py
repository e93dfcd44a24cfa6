"""ROUGE-1 recall gains of 300 candidates against 4 references."""

from __future__ import annotations

from typing import Any

import numpy as np
from rouge_score.rouge_scorer import RougeScorer

from benchmarks.speed.timing import Record, compare, must
from listwright import Problems
from listwright.rewards import Rouge
from listwright.text import tokens


def texts() -> tuple[list[str], list[str]]:
    """Sentences of 25 words and references of 100, of 3000 words with falling frequency."""
    rng = np.random.default_rng(0)
    words = ["".join(chr(97 + c) for c in rng.integers(26, size=rng.integers(2, 10))) for _ in range(3000)]
    chances = 1.0 / np.arange(1, 3001)
    draw = lambda n: " ".join(rng.choice(words, size=n, p=chances / chances.sum()))  # noqa: E731
    return [draw(25) for _ in range(300)], [draw(100) for _ in range(4)]


def ours(candidates: list[str], references: list[str]) -> Any:
    """Gains of all candidates from text."""
    problems = built(candidates, references)
    return problems.reward.gains(problems.reward.start(problems))


def built(candidates: list[str], references: list[str]) -> Problems:
    """One problem."""
    reward = Rouge([tokens(text) for text in candidates], [[tokens(text) for text in references]])
    return Problems.from_arrays(np.zeros((1, len(candidates), 1), np.float32), reward=reward)


def peer(candidates: list[str], references: list[str]) -> Any:
    """Mean recall of each candidate over the references."""
    scorer = RougeScorer(["rouge1"])
    return np.array([np.mean([scorer.score(r, c)["rouge1"].recall for r in references]) for c in candidates])


def records() -> list[Record]:
    """With the tokens laid out, and from text."""
    candidates, references = texts()
    problems = built(candidates, references)
    state = problems.reward.start(problems)
    must(np.allclose(problems.reward.gains(state), peer(candidates, references)), "ROUGE-1 recall")
    theirs = lambda: peer(candidates, references)  # noqa: E731
    work = "ROUGE-1 recall gains, 300 candidates x 4 references"
    return [
        compare(
            f"{work}, tokens ready",
            "rouge-score",
            ours=lambda: problems.reward.gains(state),
            theirs=theirs,
            at_least=1000,
        ),
        compare(
            f"{work}, from text", "rouge-score", ours=lambda: ours(candidates, references), theirs=theirs, at_least=20
        ),
    ]
