"""Solver schedules as lists under a budget: run `python -m benchmarks.schedules`.

Candidates are time slices of solvers, their size is the slice, the budget is the scenario's time limit, and a list is
worth 1 if one of its slices solves the instance. Figures are closed gaps: 0 is the single best solver of the training
part with all the time, 1 the best possible. The scenarios are six of those that settings are chosen on
(aslib_dev), with their official folds. Writes benchmarks/schedules.json and the section of docs/results.md.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor

import listwright as lw
from benchmarks import results_page
from benchmarks.quality.jobs import processes
from benchmarks.quality.protocol import folder
from listwright.baselines import ForestCover, StaticList, TopK
from listwright.errors import Notice

RESULTS = Path(__file__).with_suffix(".json")
SHARES = (0.01, 0.03, 0.1, 0.3, 1.0)  # of the time limit: the slices of each solver
FOLDS = tuple(range(1, 11))
TOO_MANY = "SAT15-INDU"  # 28 solvers: minutes a fold
FOREST = RandomForestRegressor(50, min_samples_leaf=2, max_features=0.5, random_state=0)  # one for each slice
METHODS: dict[str, Any] = {
    "SCP": lw.SCP(random_state=0),
    "SCP fast": lw.SCP(effort="fast", random_state=0),
    "forest cover": ForestCover(random_state=0),
    "random forests, sorted": TopK(FOREST),
    "static": StaticList(),
}


def schedule_frame(scenario: Path) -> tuple[pd.DataFrame, float]:
    """A row per instance that can be solved, solver and slice, with the instance's features and fold; the limit."""
    runs = pd.read_parquet(scenario / "runs.parquet").astype({"instance_id": str, "algorithm": str})
    instances = pd.read_parquet(scenario / "instances.parquet").astype({"instance_id": str})
    limit = float(np.ceil(runs.runtime[runs.solved].max() / 100.0) * 100.0)
    runs = runs[runs.instance_id.isin(runs.instance_id[runs.solved])].drop_duplicates(["instance_id", "algorithm"])
    slices = [
        runs[["instance_id"]].assign(
            slice=runs.algorithm + f" for {share:g}",
            solver=runs.algorithm,
            size=share * limit,
            solves=(runs.solved & (runs.runtime <= share * limit)).astype(int),
        )
        for share in SHARES
    ]
    return pd.concat(slices).merge(instances, on="instance_id"), limit


def closed_gap(scenario: Path, name: str, fold: int) -> dict[str, Any]:
    """The closed gap of a method in one fold, and the processor time of the fit."""
    table, limit = schedule_frame(scenario)
    options: dict[str, Any] = {"problem": "instance_id", "item": "slice", "alternatives": "solver"}
    train, test = (table[chosen].drop(columns="fold") for chosen in (table.fold != fold, table.fold == fold))
    single = train[train["size"] == limit].groupby("solver").solves.mean().idxmax()
    level = test[(test["size"] == limit) & (test.solver == single)].solves.mean()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        began = time.process_time()
        model = clone(METHODS[name]).set_params(budget=limit).fit(train, reward="any:solves", **options)
        seconds = time.process_time() - began
        value = model.score(test)
    gap = (value - level) / (1.0 - level) if level < 1.0 else 0.0
    how = getattr(model, "report_", None) if name == "SCP" else None
    print(f"{scenario.name} {fold} {name}: {gap:.3f}, {seconds:.1f} s, {how.chosen if how else ''}", flush=True)
    return {"set": scenario.name, "fold": fold, "method": name, "gap": float(gap), "seconds": seconds}


def main() -> None:
    """Runs all scenarios and writes the figures, or runs those named and shows them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.schedules")
    parser.add_argument("--only", default="", help="scenarios with this text in their name; nothing is written")
    parser.add_argument("--folds", type=int, nargs="+", default=FOLDS, help="of the official ten")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    every = sorted(path for path in folder("aslib_dev", "choose").iterdir() if path.is_dir())
    scenarios = [path for path in every if path.name != TOO_MANY and options.only in path.name]
    with processes(options.workers) as pool:
        tasks = zip(*product(scenarios, METHODS, options.folds), strict=True)
        gaps = pd.DataFrame(list(pool.map(closed_gap, *tasks)))
    means = gaps.pivot_table(index="set", columns="method", values="gap", sort=False)
    means.loc["mean"] = means.mean()
    table = means.round(4).to_dict("index")
    print(means.round(3).to_string())
    if not options.only:
        seconds = gaps.groupby("method", sort=False).seconds.median().round(1).to_dict()
        record = {"day": datetime.now(UTC).date().isoformat(), "gaps": table, "seconds": seconds}
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        results_page.main()


if __name__ == "__main__":
    main()
