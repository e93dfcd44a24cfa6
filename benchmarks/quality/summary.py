"""From values of single lists to means and paired differences.

Repetitions of a problem (seeds, training sizes, lengths) are averaged first, so that intervals are over problems; sets
(scenarios) of a family count alike, whatever their size.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

WITHIN = 1.96  # standard errors


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
