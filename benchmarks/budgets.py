"""Summaries and passages under a budget: run `python -m benchmarks.budgets`.

Sentences under a limit of bytes, worth ROUGE-1 recall, and paragraphs under a limit of tokens, worth the share of the
supporting ones. Every method is fitted for the budget that it is tested at: scisumm has its own test papers, the others
are tested in five folds. Items do not recur, so static lists and forest cover do not apply. Writes
benchmarks/budgets.json and the section of docs/results.md.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

import listwright as lw
from benchmarks import results_page
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


def tasks() -> Iterator[tuple[str, str, float, list[Part]]]:
    """By data set and budget: its name, the budget in words, what sizes may sum to, and the parts."""
    for name in ("scisumm", "opinosis"):
        clusters = read_clusters(fetch(name), need_references=True)
        problems, budget = summary_problems(clusters, need_references=True), usual_budget(clusters)
        parts = [(problems[train], problems[test]) for train, test in splits(clusters)]
        yield f"summaries, {name}", str(budget), size_limit(budget), parts
    for name, budgets in TOKENS.items():
        problems = read_questions(fetch("multihop_qa") / f"{name}.jsonl.gz")
        folds = fold_numbers(FOLDS, len(problems), 0)
        parts = [(problems[folds != fold], problems[folds == fold]) for fold in range(FOLDS)]
        for tokens in budgets:
            yield f"passages, {name}", f"{tokens} tokens", tokens, parts


def values_of(name: str, at: str, limit: float, parts: list[Part]) -> list[dict[str, Any]]:
    """One record per test problem and method: what its list is worth, and the processor time of the fit."""
    records = []
    for train, test in parts:
        for method, model in METHODS.items():
            began = time.process_time()
            model = clone(model).set_params(budget=limit).fit(train)
            labels = {"set": name, "train": "1.0", "seconds": time.process_time() - began}
            values = list_values(model.predict(test.without_reward(), budget=limit), test)
            records += rows(method, at, test.problem_ids, values.tolist(), labels)
            how = getattr(model, "report_", None) if method == AUTO else None
            chosen = f", {how.chosen}" if how else ""
            divided = f", per size {model.per_size_}" if hasattr(model, "per_size_") else ""
            print(
                f"{name}, {at}, {method}: {np.mean(values):.4f}, {labels['seconds']:.1f} s{chosen}{divided}", flush=True
            )
    return records


def main() -> None:
    """Runs all sets and writes the figures, or runs those named and shows them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.budgets")
    parser.add_argument("--only", default="", help="sets with this text in their name; nothing is written")
    only = parser.parse_args().only
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        values = pd.DataFrame([row for task in tasks() if only in task[0] for row in values_of(*task)])
    tables = {ours: cells(values, ours).round(4) for ours in (AUTO, FAST)}
    rivals = [method for method in METHODS if method not in (AUTO, FAST)]
    print(tables[AUTO].to_string())
    if not only:
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
