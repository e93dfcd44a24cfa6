"""Signed distance to obstacles, in closed form.

An obstacle is one row of eight numbers: centre x, y, z; half lengths x, y, z; turn about z (radians); radius. It is
every point within `radius` of the turned box. Half lengths 0 make it a sphere, radius 0 a box with sharp edges.
"""

import numpy as np
from numba import njit

from listwright._arrays import Floats

OBSTACLE_COLUMNS = ("x", "y", "z", "half_x", "half_y", "half_z", "turn", "radius")


@njit(cache=True, nogil=True)
def distance(point: Floats, obstacle: Floats) -> float:
    """Distance from a point to the surface of one obstacle; negative inside."""
    x, y, z = _local(point, obstacle)
    x, y, z = abs(x) - obstacle[3], abs(y) - obstacle[4], abs(z) - obstacle[5]
    outside = np.sqrt(max(x, 0.0) ** 2 + max(y, 0.0) ** 2 + max(z, 0.0) ** 2)
    return outside + min(max(x, y, z), 0.0) - obstacle[8]


@njit(cache=True, nogil=True)
def nearest(point: Floats, obstacles: Floats) -> tuple[float, int]:
    """Distance to the nearest obstacle, and its row. Ties go to the lowest row."""
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
    x, y, z = abs(lx) - obstacle[3], abs(ly) - obstacle[4], abs(lz) - obstacle[5]
    if max(x, y, z) > 0.0:
        gx, gy, gz = max(x, 0.0), max(y, 0.0), max(z, 0.0)
        norm = np.sqrt(gx * gx + gy * gy + gz * gz)
        gx, gy, gz = gx / norm, gy / norm, gz / norm
    else:
        deepest = max(x, y, z)
        gx = 1.0 if x == deepest else 0.0
        gy = 1.0 if y == deepest and gx == 0.0 else 0.0
        gz = 1.0 - gx - gy
    gx, gy = np.copysign(gx, lx), np.copysign(gy, ly)
    c, s = obstacle[6], obstacle[7]
    out[0], out[1], out[2] = c * gx - s * gy, s * gx + c * gy, np.copysign(gz, lz)


@njit(cache=True, nogil=True)
def _local(point: Floats, obstacle: Floats) -> tuple[float, float, float]:
    """A point in the obstacle's own frame: centred, turned back."""
    dx, dy, dz = point[0] - obstacle[0], point[1] - obstacle[1], point[2] - obstacle[2]
    c, s = obstacle[6], obstacle[7]
    return c * dx + s * dy, c * dy - s * dx, dz
