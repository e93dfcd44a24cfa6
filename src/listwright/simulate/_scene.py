"""The arm's task: where it starts and ends, its thirty seed paths, and random obstacles in between."""

from __future__ import annotations

from functools import cache

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright.simulate._arm import JOINTS, LOWER, UPPER, body_points, path_frames
from listwright.simulate._chomp import clearances, straight

SEEDS = 30
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
    """Return the half-way configurations of bent paths, clamped to the joint limits."""
    return np.clip(0.5 * (START + GOAL) + bends, LOWER, UPPER)


def _spread_out(configurations: Floats, count: int) -> Ints:
    """Return rows of configurations whose body spheres are far apart: farthest-point selection that starts with the
    first.
    """
    bodies = body_points(path_frames(configurations)).reshape(len(configurations), -1)
    chosen = [0]
    gaps = ((bodies - bodies[0]) ** 2).sum(axis=1)
    while len(chosen) < count:
        chosen.append(int(gaps.argmax()))
        gaps = np.minimum(gaps, ((bodies - bodies[chosen[-1]]) ** 2).sum(axis=1))
    return np.array(chosen)
