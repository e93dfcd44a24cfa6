"""The arm and its surroundings: a Barrett WAM with seven joints, as a chain of frames that carries spheres.

Link lengths, twists and joint limits are those of the WAM Arm User's Manual (Barrett Technology, document D1001):
Table 5, the Denavit-Hartenberg parameters of the 7-DOF arm, and Table 6. The origin is the shoulder, z points up. The
spheres that cover the links, the two-fingered hand at the end, and the obstacles around it are this module's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from listwright._internal.arrays import Bools, Floats, Floats32, Ints, starts_of
from listwright.simulate.trajectory import FEATURE_NAMES, SEEDS, read_arrays

JOINTS = 7

# One row per joint: a, d (metres), then cosine and sine of alpha, which is a multiple of a right angle.
LINKS: Floats = np.array(
    [
        [0.0, 0.0, 0.0, -1.0],
        [0.0, 0.0, 0.0, 1.0],
        [0.045, 0.55, 0.0, -1.0],
        [-0.045, 0.0, 0.0, 1.0],
        [0.0, 0.3, 0.0, -1.0],
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.06, 1.0, 0.0],
    ]
)
LOWER: Floats = np.array([-2.6, -2.0, -2.8, -0.9, -4.76, -1.6, -3.0])
UPPER: Floats = np.array([2.6, 2.0, 2.8, 3.1, 1.24, 1.6, 3.0])

# One row per sphere: the frame that carries it, its centre in that frame, its radius. Upper arm, forearm, then hand.
SPHERES: Floats = np.array(
    [
        [3, -0.045, 0.35, 0.0, 0.08],
        [3, -0.045, 0.22, 0.0, 0.08],
        [3, -0.045, 0.10, 0.0, 0.08],
        [4, 0.0, 0.0, 0.0, 0.08],
        [4, 0.0, 0.0, 0.10, 0.06],
        [4, 0.0, 0.0, 0.20, 0.06],
        [4, 0.0, 0.0, 0.30, 0.06],
        [7, 0.0, 0.0, 0.04, 0.06],
        [7, 0.05, 0.0, 0.11, 0.03],
        [7, -0.05, 0.0, 0.11, 0.03],
        [7, 0.05, 0.0, 0.16, 0.025],
        [7, -0.05, 0.0, 0.16, 0.025],
    ]
)
RADII: Floats = SPHERES[:, 4].copy()
ARM_SPHERES = 7  # upper arm and forearm; the rest is the hand


@njit(cache=True, nogil=True)
def path_frames(path: Floats) -> Floats:
    """Return the frames 0 (base) to 7 (hand) of each configuration, shape (waypoints, 8, 3, 4)."""
    out = np.zeros((len(path), JOINTS + 1, 3, 4))
    for t in range(len(path)):
        out[t, 0, 0, 0] = out[t, 0, 1, 1] = out[t, 0, 2, 2] = 1.0
        for j in range(JOINTS):
            _next_frame(out[t, j], path[t, j], LINKS[j], out[t, j + 1])
    return out


@njit(cache=True, nogil=True)
def _next_frame(frame: Floats, angle: float, link: Floats, out: Floats) -> None:
    a, d, cos_alpha, sin_alpha = link
    c, s = np.cos(angle), np.sin(angle)
    for r in range(3):
        x, y, z = frame[r, 0], frame[r, 1], frame[r, 2]
        turned, across = c * x + s * y, c * y - s * x
        out[r, 0] = turned
        out[r, 1] = cos_alpha * across + sin_alpha * z
        out[r, 2] = cos_alpha * z - sin_alpha * across
        out[r, 3] = frame[r, 3] + a * turned + d * z


@njit(cache=True, nogil=True)
def body_points(chain: Floats) -> Floats:
    """Return the centres of the body spheres, shape (waypoints, spheres, 3), from the frames of a path."""
    out = np.empty((len(chain), len(SPHERES), 3))
    for t in range(len(chain)):
        for u in range(len(SPHERES)):
            frame = chain[t, int(SPHERES[u, 0])]
            for r in range(3):
                out[t, u, r] = (
                    frame[r, 0] * SPHERES[u, 1]
                    + frame[r, 1] * SPHERES[u, 2]
                    + frame[r, 2] * SPHERES[u, 3]
                    + frame[r, 3]
                )
    return out


@njit(cache=True, nogil=True)
def pull_back(chain: Floats, points: Floats, forces: Floats) -> Floats:
    """Return forces on the body points as torques on the joints, shape (waypoints, 7)."""
    out = np.zeros((len(chain), JOINTS))
    for t in range(len(chain)):
        for u in range(len(SPHERES)):
            for j in range(int(SPHERES[u, 0])):
                out[t, j] += _torque(chain[t, j], points[t, u], forces[t, u])
    return out


@njit(cache=True, nogil=True)
def _torque(frame: Floats, point: Floats, force: Floats) -> float:
    x, y, z = point[0] - frame[0, 3], point[1] - frame[1, 3], point[2] - frame[2, 3]
    moment_x, moment_y, moment_z = y * force[2] - z * force[1], z * force[0] - x * force[2], x * force[1] - y * force[0]
    return float(frame[0, 2] * moment_x + frame[1, 2] * moment_y + frame[2, 2] * moment_z)


@njit(cache=True, nogil=True)
def distance(point: Floats, obstacle: Floats) -> float:
    """Return the distance from a point to the surface of one obstacle; negative inside."""
    x, y, z = _local(point, obstacle)
    x, y, z = abs(x) - obstacle[3], abs(y) - obstacle[4], abs(z) - obstacle[5]
    outside = np.sqrt(max(x, 0.0) ** 2 + max(y, 0.0) ** 2 + max(z, 0.0) ** 2)
    return float(outside + min(max(x, y, z), 0.0) - obstacle[8])


@njit(cache=True, nogil=True)
def nearest(point: Floats, obstacles: Floats) -> tuple[float, int]:
    best, row = np.inf, -1
    for i in range(len(obstacles)):
        d = distance(point, obstacles[i])
        if d < best:
            best, row = d, i
    return best, row


@njit(cache=True, nogil=True)
def away(point: Floats, obstacle: Floats, out: Floats) -> None:
    """Write the gradient of `distance` to `out`: the unit direction in which the distance grows fastest."""
    lx, ly, lz = _local(point, obstacle)
    x, y, z = _steepest(abs(lx) - obstacle[3], abs(ly) - obstacle[4], abs(lz) - obstacle[5])
    x, y = np.copysign(x, lx), np.copysign(y, ly)
    c, s = obstacle[6], obstacle[7]
    out[0], out[1], out[2] = c * x - s * y, s * x + c * y, np.copysign(z, lz)


@njit(cache=True, nogil=True)
def _steepest(x: float, y: float, z: float) -> tuple[float, float, float]:
    deepest = max(x, y, z)
    if deepest > 0.0:
        x, y, z = max(x, 0.0), max(y, 0.0), max(z, 0.0)
        norm = np.sqrt(x * x + y * y + z * z)
        return x / norm, y / norm, z / norm
    if x == deepest:
        return 1.0, 0.0, 0.0
    return (0.0, 1.0, 0.0) if y == deepest else (0.0, 0.0, 1.0)


@njit(cache=True, nogil=True)
def _local(point: Floats, obstacle: Floats) -> tuple[float, float, float]:
    dx, dy, dz = point[0] - obstacle[0], point[1] - obstacle[1], point[2] - obstacle[2]
    c, s = obstacle[6], obstacle[7]
    return c * dx + s * dy, c * dy - s * dx, dz


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
    out = np.empty((waypoints, JOINTS))
    for t in range(waypoints):
        for j in range(JOINTS):
            out[t, j] = start[j] + (goal[j] - start[j]) * (t / (waypoints - 1))
    return out


@njit(cache=True, nogil=True)
def _length(a: Floats, b: Floats) -> float:
    return float(np.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2))


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
    arrays = read_arrays()
    return Trajectories(
        features=arrays["features"],
        success=np.unpackbits(arrays["success"], axis=1, count=SEEDS).astype(np.bool_),
        obstacles=arrays["obstacles"],
        obstacle_offsets=starts_of(arrays["obstacle_counts"].astype(np.int64)),
        seeds=arrays["seeds"],
    )
