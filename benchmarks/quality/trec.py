"""Search results (TREC Web 2009-2012, the published folds): alpha-nDCG at 5, 10 and 20, over all judged documents."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import listwright as lw
from benchmarks.quality import protocol
from benchmarks.quality.jobs import Job
from benchmarks.quality.methods import OF_FEATURES, fitted, lists_of, rows
from benchmarks.quality.rivals import GivenOrder, TunedPM2, TunedXQuAD
from listwright.datasets import read_trec_web
from listwright.evaluation import alpha_ndcg

FAMILY = "search results"
AT = (5, 10, 20)
PUBLISHED = ("DSSA", "DVGAN", "DESA", "GDESA", "MDP-DIV", "PAD")
METHODS: dict[str, Any] = {name: method for name, method in OF_FEATURES.items() if name != "MMR"}  # no vectors here
METHODS |= {"Indri": GivenOrder(), "xQuAD": TunedXQuAD(), "PM-2": TunedPM2()}


def jobs(stage: str, seeds: int) -> list[Job]:
    """A job for each method, seed and fold, and one for each published run; nothing is chosen here."""
    if stage == "choose":
        return []
    folder = protocol.folder("trec_web", stage)
    own = [
        Job(stage, FAMILY, f"{seed}/{fold}", method, partial(_one, folder, seed, fold, method))
        for method in METHODS
        for seed in range(seeds)
        for fold in range(5)
    ]
    return own + [Job(stage, FAMILY, "published", name, partial(_published, folder, name)) for name in PUBLISHED]


def _one(folder: Path, seed: int, fold: int, method: str) -> list[dict[str, Any]]:
    web = read_trec_web(folder)
    train, test = web.problems[web.folds != fold], web.problems[web.folds == fold]
    model = fitted(METHODS[method], train, length=max(AT), seed=seed)
    return _scored(method, lists_of(model, test, length=max(AT), allow_short=True), test, seed)


def _published(folder: Path, name: str) -> list[dict[str, Any]]:
    web = read_trec_web(folder)
    return _scored(name, web.published[name], web.problems, 0)


def _scored(method: str, lists: lw.Lists, problems: lw.Problems, seed: int) -> list[dict[str, Any]]:
    labels = {"set": "TREC Web", "train": "1.0", "seed": seed}
    by_length = {str(at): alpha_ndcg(lists, problems, ideal="judged", at=at) for at in AT}
    return [row for at, values in by_length.items() for row in rows(method, at, problems.problem_ids, values, labels)]
