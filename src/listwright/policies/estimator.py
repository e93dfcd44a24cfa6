"""Any fitted scikit-learn style estimator as a policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.saved import saved_as
from listwright.features import Rows
from listwright.policies.base import Policy


@saved_as("policies.Estimator")
@dataclass(frozen=True, eq=False)
class Estimator(Policy):
    """score = the estimator's prediction (of a classifier: the probability of its highest class, or its margin)."""

    estimator: Any

    def score(self, rows: Rows) -> Floats:
        """One prediction a row."""
        table = rows.written_out()
        if hasattr(self.estimator, "predict_proba"):
            return np.asarray(self.estimator.predict_proba(table)[:, -1], dtype=np.float64)
        if hasattr(self.estimator, "decision_function"):
            return np.asarray(self.estimator.decision_function(table), dtype=np.float64)
        return np.asarray(self.estimator.predict(table), dtype=np.float64)
