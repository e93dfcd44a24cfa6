"""Forests scored in one go give scikit-learn's own numbers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestRegressor

from listwright.features import Rows
from listwright.policies import Estimator
from listwright.policies.estimator import as_forest


def data(outputs=1):
    rng = np.random.default_rng(0)
    table = rng.random((300, 6)).astype(np.float32)
    target = table[:, :outputs] * table[:, 1:2] + 0.1 * rng.random((300, outputs))
    return table, target[:, 0] if outputs == 1 else target


def rows_of(table):
    return Rows(table, np.zeros(len(table), dtype=np.int64), np.array([0, len(table)]))


@pytest.mark.parametrize("kind", [ExtraTreesRegressor, RandomForestRegressor])
@pytest.mark.parametrize("least", [1, 3, 300])  # trees down to single rows, and trees of one leaf
def test_the_numbers_are_those_of_scikit_learn(kind, least):
    table, target = data()
    model = kind(20, min_samples_leaf=least, random_state=0).fit(table, target)
    new = np.random.default_rng(1).random((50, 6)).astype(np.float32)
    np.testing.assert_array_equal(as_forest(model).predict(new), model.predict(new))
    np.testing.assert_array_equal(Estimator(model).score(rows_of(new)), model.predict(new))


def test_other_estimators_are_asked_themselves():
    table, target = data(2)
    assert as_forest(ExtraTreesRegressor(3, random_state=0).fit(table, target)) is None
    classifier = ExtraTreesClassifier(3, random_state=0).fit(table, target[:, 0] > 0.3)
    assert as_forest(classifier) is None
    np.testing.assert_array_equal(Estimator(classifier).score(rows_of(table)), classifier.predict_proba(table)[:, 1])
