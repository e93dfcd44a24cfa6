"""Robot-arm data: which of thirty seed trajectories leads a local optimiser to a collision-free path?

The experiment (a) of the paper, simulated: a 7-joint arm (Barrett WAM) moves between two fixed configurations among
random obstacles; a CHOMP-like optimiser starts from each of thirty seeds, the same in every environment. A seed
succeeds if the optimised path is free of collision. Seventeen features describe a seed among the obstacles before
the optimiser runs. Environments in which no seed succeeds are left out.

The shipped file has 310 training and 212 test environments. `python -m listwright.simulate.trajectory` writes it
anew.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from listwright._internal.arrays import Bools, Floats, Floats32, Ints, starts_of
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import AnySuccess
from listwright.simulate._arm import (
    FEATURE_NAMES,
    RADII,
    SEEDS,
    body_points,
    optimise,
    outcomes,
    path_frames,
    random_obstacles,
    seed_features,
    seed_paths,
)

N_TRAIN = 310
N_TEST = 212


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


def generate(n_environments: int = N_TRAIN + N_TEST, *, seed: int = 0) -> Trajectories:
    if n_environments < 1:
        raise InputError(f"n_environments must be at least 1. Got {n_environments}.")
    with ThreadPoolExecutor() as pool:
        made = list(pool.map(partial(_simulate, seed), range(n_environments)))
    obstacles, success, features = zip(*made, strict=True)
    return Trajectories(
        features=np.stack(features).astype(np.float32),
        success=np.stack(success),
        obstacles=np.concatenate(obstacles).astype(np.float32),
        obstacle_offsets=starts_of([len(rows) for rows in obstacles]),
        seeds=seed_paths().astype(np.float32),
    )


def load() -> Trajectories:
    """Return the shipped data, which is `generate()` read from a file."""
    shipped = files("listwright.simulate") / "data" / "trajectory.npz"
    with shipped.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        return _unpack(dict(arrays))


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


def write(path: Path) -> Trajectories:
    """Generate the shipped data and write it to a file, with the same bytes each time."""
    data = generate()
    with path.open("wb") as stream:
        np.savez_compressed(stream, **_pack(data))
    return data


def _simulate(seed: int, index: int) -> tuple[Floats, Bools, Floats]:
    rng = np.random.default_rng([seed, index])
    while True:
        obstacles = random_obstacles(rng)
        success = outcomes(seed_paths(), obstacles)
        if success.any():
            return obstacles, success, seed_features(obstacles)


def _as_problems(data: Trajectories, start: int, stop: int) -> Problems:
    return Problems.from_arrays(
        data.features[start:stop],
        catalogue=np.arange(SEEDS),
        reward=AnySuccess(data.success[start:stop]),
        problem_ids=[f"environment {i}" for i in range(start, stop)],
        item_ids=[f"seed {i}" for i in range(SEEDS)],
        feature_names=data.feature_names,
    )


def _pack(data: Trajectories) -> dict[str, Any]:
    """Return the arrays of the file; outcomes are packed into bits."""
    return {
        "features": data.features,
        "success": np.packbits(data.success, axis=1),
        "obstacles": data.obstacles,
        "obstacle_counts": np.diff(data.obstacle_offsets).astype(np.uint8),
        "seeds": data.seeds,
    }


def _unpack(arrays: dict[str, Any]) -> Trajectories:
    return Trajectories(
        features=arrays["features"],
        success=np.unpackbits(arrays["success"], axis=1, count=SEEDS).astype(np.bool_),
        obstacles=arrays["obstacles"],
        obstacle_offsets=starts_of(arrays["obstacle_counts"].astype(np.int64)),
        seeds=arrays["seeds"],
    )


if __name__ == "__main__":
    written = write(Path(__file__).parent / "data" / "trajectory.npz")
    print(f"{len(written)} environments, mean success {written.success.mean():.3f}")
