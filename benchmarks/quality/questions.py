"""Questions (HotpotQA, five folds): share with all supporting paragraphs in the first 2, 3, 5, or 160, 320 tokens."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import listwright as lw
from benchmarks.quality.jobs import Job
from benchmarks.quality.rivals import TunedMMR
from listwright.baselines import MMR, TopK
from listwright.evaluation.plan import fold_numbers
from listwright.evaluation.values import list_values
from listwright.lab.datasets import read_questions

LENGTHS = (2, 3, 5)
BUDGETS = (160, 320)
FOLDS = 5

# Every method sees the same candidate features, those by links among them.
METHODS: dict[str, Any] = {
    "SCP best": lw.SCP(effort="best", random_state=0),
    "SCP fast": lw.SCP(random_state=0),
    "ConSeqOpt": lw.ConSeqOpt(random_state=0),
    "boosting top-k": TopK("boosting", random_state=0),
    "extra-trees top-k": TopK("extra_trees", random_state=0),
    "ridge top-k": TopK("ridge"),
    "MMR": TunedMMR("cosine"),
    "BM25 top-k": MMR(0.0, "bm25"),
    "TF-IDF top-k": MMR(0.0, "cosine"),
}


def jobs(data: Path) -> list[Job]:
    """A job for each method and fold."""
    file = data / "multihop_qa" / "hotpotqa200.jsonl.gz"
    return [
        Job(f"questions/{fold}/{method}", partial(_one, file, fold, method))
        for method in METHODS
        for fold in range(FOLDS)
    ]


def _one(file: Path, fold: int, method: str) -> list[dict[str, Any]]:
    """Fits one method without one fold, and tests it there under every length and budget."""
    problems = read_questions(file)
    folds = fold_numbers(FOLDS, len(problems), 0)
    train, test = problems[folds != fold], problems[folds == fold]
    model = clone(METHODS[method])
    settings = {"length": max(LENGTHS), "short_lists": True}
    known = {name: value for name, value in settings.items() if name in model.get_params()}
    model.set_params(**known).fit(train)
    rows = []
    for limit in ({"length": length} for length in LENGTHS):
        rows += _rows(model, test, fold, method, limit, str(limit["length"]))
    for budget in BUDGETS:
        rows += _rows(model, test, fold, method, {"budget": budget}, f"{budget} tokens")
    return rows


def _rows(
    model: Any, test: lw.Problems, fold: int, method: str, limit: dict[str, Any], at: str
) -> list[dict[str, Any]]:
    lists = model.predict(test.without_reward(), **limit, short_lists=True)
    whole = np.isclose(list_values(lists, test), 1.0).astype(float)
    return [
        {
            "set": "questions",
            "part": str(fold),
            "method": method,
            "train": "1.0",
            "seed": 0,
            "at": at,
            "problem": str(name),
            "value": float(value),
        }
        for name, value in zip(test.problem_ids, whole, strict=True)
    ]
