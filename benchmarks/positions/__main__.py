"""Why ConSeqOpt leads at lengths 2 to 4 with the paper's features: `python -m benchmarks.positions FOLDER`.

FOLDER holds scp_trajectory.npz. Everything is cross-validated in five folds of the training environments; the test
environments are not read. Prints failure in per cent: by number of training environments, for other settings of both
methods, and for two policies that can tell the first position from the others. docs/algorithm.md quotes the figures.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

import listwright as lw
from listwright.datasets import read_trajectory
from listwright.errors import DataWarning
from listwright.features.auto import paper_features
from listwright.learners import RidgeFTRL

LENGTHS = (1, 2, 3, 4, 5, 8)
SIZES = (20, 40, 80, 160)
SEEDS = 3
SETTINGS: dict[str, dict[str, Any]] = {
    "as they are": {},
    "ten passes": {"n_passes": 10},
    "uncentred regression": {"learner": RidgeFTRL(center=False)},
    "solved states learned from": {"skip_saturated": False},
    "hinge ranking": {"learner": "hinge_rank"},
}


def scp(**settings: Any) -> lw.SCP:
    """SCP with the paper's features, and other settings."""
    return lw.SCP(**{"features": paper_features(), "effort": "fast", "n_passes": 3} | settings)


def conseqopt(**settings: Any) -> lw.ConSeqOpt:
    """ConSeqOpt with the paper's features, and other settings."""
    return lw.ConSeqOpt(**{"features": paper_features(), "n_passes": 3, "weighting": "uniform"} | settings)


def crossed() -> lw.SCP:
    """SCP that also sees a candidate's own features crossed with the first position."""
    return scp(features=paper_features() + lw.features.FirstPosition())


def show(title: str, methods: Mapping[str, Any], train: lw.Problems, sizes: Sequence[int] | None = None) -> None:
    """Prints the failure of each method by length; SCP is fitted for each length."""
    print(f"\n{title}\n{'':32}{''.join(f'{length:>7}' for length in LENGTHS)}   mean    2-4")
    for name, method in methods.items():
        refit = isinstance(method, lw.SCP)
        comparison = lw.compare(
            {name: method}, train, folds=5, lengths=LENGTHS, train_sizes=sizes, seeds=SEEDS, refit_lengths=refit
        )
        failure = 100 * np.asarray(comparison.table()["failure"])
        means = f"{failure.mean():7.1f}{failure[1:4].mean():7.1f}"
        print(f"{name:32}{''.join(f'{share:7.1f}' for share in failure)}{means}", flush=True)


def main(data: str = "scp_trajectory") -> None:
    """Prints all tables."""
    warnings.simplefilter("ignore", DataWarning)
    train, _ = read_trajectory(data)
    for size in SIZES:
        rivals = {"SCP": scp(), "ConSeqOpt": conseqopt(), "SCP, first position crossed": crossed()}
        show(f"{size} training environments", rivals, train, [size])
    for title, settings in SETTINGS.items():
        show(title, {"SCP": scp(**settings), "ConSeqOpt": conseqopt(**settings)}, train)
    tree = DecisionTreeRegressor(max_depth=4, min_samples_leaf=20, random_state=0)
    show("one policy that tells positions apart", {"first crossed": crossed(), "tree": scp(learner=tree)}, train)


if __name__ == "__main__":
    main(*sys.argv[1:2])
