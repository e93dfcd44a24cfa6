"""From values of single lists to means and paired differences.

Repetitions of a problem (seeds, training sizes, lengths) are averaged first, so that intervals are over problems; sets
(scenarios) of a family count alike, whatever their size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.quality.methods import AUTO

WITHIN = 1.96  # standard errors
FAILURES = ("solvers", "robot arm", "motion paths")  # where what is left to 1 is how often lists fail
OBVIOUS = ("best column", "MMR", "ridge top-k", "extra-trees top-k", "boosting top-k", "static")


def one_figure(values: pd.DataFrame, ours: str) -> pd.DataFrame:
    """By method: its mean value over a whole family, and how far ours is ahead, with a 95 % interval."""
    return _paired(values, ours).sort_values("mean", ascending=False)


def by_length(values: pd.DataFrame, ours: str) -> pd.DataFrame:
    """The same for each length or budget: columns at, method, mean, ahead, low, high."""
    parts = [_paired(part, ours).reset_index().assign(at=at) for at, part in values.groupby("at", sort=False)]
    return pd.concat(parts, ignore_index=True)


def cells(values: pd.DataFrame, ours: str) -> pd.DataFrame:
    """The same for each set, training size and length."""
    keys = ["set", "train", "at"]
    parts = []
    for key, part in values.groupby(keys, sort=False):
        parts.append(_paired(part, ours).reset_index().assign(**dict(zip(keys, key, strict=True))))
    return pd.concat(parts, ignore_index=True)


def behind(table: pd.DataFrame, rivals: list[str] | None = None, *, surely: bool = False) -> pd.DataFrame:
    """The rows in which a rival is ahead of ours: its mean, or (surely) the whole interval."""
    lost = table["high"] < 0 if surely else table["ahead"] < -1e-12
    return table[lost & (True if rivals is None else table["method"].isin(rivals))].sort_values("ahead")


def _paired(values: pd.DataFrame, ours: str) -> pd.DataFrame:
    by_problem = values.groupby(["method", "set", "problem"], sort=False)["value"].mean().unstack("method")
    gaps = by_problem.rsub(by_problem[ours], axis=0).groupby("set").agg(["mean", "sem"])
    mean, error = gaps.xs("mean", axis=1, level=1).mean(), gaps.xs("sem", axis=1, level=1)
    half = WITHIN * np.sqrt((error**2).sum()) / len(gaps)
    level = by_problem.groupby("set").mean().mean()
    return pd.DataFrame({"mean": level, "ahead": mean, "low": mean - half, "high": mean + half})


def family_record(family: str, values: pd.DataFrame) -> dict[str, Any]:
    """All that results.json holds of a family."""
    record: dict[str, Any] = {
        "figure": one_figure(values, AUTO).round(5).to_dict("index"),
        "by length": by_length(values, AUTO).round(5).to_dict("records"),
        "sets": int(values["set"].nunique()),
        "problems": int(values.groupby("set")["problem"].nunique().sum()),
        "seeds": int(values["seed"].nunique()),
    }
    if family in FAILURES and values["train"].nunique() > 1:
        left = {size: 1.0 - one_figure(part, AUTO)["mean"] for size, part in values.groupby("train", sort=False)}
        record["failures by training size"] = {
            name: {size: round(failures[name] / failures[AUTO], 2) for size, failures in left.items()}
            for name in record["figure"]
        }
    return record | {"behind": behind_rivals(values)}


def behind_rivals(values: pd.DataFrame) -> list[str]:
    """Where the promises are not kept, in sentences."""
    rivals = [name for name in values["method"].unique() if name not in ("oracle", AUTO)]
    pooled = behind(by_length(values, AUTO), rivals)
    surely = behind(by_length(values, AUTO), [name for name in OBVIOUS if name in rivals], surely=True)
    everywhere = behind(cells(values, AUTO), [name for name in OBVIOUS if name in rivals], surely=True)
    return [
        _sentence(f"Lengths at which the mean of a rival is above that of {AUTO}", pooled, ["at", "method"]),
        _sentence(
            f"Lengths at which {AUTO} is behind an obvious rival by more than the interval", surely, ["at", "method"]
        ),
        _sentence(f"The same by set and training size, {AUTO}", everywhere, ["set", "train", "at", "method"]),
    ]


def _sentence(what: str, lost: pd.DataFrame, keys: list[str]) -> str:
    if not len(lost):
        return f"{what}: none."
    cells = [f"{', '.join(str(row[key]) for key in keys)} {_gap(row)}" for _, row in lost.iterrows()]
    return f"{what}: {'; '.join(cells)}."


def _gap(row: pd.Series) -> str:
    return f"({row.ahead:+.4f}: {row.low:+.4f} to {row.high:+.4f})"
