"""Boosted trees with and without LightGBM."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from listwright.learners.boosting import Boosting
from listwright.storage.boosters import Boosted


@pytest.mark.parametrize("n_rows", [12, 400])
def test_without_lightgbm_the_trees_are_those_of_scikit_learn(monkeypatch: pytest.MonkeyPatch, n_rows: int) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    rng = np.random.default_rng(0)
    table = rng.normal(size=(n_rows, 5))
    target = table[:, 0] - 2 * table[:, 3] ** 2 + 7.0
    learner = Boosting(n_trees=30)
    expected = learner._make_estimator("LGBMRegressor", 0).fit(table, target).predict(table)
    found = learner.fit(table, target)
    assert isinstance(found.model_, Boosted)
    np.testing.assert_allclose(found.predict(table), expected, rtol=1e-12)
    corrected = Boosting(n_trees=30, start=found.parts).fit(table, target)
    assert np.abs(corrected.predict(table) - target).mean() <= np.abs(expected - target).mean() + 1e-9
