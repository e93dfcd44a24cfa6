"""Estimators of LightGBM and XGBoost, which are optional and may be installed but broken."""

from __future__ import annotations

from typing import Any

import pytest


def library(name: str) -> Any:
    """The library of that name; the test is skipped where it cannot be imported, for whatever reason."""
    return pytest.importorskip(name, exc_type=Exception)


def booster(kind: str, **options: Any) -> Any:
    """A quiet estimator in one thread, such as `booster("LGBMRegressor", n_estimators=4)`."""
    if kind.startswith("XGB"):
        return getattr(library("xgboost"), kind)(n_jobs=1, verbosity=0, **options)
    return getattr(library("lightgbm"), kind)(n_jobs=1, verbose=-1, **options)
