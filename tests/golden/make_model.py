"""Writes the model files of tests/golden, and the lists that they must give: once for each format version.

Run from the root of the repository: python tests/golden/make_model.py
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from sklearn.tree import DecisionTreeRegressor

import listwright as lw
from listwright.storage import save

HERE = Path(__file__).parent


def problems() -> lw.Problems:
    """Forty problems of six candidates, of numbers that no random generator has a part in."""
    x = np.sin(np.arange(40 * 6 * 3, dtype=np.float64) * 1.7).reshape(40, 6, 3)
    success = (x[..., 0] + 0.5 * x[..., 1] > 0.6).astype(float)
    return lw.Problems.from_arrays(
        x, reward=lw.rewards.AnySuccess(success), catalogue=np.arange(6), feature_names=["a", "b", "c"]
    )


def models() -> dict[str, lw.SCP]:
    """One model with sums, one with a scikit-learn estimator inside."""
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    return {
        "ridge": lw.SCP(length=3, n_passes=2, effort="fast", random_state=0),
        "tree": lw.SCP(length=3, n_passes=1, batch_size=20, learner=tree, random_state=0),
    }


if __name__ == "__main__":
    lists = {}
    for name, model in models().items():
        save(model.fit(problems()), HERE / f"{name}_v1.listwright")
        lists[name] = model.predict(problems()).rows.tolist()
    (HERE / "lists_v1.json").write_text(json.dumps(lists) + "\n")
