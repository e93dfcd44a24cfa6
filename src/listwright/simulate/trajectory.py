"""Robot-arm data: which of thirty seed trajectories leads a local optimiser to a collision-free path?

The experiment (a) of the paper, simulated: a 7-joint arm (Barrett WAM) moves among random obstacles, and a CHOMP-like
optimiser starts from each seed, which succeeds if the optimised path is free of collision. Features describe a seed
before the optimiser runs. `python -m benchmarks.paper.arm` writes the shipped file anew.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from listwright.problems import Problems
from listwright.rewards import AnySuccess

SEEDS = 30
N_TRAIN = 310
N_TEST = 212
FEATURE_NAMES = (
    "hits",  # share of waypoints in collision
    "arm_hits",  # share of upper arm and forearm, over all waypoints, in collision
    *(f"bend_{joint}" for joint in range(1, 8)),  # how the seed bends away from the straight line; 0.5 is not at all
    "hand_hits",  # share of the hand, over all waypoints, in collision
    "worst_hit",  # share of the body in collision at the worst waypoint
    "agreement",  # whether obstacles push the path one way (1) or against each other (0)
    "upper_far",  # share of each quarter of the gate between start and goal that obstacles fill
    "upper_near",
    "lower_far",
    "lower_near",
    "arm_free",  # 1 if upper arm and forearm are never in collision
)


def read_arrays() -> dict[str, NDArray[Any]]:
    """Return the arrays of the shipped file; outcomes are packed into bits."""
    shipped = files("listwright.simulate") / "data" / "trajectory.npz"
    with shipped.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        return dict(arrays)


def problems() -> tuple[Problems, Problems]:
    """Return the shipped data as problems: 310 for training, 212 for testing, each with thirty candidates.

    Use it to try list learning on data of real difficulty without any download: the seeds are a fixed catalogue, and
    those of a family often fail together.

    Returns
    -------
    (Problems, Problems)
        Training and test problems, with the reward `AnySuccess`.

    See Also
    --------
    listwright.datasets.read_trajectory : The paper's own data.

    Examples
    --------
    >>> train, test = problems()
    >>> len(train), len(test), train.n_features
    (310, 212, 17)
    """
    arrays = read_arrays()
    success = np.unpackbits(arrays["success"], axis=1, count=SEEDS).astype(np.bool_)
    parts = (0, N_TRAIN), (N_TRAIN, N_TRAIN + N_TEST)
    train, test = (
        Problems.from_arrays(
            arrays["features"][start:stop],
            catalogue=np.arange(SEEDS),
            reward=AnySuccess(success[start:stop]),
            problem_ids=[f"environment {i}" for i in range(start, stop)],
            item_ids=[f"seed {i}" for i in range(SEEDS)],
            feature_names=FEATURE_NAMES,
        )
        for start, stop in parts
    )
    return train, test
