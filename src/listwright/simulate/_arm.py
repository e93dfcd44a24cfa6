"""The arm: a Barrett WAM with seven joints, as a chain of frames that carries spheres.

Link lengths, twists and joint limits are those of the WAM Arm User's Manual (Barrett Technology, document D1001):
Table 5, the Denavit-Hartenberg parameters of the 7-DOF arm, and Table 6. The origin is the shoulder, z points up. The
spheres that cover the links, and the two-fingered hand at the end, are this module's own.
"""

import numpy as np
from numba import njit

from listwright._arrays import Floats

JOINTS = 7

# One row a joint: a, d (metres), then cosine and sine of alpha, which is a multiple of a right angle.
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

# One row a sphere: the frame that carries it, its centre in that frame, its radius. Upper arm, forearm, hand, fingers.
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


@njit(cache=True, nogil=True)
def frames(joints: Floats) -> Floats:
    """Frames 0 (base) to 7 (hand) of one configuration, each 3 x 4: rotation, then origin.

    Joint j turns about the z axis of frame j, counted from 0.
    """
    out = np.zeros((JOINTS + 1, 3, 4))
    out[0, 0, 0] = out[0, 1, 1] = out[0, 2, 2] = 1.0
    for j in range(JOINTS):
        a, d, ca, sa = LINKS[j]
        c, s = np.cos(joints[j]), np.sin(joints[j])
        for r in range(3):
            x, y, z, origin = out[j, r]
            turned = c * x + s * y
            across = c * y - s * x
            out[j + 1, r, 0] = turned
            out[j + 1, r, 1] = ca * across + sa * z
            out[j + 1, r, 2] = ca * z - sa * across
            out[j + 1, r, 3] = origin + a * turned + d * z
    return out


@njit(cache=True, nogil=True)
def path_frames(path: Floats) -> Floats:
    """Frames of every configuration of a path, (waypoints, 8, 3, 4)."""
    out = np.empty((len(path), JOINTS + 1, 3, 4))
    for t in range(len(path)):
        out[t] = frames(path[t])
    return out


@njit(cache=True, nogil=True)
def body_points(chain: Floats) -> Floats:
    """Centres of the body spheres, (waypoints, spheres, 3), of the frames of a path."""
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
    """Forces on the body points as torques on the joints, (waypoints, 7): the transposed Jacobian times the forces."""
    out = np.zeros((len(chain), JOINTS))
    for t in range(len(chain)):
        for u in range(len(SPHERES)):
            for j in range(int(SPHERES[u, 0])):
                out[t, j] += _torque(chain[t, j], points[t, u], forces[t, u])
    return out


@njit(cache=True, nogil=True)
def _torque(frame: Floats, point: Floats, force: Floats) -> float:
    x, y, z = point[0] - frame[0, 3], point[1] - frame[1, 3], point[2] - frame[2, 3]
    return (
        frame[0, 2] * (y * force[2] - z * force[1])
        + frame[1, 2] * (z * force[0] - x * force[2])
        + frame[2, 2] * (x * force[1] - y * force[0])
    )
