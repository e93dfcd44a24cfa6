"""Signed distance to obstacles, in closed form.

An obstacle is one row of nine numbers: centre x, y, z; half lengths x, y, z; cosine and sine of its turn about the
vertical; radius. It is every point within `radius` of the turned box. Half lengths 0 make it a sphere, radius 0 a box.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats


@njit(cache=True, nogil=True)
def distance(point: Floats, obstacle: Floats) -> float:
    """Return the distance from a point to the surface of one obstacle; negative inside."""
    x, y, z = _local(point, obstacle)
    x, y, z = abs(x) - obstacle[3], abs(y) - obstacle[4], abs(z) - obstacle[5]
    outside = np.sqrt(max(x, 0.0) ** 2 + max(y, 0.0) ** 2 + max(z, 0.0) ** 2)
    return float(outside + min(max(x, y, z), 0.0) - obstacle[8])


@njit(cache=True, nogil=True)
def nearest(point: Floats, obstacles: Floats) -> tuple[float, int]:
    """Return the distance to the nearest obstacle, and its row. Ties go to the lowest row."""
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
    """Return the unit direction out of a box's corner octant."""
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
    """Return a point in the obstacle's own frame: centred, and turned back."""
    dx, dy, dz = point[0] - obstacle[0], point[1] - obstacle[1], point[2] - obstacle[2]
    c, s = obstacle[6], obstacle[7]
    return c * dx + s * dy, c * dy - s * dx, dz
