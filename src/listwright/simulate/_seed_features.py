"""Seventeen numbers about a seed path among obstacles, all in [0, 1], computed before the optimiser runs.

As in the paper's data, some vary with seed and environment, seven belong to the seed and four to the environment.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import njit

from listwright._internal.arrays import Bools, Floats
from listwright.simulate._arm import ARM_SPHERES, body_points, path_frames
from listwright.simulate._chomp import clearances, obstacle_forces
from listwright.simulate._field import nearest
from listwright.simulate._scene import HIGH, LOW, REACH, seed_paths, seed_shifts

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
    """Return the share of each quarter of the gate (upper far, upper near, lower far, lower near) that
    obstacles fill.
    """
    points, quarters = _gate()
    filled = inside(points, obstacles)
    return np.array([filled[quarter].mean() for quarter in quarters])


def survey(path: Floats, obstacles: Floats) -> tuple[Floats, Floats]:
    """Return the clearance of each body sphere, shape (waypoints, spheres), and the push on it, with a last
    axis of 3.
    """
    points = body_points(path_frames(path))
    gaps, directions = clearances(points, obstacles)
    return gaps, obstacle_forces(points, gaps, directions)


@njit(cache=True, nogil=True)
def inside(points: Floats, obstacles: Floats) -> Bools:
    """Return whether each point is inside an obstacle."""
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
    """Return a grid of points in the box of obstacle centres, and which of them lie in each quarter, shape (4,
    points).
    """
    axes = [np.linspace(low, high, steps) for low, high, steps in zip(LOW, HIGH, (12, 8, 16), strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    upper, far = points[:, 2] > 0.2, points[:, 0] > 0.55
    return points, np.array([upper & far, upper & ~far, ~upper & far, ~upper & ~far])
