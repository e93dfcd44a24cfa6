"""Questions (HotpotQA, five folds): share with all supporting paragraphs in the first 2, 3, 5, or 160, 320 tokens.

Settings may be chosen here, by the same cross-validation: what is reported of this family is what was chosen on.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import listwright as lw
from benchmarks.quality import protocol
from benchmarks.quality.jobs import Job
from benchmarks.quality.methods import OF_FEATURES, fitted, lists_of, rows
from listwright.baselines import MMR
from listwright.datasets import read_questions
from listwright.evaluation.compare import fold_numbers
from listwright.evaluation.values import list_values

FAMILY = "questions"
LENGTHS = (2, 3, 5)
BUDGETS = (160, 320)
FOLDS = 5
METHODS: dict[str, Any] = OF_FEATURES | {"BM25": MMR(0.0, "bm25"), "TF-IDF": MMR(0.0, "cosine")}


def jobs(stage: str, seeds: int) -> list[Job]:
    """A job for each method, seed and fold; a seed draws its own folds."""
    file = protocol.folder("multihop_qa", stage) / "hotpotqa200.jsonl.gz"
    return [
        Job(stage, FAMILY, f"{seed}/{fold}", method, partial(_one, file, seed, fold, method))
        for method in METHODS
        for seed in range(seeds)
        for fold in range(FOLDS)
    ]


def _one(file: Path, seed: int, fold: int, method: str) -> list[dict[str, Any]]:
    """Fits one method without one fold, and tests it there under every length and budget."""
    problems = read_questions(file)
    folds = fold_numbers(FOLDS, len(problems), seed)
    train, test = problems[folds != fold], problems[folds == fold]
    model = fitted(METHODS[method], train, length=max(LENGTHS), seed=seed)
    labels = {"set": "HotpotQA", "train": "1.0", "seed": seed}
    limits: dict[str, dict[str, Any]] = {str(length): {"length": length} for length in LENGTHS}
    limits |= {f"{budget} tokens": {"budget": budget} for budget in BUDGETS}
    return [
        row
        for at, limit in limits.items()
        for row in rows(method, at, test.problem_ids, whole(model, test, limit), labels)
    ]


def whole(model: Any, test: lw.Problems, limit: dict[str, Any]) -> list[float]:
    """1 for each question whose list holds all of its support."""
    values = list_values(lists_of(model, test, allow_short=True, **limit), test)
    return np.isclose(values, 1.0).astype(float).tolist()
