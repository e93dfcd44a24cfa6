"""How long packing takes, warm and on one thread: time of the processor, so that other work does not count."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np

from listwright.context import ContextPacker
from listwright.simulate.questions import questions

CASES = ((20, 150), (100, 150), (5000, 150))  # passages, tokens of each
REPEATS = 15


def measured() -> dict[str, float]:
    """By case: the median in milliseconds."""
    packer, times = ContextPacker(), {}
    for n, tokens in CASES:
        question, texts, titles = _made(n, tokens)
        call: dict[str, Any] = {"titles": titles, "budget": 2000}
        packer.pack(question, texts, **call)
        seconds = []
        for _ in range(REPEATS):
            start = time.process_time()
            packer.pack(question, texts, **call)
            seconds.append(time.process_time() - start)
        times[f"{n} x {tokens}"] = round(1000 * median(seconds), 2)
        print(n, tokens, f"{times[f'{n} x {tokens}']} ms", flush=True)
    return times


def _made(n: int, tokens: int) -> tuple[str, list[str], list[str]]:
    """A question, and passages made of sentences about what it names and about other things."""
    rng = np.random.default_rng(0)
    asked = questions(40, random_state=1)
    sentences = [passage.text for question in asked for passage in question.passages]
    texts = []
    for _ in range(n):
        words: list[str] = []
        while len(words) < tokens:
            words += sentences[int(rng.integers(len(sentences)))].split()
        texts.append(" ".join(words[:tokens]))
    named = [passage.title for question in asked for passage in question.passages]
    titles = [named[i % len(named)] for i in range(n)]
    return asked[0].text, texts, titles
