"""Summaries and passages under a budget: run `python -m benchmarks.budgets`.

Sentences under a limit of bytes, worth ROUGE-1 recall, and paragraphs under a limit of tokens, worth the share of the
supporting ones. Every method is fitted for the budget that it is tested at: scisumm has its own test papers, the others
are tested in five folds. Items do not recur, so static lists and forest cover do not apply. Writes
benchmarks/budgets.json and the section of docs/results.md.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

import listwright as lw
from benchmarks import results_page
from benchmarks.quality.jobs import processes
from benchmarks.quality.methods import AUTO, FAST, rows
from benchmarks.quality.rivals import SortedBy, TunedMMR
from benchmarks.quality.summary import behind, cells
from listwright.baselines import TopK
from listwright.datasets import fetch, read_questions
from listwright.errors import Notice
from listwright.evaluation.compare import fold_numbers
from listwright.evaluation.values import list_values
from listwright.text.corpora import read_clusters, splits, usual_budget
from listwright.text.summary_problems import size_limit, summary_problems

RESULTS = Path(__file__).with_suffix(".json")
FOLDS = 5
SUMMARIES = ("scisumm", "opinosis")
TOKENS = {"hotpotqa200": (160, 320), "2wiki500": (64, 128)}  # about two and four paragraphs
Part = tuple[lw.Problems, lw.Problems]  # to learn from, and to test


class PerSize(TopK):
    """Sorts by the predicted gain divided by the size."""

    def relevance(self, problems: lw.Problems) -> Any:
        """The gain of a row per unit of its size."""
        assert problems.sizes is not None
        return super().relevance(problems) / problems.sizes


METHODS: dict[str, Any] = {
    AUTO: lw.SCP(random_state=0),
    FAST: lw.SCP(effort="fast", random_state=0),
    "extra-trees, sorted": TopK("extra_trees", random_state=0),
    "extra-trees per size, sorted": PerSize("extra_trees", random_state=0),
    "MMR": TunedMMR(),
    "best column": SortedBy(),
}


@cache
def summaries(name: str) -> tuple[str, float, list[Part]]:
    """The budget in words, what sizes may sum to, and the parts."""
    clusters = read_clusters(fetch(name), need_references=True)
    problems, budget = summary_problems(clusters, need_references=True), usual_budget(clusters)
    return str(budget), size_limit(budget), [(problems[train], problems[test]) for train, test in splits(clusters)]


@cache
def passages(name: str) -> list[Part]:
    """The questions in five parts: to learn from, and to test."""
    problems = read_questions(fetch("multihop_qa") / f"{name}.jsonl.gz")
    folds = fold_numbers(FOLDS, len(problems), 0)
    return [(problems[folds != fold], problems[folds == fold]) for fold in range(FOLDS)]


def tasks() -> list[tuple[str, str, float, int, str]]:
    """The data set, the budget in words, what sizes may sum to, the number of the part, and the method."""
    places = [(name, *summaries(name)[:2], len(summaries(name)[2])) for name in SUMMARIES]
    places += [(name, f"{tokens} tokens", float(tokens), FOLDS) for name in TOKENS for tokens in TOKENS[name]]
    return [
        (name, at, limit, part, method)
        for method in METHODS
        for name, at, limit, n_parts in places
        for part in range(n_parts)
    ]


def values_of(name: str, at: str, limit: float, part: int, method: str) -> list[dict[str, Any]]:
    """One record per test problem: what its list is worth, and the processor time of the fit."""
    train, test = summaries(name)[2][part] if name in SUMMARIES else passages(name)[part]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        began = time.process_time()
        model = clone(METHODS[method]).set_params(budget=limit).fit(train)
        seconds = time.process_time() - began
    values = list_values(model.predict(test.without_reward(), budget=limit), test)
    how = getattr(model, "report_", None) if method == AUTO else None
    chosen = f", {how.chosen}" if how else ""
    divided = f", per size {model.per_size_}" if hasattr(model, "per_size_") else ""
    print(f"{name}, {at}, {part}, {method}: {np.mean(values):.4f}, {seconds:.1f} s{chosen}{divided}", flush=True)
    kind = "summaries" if name in SUMMARIES else "passages"
    labels = {"set": f"{kind}, {name}", "train": "1.0", "seconds": seconds}
    return rows(method, at, test.problem_ids, values.tolist(), labels)


def main() -> None:
    """Runs all sets and writes the figures, or runs those named and shows them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.budgets")
    parser.add_argument("--only", default="", help="sets with this text in their name; nothing is written")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with processes(options.workers) as pool:
        some = [task for task in tasks() if options.only in task[0]]
        values = pd.DataFrame([row for part in pool.map(values_of, *zip(*some, strict=True)) for row in part])
    tables = {ours: cells(values, ours).round(4) for ours in (AUTO, FAST)}
    rivals = [method for method in METHODS if method not in (AUTO, FAST)]
    print(tables[AUTO].to_string())
    if not options.only:
        lost = {ours: behind(table, rivals, surely=True).to_dict("records") for ours, table in tables.items()}
        seconds = values.groupby(["set", "method"], sort=False).seconds.median().round(1).unstack("set")
        record = {
            "day": datetime.now(UTC).date().isoformat(),
            "problems": values.groupby("set", sort=False).problem.nunique().to_dict(),
            "figures": tables[AUTO].drop(columns="train").to_dict("records"),
            "behind": lost,
            "seconds": seconds.to_dict("index"),
        }
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        results_page.main()


if __name__ == "__main__":
    main()
