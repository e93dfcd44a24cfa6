"""`python -m benchmarks.paper.arm`: writes the shipped data of the simulated arm anew.

Seeds are bent paths from the start to the goal; obstacles are spheres and boxes. A seed succeeds if the optimiser of
`chomp.py` makes a path of it that is free of collision.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

import listwright
from benchmarks.paper.chomp import (
    ARM_SPHERES,
    JOINTS,
    LOWER,
    UPPER,
    Trajectories,
    body_points,
    clearances,
    nearest,
    obstacle_forces,
    optimise,
    path_frames,
    straight,
)
from listwright._internal.arrays import Bools, Floats, Ints, starts_of
from listwright.errors import InputError
from listwright.simulate.trajectory import N_TEST, N_TRAIN, SEEDS

FAMILIES = 15  # seeds come in pairs: a path, and one not far from it
WAYPOINTS = 25

START: Floats = np.array([-0.9, 0.9, 0.0, 1.4, 0.0, 0.5, 0.0])
GOAL: Floats = np.array([0.9, 1.05, 0.0, 1.2, 0.0, 0.6, 0.0])
REACH: Floats = np.array([0.3, 0.8, 1.0, 1.1, 0.8, 0.6, 1.2])  # how far a seed bends away from the straight line
JITTER = 0.25  # how far the second path of a family is from the first, as a share of REACH

LOW: Floats = np.array([0.15, -0.25, -0.5])  # the corners of the box in which obstacles have their centres
HIGH: Floats = np.array([1.0, 0.3, 0.8])
COUNT = (9, 11)  # fewest and most obstacles
ROOM = 0.03  # how far obstacles keep from the arm at its start and goal
SPHERES_SHARE = 0.4


@cache
def target() -> Floats:
    """Return where the finger tips are at the goal."""
    hand: Floats = path_frames(GOAL[None])[0, JOINTS]
    return hand[:, 3] + 0.16 * hand[:, 2]


@cache
def seed_shifts() -> Floats:
    """Return how far each seed is from the straight line half way, joint by joint, shape (30, 7)."""
    # The first of each family are spread out by farthest-point selection among 3000 random bends; the second is the
    # first with some jitter, so that the two often fail together.
    rng = np.random.default_rng(1)
    bends = np.concatenate([np.zeros((1, JOINTS)), rng.uniform(-REACH, REACH, (3000, JOINTS))])
    shifts = np.repeat(bends[_spread_out(_within_limits(bends), FAMILIES)], SEEDS // FAMILIES, axis=0)
    jitter = rng.uniform(-JITTER, JITTER, (FAMILIES, JOINTS)) * REACH
    shifts[1 :: SEEDS // FAMILIES] += jitter
    return _within_limits(np.clip(shifts, -REACH, REACH)) - 0.5 * (START + GOAL)


@cache
def seed_paths() -> Floats:
    """Return the thirty seed paths, shape (30, waypoints, 7): the straight line, bent by half a sine wave."""
    wave = np.sin(np.pi * np.linspace(0.0, 1.0, WAYPOINTS))
    wave[-1] = 0.0
    return _as_stored(straight(START, GOAL, WAYPOINTS) + wave[:, None] * seed_shifts()[:, None, :])


def random_obstacles(rng: np.random.Generator) -> Floats:
    """Return 9 to 11 spheres and boxes, one row of nine numbers each, that leave the arm free at its start and goal."""
    ends = body_points(path_frames(np.stack([START, GOAL])))
    rows: list[Floats] = []
    count = rng.integers(COUNT[0], COUNT[1] + 1)
    while len(rows) < count:
        obstacle = _random_obstacle(rng.random(8))
        if clearances(ends, obstacle[None])[0].min() > ROOM:
            rows.append(obstacle)
    return np.array(rows)


def _random_obstacle(u: Floats) -> Floats:
    """Return one obstacle from eight numbers in [0, 1): place, kind, size and turn."""
    obstacle = np.zeros(9)
    obstacle[:3] = LOW + u[:3] * (HIGH - LOW)
    obstacle[6] = 1.0
    if u[3] < SPHERES_SHARE:
        obstacle[8] = 0.08 + 0.14 * u[4]
    else:
        obstacle[3:6] = 0.04 + 0.3 * u[4:7] ** 1.3
        obstacle[6:8] = np.cos(np.pi * u[7]), np.sin(np.pi * u[7])
    return _as_stored(obstacle)


def _as_stored(values: Floats) -> Floats:
    """Return the values rounded to float32, so that what a file holds is exactly what was simulated."""
    return values.astype(np.float32).astype(np.float64)


def _within_limits(bends: Floats) -> Floats:
    return np.clip(0.5 * (START + GOAL) + bends, LOWER, UPPER)


def _spread_out(configurations: Floats, count: int) -> Ints:
    """Return configurations whose body spheres are far apart: farthest-point selection from the first."""
    bodies = body_points(path_frames(configurations)).reshape(len(configurations), -1)
    chosen = [0]
    gaps = ((bodies - bodies[0]) ** 2).sum(axis=1)
    while len(chosen) < count:
        chosen.append(int(gaps.argmax()))
        gaps = np.minimum(gaps, ((bodies - bodies[chosen[-1]]) ** 2).sum(axis=1))
    return np.array(chosen)


def seed_features(obstacles: Floats) -> Floats:
    """Return the features of the thirty seeds in one environment, shape (30, 17), in the order of `FEATURE_NAMES`."""
    gaps, pushes = map(np.stack, zip(*(survey(path, obstacles) for path in seed_paths()), strict=True))
    hit, arm, hand = gaps < 0.0, gaps[:, :, :ARM_SPHERES] < 0.0, gaps[:, :, ARM_SPHERES:] < 0.0
    columns = [
        hit.any(axis=2).mean(axis=1),
        arm.mean(axis=(1, 2)),
        *(0.5 + 0.5 * seed_shifts() / REACH).T,
        hand.mean(axis=(1, 2)),
        hit.mean(axis=2).max(axis=1),
        _agreement(pushes),
        *(np.full(len(gaps), share) for share in gate_shares(obstacles)),
        ~arm.any(axis=(1, 2)),
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def gate_shares(obstacles: Floats) -> Floats:
    """Return the share of each quarter of the gate (upper far, upper near, lower far, lower near) that is filled."""
    points, quarters = _gate()
    filled = inside(points, obstacles)
    return np.array([filled[quarter].mean() for quarter in quarters])


def survey(path: Floats, obstacles: Floats) -> tuple[Floats, Floats]:
    """Return the clearance of each body sphere (waypoints, spheres), and the push on it, with a last axis of 3."""
    points = body_points(path_frames(path))
    gaps, directions = clearances(points, obstacles)
    return gaps, obstacle_forces(points, gaps, directions)


@njit(cache=True, nogil=True)
def inside(points: Floats, obstacles: Floats) -> Bools:
    out = np.empty(len(points), dtype=np.bool_)
    for i in range(len(points)):
        out[i] = nearest(points[i], obstacles)[0] < 0.0
    return out


def _agreement(pushes: Floats) -> Floats:
    """Return the length of the summed pushes divided by the sum of their lengths; 1 where nothing pushes."""
    net = np.sqrt((pushes.sum(axis=(1, 2)) ** 2).sum(axis=1))
    total = np.sqrt((pushes**2).sum(axis=3)).sum(axis=(1, 2))
    return np.divide(net, total, out=np.ones_like(net), where=total > 0.0)


@cache
def _gate() -> tuple[Floats, Bools]:
    """Return a grid of points in the box of obstacle centres, and which of them lie in each quarter (4, points)."""
    axes = [np.linspace(low, high, steps) for low, high, steps in zip(LOW, HIGH, (12, 8, 16), strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    upper, far = points[:, 2] > 0.2, points[:, 0] > 0.55
    return points, np.array([upper & far, upper & ~far, ~upper & far, ~upper & ~far])


@njit(cache=True, nogil=True)
def outcomes(seeds: Floats, obstacles: Floats) -> Bools:
    """Return, for each seed path, whether the optimiser ends free of collision."""
    out = np.empty(len(seeds), dtype=np.bool_)
    for i in range(len(seeds)):
        out[i] = is_free(optimise(seeds[i], obstacles), obstacles)
    return out


@njit(cache=True, nogil=True)
def is_free(path: Floats, obstacles: Floats) -> bool:
    """Return whether no body sphere touches an obstacle, at the waypoints and half way between them."""
    gaps, _ = clearances(body_points(path_frames(halve(path))), obstacles)
    return bool(gaps.min() > 0.0)


@njit(cache=True, nogil=True)
def halve(path: Floats) -> Floats:
    """Return the same path with twice as many steps, by linear interpolation."""
    out = np.empty((2 * len(path) - 1, JOINTS))
    for t in range(len(out)):
        for j in range(JOINTS):
            out[t, j] = 0.5 * (path[t // 2, j] + path[(t + 1) // 2, j])
    return out


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


def _pack(data: Trajectories) -> dict[str, Any]:
    """Return the arrays of the file; outcomes are packed into bits."""
    return {
        "features": data.features,
        "success": np.packbits(data.success, axis=1),
        "obstacles": data.obstacles,
        "obstacle_counts": np.diff(data.obstacle_offsets).astype(np.uint8),
        "seeds": data.seeds,
    }


if __name__ == "__main__":
    written = write(Path(listwright.simulate.__file__).parent / "data" / "trajectory.npz")
    print(f"{len(written)} environments, mean success {written.success.mean():.3f}")
