"""From values of single lists to means, paired differences and ratios of failures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from listwright.evaluation.intervals import SHARES, means_from_moments

OURS = "SCP best"
WITHIN = 1.96  # standard errors of a mean over sets, each of many problems


def means(values: pd.DataFrame) -> list[dict[str, Any]]:
    """Mean value by set, training size, length and method, with a 95 % interval over problems."""
    by_problem = _by_problem(values).reset_index()
    grouped = by_problem.groupby(["set", "train", "at", "method"], sort=False)["value"]
    table = grouped.agg(["mean", "count", "var"]).reset_index()
    found = [_interval(*one, SHARES) for one in table[["mean", "var", "count"]].itertuples(index=False)]
    return (
        table.drop(columns="var")
        .assign(low=[low for low, _ in found], high=[high for _, high in found])
        .to_dict("records")
    )


def differences(values: pd.DataFrame, ours: str = OURS) -> list[dict[str, Any]]:
    """How far ours is ahead of each other method, problem by problem: mean difference and its 95 % interval."""
    wide = _by_problem(values).unstack("method")["value"]
    found = []
    for method in wide.columns.drop(ours):
        gap = (wide[ours] - wide[method]).dropna()
        for (name, train, at), part in gap.groupby(["set", "train", "at"], sort=False):
            mean = part.mean()
            low, high = _interval(mean, part.var(ddof=1), len(part), (-1.0, 1.0))
            found.append(
                {"set": name, "train": train, "at": at, "method": method, "ours": ours}
                | {"ahead": mean, "low": low, "high": high, "count": len(part)}
            )
    return found


def failure_gaps(values: pd.DataFrame, ours: str = OURS) -> pd.DataFrame:
    """By method: how much more it fails than ours, sets counting alike, with a 95 % interval over the test problems.

    A problem's lists (lengths, training sizes) are averaged first: they fail together.
    """
    by_problem = values.groupby(["method", "set", "problem"])["value"].mean().unstack("method")
    gaps = by_problem.rsub(by_problem[ours], axis=0).groupby("set").agg(["mean", "sem"])
    mean, error = (gaps.xs(what, axis=1, level=1) for what in ("mean", "sem"))
    half = WITHIN * np.sqrt((error**2).sum()) / len(gaps)
    return pd.DataFrame({"more": mean.mean(), "low": mean.mean() - half, "high": mean.mean() + half})


def failure_ratios(values: pd.DataFrame, ours: str = OURS) -> pd.DataFrame:
    """Mean failure of each method over sets, training sizes and lengths alike, and its ratio to ours."""
    by_set = 1.0 - values.groupby(["method", "set", "train", "at"])["value"].mean()
    failure = by_set.groupby("method").mean().sort_values()
    return pd.DataFrame({"failure": failure, "ratio": failure / failure[ours]})


def _by_problem(values: pd.DataFrame) -> pd.DataFrame:
    """Repetitions of a problem (seeds) are averaged first, so that intervals are over problems."""
    return values.groupby(["set", "train", "at", "problem", "method"], sort=False)[["value"]].mean()


def _interval(mean: float, variance: float, n: int, bounds: tuple[float, float]) -> tuple[float, float]:
    found = means_from_moments(mean, variance, int(n), bounds=bounds)
    return float(found.low), float(found.high)
