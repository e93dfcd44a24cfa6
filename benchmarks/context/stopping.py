"""Tokens that `stop="auto"` saves, and what it loses, against five passages for every question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import listwright as lw
from benchmarks.context.scores import SETS, STRENGTHS, Asked, Pieces, ask, fit_packer, pack
from listwright.context import Packed
from listwright.evaluation.compare import fold_numbers

WAYS: dict[str, dict[str, Any]] = {"five passages": {"length": 5}, "stop": {"stop": "auto"}}


def measured(n_questions: int, n_folds: int, only: Pieces) -> dict[str, Any]:
    """By data set, packer and strength: recall of the supporting passages and tokens per question, by way."""
    found: dict[str, Any] = {}
    for name in SETS:
        for method in ("packer, untrained", "packer, fitted"):
            for strength in ("no score", "medium"):
                if only.data in name and only.method in method and only.strength in strength:
                    row = _one_row(ask(name, n_questions, STRENGTHS[strength]), n_folds, method)
                    found[f"{name}, {method}, {strength}"] = row
                    print(name, method, strength, row, flush=True)
    return found


def _one_row(asked: Asked, n_folds: int, method: str) -> dict[str, list[float]]:
    folds = fold_numbers(n_folds, len(asked.questions), 0)
    sums = {way: np.zeros(2) for way in WAYS}
    for fold in range(n_folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        packer = fit_packer(asked, train) if "fitted" in method else lw.ContextPacker(asked.start)
        for way, options in WAYS.items():
            sums[way] += _totals(asked, test, pack(packer, asked, test, **options))
    return {way: (total / len(asked.questions)).round(4).tolist() for way, total in sums.items()}


def _totals(asked: Asked, rows: Sequence[int], packed: Sequence[Packed]) -> Any:
    supports = [np.array(asked.questions[row].supports) for row in rows]
    shares = [held[one.positions].sum() / held.sum() for held, one in zip(supports, packed, strict=True)]
    return np.array([sum(shares), sum(one.tokens for one in packed)])
