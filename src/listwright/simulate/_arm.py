"""The arm: a Barrett WAM with seven joints, as a chain of frames that carries spheres.

Link lengths, twists and joint limits are those of the WAM Arm User's Manual (Barrett Technology, document D1001):
Table 5, the Denavit-Hartenberg parameters of the 7-DOF arm, and Table 6. The origin is the shoulder, z points up. The
spheres that cover the links, and the two-fingered hand at the end, are this module's own.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats

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
    """Write the frame that follows a joint to `out`, by the Denavit-Hartenberg convention."""
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
    """Return the moment of a force at a point about the z axis of a frame."""
    x, y, z = point[0] - frame[0, 3], point[1] - frame[1, 3], point[2] - frame[2, 3]
    moment_x, moment_y, moment_z = y * force[2] - z * force[1], z * force[0] - x * force[2], x * force[1] - y * force[0]
    return float(frame[0, 2] * moment_x + frame[1, 2] * moment_y + frame[2, 2] * moment_z)
