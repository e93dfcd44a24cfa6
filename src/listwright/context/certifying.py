"""Held-out certificates of a packer, from labelled questions that it has not learned from.

Unlike the certificates of `SCP`, these go through `ContextPacker.pack`, so that everything it does around the policy
(removing near copies, skipping what does not fit) is part of what is certified.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats
from listwright.baselines import MMR
from listwright.context.examples import Example, example_problems
from listwright.context.tokens import sizes_of
from listwright.errors import InputError
from listwright.evaluation.values import list_values
from listwright.guarantees import HeldOutCertificate
from listwright.guarantees.held_out import certificate_of
from listwright.selection import greedy


def certified(
    packer: Any, examples: Sequence[Example], delta: float, *, budget: float | None, length: int | None
) -> HeldOutCertificate:
    """Compute the held-out certificate of a packer: see `ContextPacker.certify`."""
    sizes = [np.maximum(sizes_of(example.texts, None, packer.tokens), 1.0) for example in examples]
    problems = example_problems(examples, sizes)
    limits: dict[str, Any] = {"length": length, "budget": budget}
    best = greedy(problems, **limits).values
    assert best is not None
    sorted_by_words = MMR(0.0, relevance="bm25").fit(problems).predict(problems, **limits, allow_short=True)
    values: Floats = np.array([example.share(_positions(packer, example, limits)) for example in examples])
    rivals = {"BM25": list_values(sorted_by_words, problems)}
    return certificate_of(values, best, rivals, delta=delta, binary=False, length=length, budget=budget)


def refuse_learned(examples: Sequence[Example], learned: frozenset[str]) -> None:
    """Raise `InputError` if any example was used in `fit`, as a certificate needs independent questions."""
    # Examples are compared by `Example.key`, so that the same question with other passages counts as new.
    known = [example.query for example in examples if example.key() in learned]
    if known:
        raise InputError(
            f"{len(known)} of these {len(examples)} questions were learned from, such as {known[0]!r:.80}. A "
            "certificate needs questions that the packer has not seen: hold some back before fit."
        )


def _positions(packer: Any, example: Example, limits: dict[str, Any]) -> list[int]:
    """Pack one example and return the positions of the chosen passages."""
    found: list[int] = packer.pack(example.query, example.texts, titles=example.titles, **limits).positions
    return found
