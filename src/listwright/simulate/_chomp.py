"""A local trajectory optimiser after CHOMP (Ratliff, Zucker, Bagnell and Srinivasa, 2009).

A path is (waypoints, 7) joint angles whose ends stay fixed. With n steps of time 1 / n, its cost is

    SMOOTHNESS * n / 2 * sum |q[t+1] - q[t]|^2  +  sum over t, u of c(x[t, u]) * |x[t+1, u] - x[t-1, u]| / 2

where x[t, u] is body sphere u at waypoint t and c grows as the sphere comes within `MARGIN` of an obstacle. The
second sum is the integral of c along the way of each sphere, so a path gains nothing by rushing through an obstacle.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Bools, Floats
from listwright.simulate._arm import JOINTS, LOWER, RADII, UPPER, body_points, path_frames, pull_back
from listwright.simulate._field import away, nearest

MARGIN = 0.10  # metres; CHOMP's epsilon
SMOOTHNESS = 0.02  # CHOMP's lambda
STEP = 1.0  # CHOMP's 1 / eta
ITERATIONS = 20


@njit(cache=True, nogil=True)
def optimise(seed: Floats, obstacles: Floats, iterations: int = ITERATIONS) -> Floats:
    """Return the path that covariant gradient descent makes of a seed path; joints are clamped to their limits."""
    path, line = seed.copy(), straight(seed[0], seed[-1], len(seed))
    for _ in range(iterations):
        _, gradient = obstacle_cost_and_gradient(path, obstacles)
        push = spread(gradient)
        for t in range(1, len(path) - 1):
            for j in range(JOINTS):
                moved = path[t, j] - STEP * (SMOOTHNESS * (path[t, j] - line[t, j]) + push[t, j])
                path[t, j] = min(max(moved, LOWER[j]), UPPER[j])
    return path


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
    gaps, _ = clearances(body_points(path_frames(halved(path))), obstacles)
    return bool(gaps.min() > 0.0)


@njit(cache=True, nogil=True)
def halved(path: Floats) -> Floats:
    """Return the same path with twice as many steps, by linear interpolation."""
    out = np.empty((2 * len(path) - 1, JOINTS))
    for t in range(len(out)):
        for j in range(JOINTS):
            out[t, j] = 0.5 * (path[t // 2, j] + path[(t + 1) // 2, j])
    return out


@njit(cache=True, nogil=True)
def clearances(points: Floats, obstacles: Floats) -> tuple[Floats, Floats]:
    """Return the distance from each body sphere's surface to the nearest obstacle, and the direction away from it."""
    gaps, directions = np.empty(points.shape[:2]), np.empty(points.shape)
    for t in range(points.shape[0]):
        for u in range(points.shape[1]):
            gap, row = nearest(points[t, u], obstacles)
            gaps[t, u] = gap - RADII[u]
            away(points[t, u], obstacles[row], directions[t, u])
    return gaps, directions


@njit(cache=True, nogil=True)
def penalty(gap: float) -> tuple[float, float]:
    """Return CHOMP's c and its slope: 0 beyond the margin, a parabola inside it, a straight line in collision."""
    if gap >= MARGIN:
        return 0.0, 0.0
    if gap >= 0.0:
        return (gap - MARGIN) ** 2 / (2.0 * MARGIN), gap / MARGIN - 1.0
    return 0.5 * MARGIN - gap, -1.0


@njit(cache=True, nogil=True)
def obstacle_cost(points: Floats, gaps: Floats) -> float:
    """Return the penalty integrated along the way of each body sphere: the second sum of the module's formula."""
    total = 0.0
    for t in range(1, len(points) - 1):
        for u in range(points.shape[1]):
            total += penalty(gaps[t, u])[0] * 0.5 * _length(points[t + 1, u], points[t - 1, u])
    return total


@njit(cache=True, nogil=True)
def obstacle_forces(points: Floats, gaps: Floats, directions: Floats) -> Floats:
    """Return the gradient of `obstacle_cost` with respect to the body points, shape (waypoints, spheres, 3)."""
    forces = np.zeros(points.shape)
    for t in range(1, len(points) - 1):
        for u in range(points.shape[1]):
            cost, slope = penalty(gaps[t, u])
            way = _length(points[t + 1, u], points[t - 1, u])
            for r in range(3):
                forces[t, u, r] += 0.5 * way * slope * directions[t, u, r]
                pull = 0.5 * cost * (points[t + 1, u, r] - points[t - 1, u, r]) / max(way, 1e-12)
                forces[t + 1, u, r] += pull
                forces[t - 1, u, r] -= pull
    return forces


@njit(cache=True, nogil=True)
def obstacle_cost_and_gradient(path: Floats, obstacles: Floats) -> tuple[float, Floats]:
    """Return the obstacle cost of a path, and its gradient with respect to the joint angles (the ends included)."""
    chain = path_frames(path)
    points = body_points(chain)
    gaps, directions = clearances(points, obstacles)
    forces = obstacle_forces(points, gaps, directions)
    return obstacle_cost(points, gaps), pull_back(chain, points, forces)


@njit(cache=True, nogil=True)
def spread(gradient: Floats) -> Floats:
    """Return the inverse of the smoothness metric times a gradient; the ends get 0."""
    n = len(gradient) - 1
    out = np.zeros(gradient.shape)
    for i in range(1, n):
        for k in range(1, n):
            weight = min(i, k) * (n - max(i, k)) / n**2
            for j in range(JOINTS):
                out[i, j] += weight * gradient[k, j]
    return out


@njit(cache=True, nogil=True)
def straight(start: Floats, goal: Floats, waypoints: int) -> Floats:
    """Return the straight line between two configurations, shape (waypoints, 7)."""
    out = np.empty((waypoints, JOINTS))
    for t in range(waypoints):
        for j in range(JOINTS):
            out[t, j] = start[j] + (goal[j] - start[j]) * (t / (waypoints - 1))
    return out


@njit(cache=True, nogil=True)
def _length(a: Floats, b: Floats) -> float:
    """Return the distance between two points in space."""
    return float(np.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2))
