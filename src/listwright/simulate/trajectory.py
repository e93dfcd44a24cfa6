"""Robot-arm data: which of thirty seed trajectories leads a local optimiser to a collision-free path?

The experiment (a) of the paper, simulated: a 7-joint arm (Barrett WAM) moves among random obstacles, and a CHOMP-like
optimiser starts from each seed, which succeeds if the optimised path is free of collision. Features describe a seed
before the optimiser runs. `benchmarks/paper/arm.py` of the repository writes the shipped file anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from listwright._internal.arrays import Bools, Floats, Floats32, Ints, starts_of
from listwright.problems import Problems
from listwright.rewards import AnySuccess
from listwright.simulate._arm import RADII, body_points, optimise, path_frames

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


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Seeds, features and outcomes of a number of environments."""

    features: Floats32  # (environments, 30, 17), named by `feature_names`
    success: Bools  # (environments, 30), whether a seed ends free of collision
    obstacles: Floats32  # (all obstacles, 9); see `environment`
    obstacle_offsets: Ints  # where each environment's obstacles start, and the end of the last
    seeds: Floats32  # (30, waypoints, 7), joint angles
    feature_names: tuple[str, ...] = FEATURE_NAMES

    def __len__(self) -> int:
        return len(self.success)

    def environment(self, index: int) -> Floats32:
        return self.obstacles[self.obstacle_offsets[index] : self.obstacle_offsets[index + 1]]

    def optimise(self, index: int, seed: int) -> Floats:
        """Return the path, shape (waypoints, 7), that the optimiser makes of a seed in an environment."""
        path: Floats = optimise(self.seeds[seed].astype(np.float64), self.environment(index).astype(np.float64))
        return path


def body(path: Floats | Floats32) -> Floats:
    """Spheres that cover the arm along a path, (waypoints, 12, 4): centre x, y, z and radius."""
    points = body_points(path_frames(np.ascontiguousarray(path, dtype=np.float64)))
    radii = np.broadcast_to(RADII[:, None], (*points.shape[:2], 1))
    return np.concatenate([points, radii], axis=2)


def load() -> Trajectories:
    """Return the shipped data."""
    shipped = files("listwright.simulate") / "data" / "trajectory.npz"
    with shipped.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        return Trajectories(
            features=arrays["features"],
            success=np.unpackbits(arrays["success"], axis=1, count=SEEDS).astype(np.bool_),
            obstacles=arrays["obstacles"],
            obstacle_offsets=starts_of(arrays["obstacle_counts"].astype(np.int64)),
            seeds=arrays["seeds"],
        )


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
    data = load()
    return _as_problems(data, 0, N_TRAIN), _as_problems(data, N_TRAIN, N_TRAIN + N_TEST)


def _as_problems(data: Trajectories, start: int, stop: int) -> Problems:
    return Problems.from_arrays(
        data.features[start:stop],
        catalogue=np.arange(SEEDS),
        reward=AnySuccess(data.success[start:stop]),
        problem_ids=[f"environment {i}" for i in range(start, stop)],
        item_ids=[f"seed {i}" for i in range(SEEDS)],
        feature_names=data.feature_names,
    )
