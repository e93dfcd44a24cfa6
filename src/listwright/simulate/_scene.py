"""The task: where the arm starts and ends, its thirty seed paths, and random obstacles around the target."""

import numpy as np
from listwright._arrays import Floats
from listwright.simulate._arm import JOINTS, LOWER, UPPER, RADII, body_points, path_frames
from listwright.simulate._chomp import clearances, straight

SEEDS = 30
WAYPOINTS = 25
START: Floats = np.array([-0.9, 0.9, 0.0, 1.4, 0.0, 0.5, 0.0])
GOAL: Floats = np.array([0.9, 1.05, 0.0, 1.2, 0.0, 0.6, 0.0])
REACH: Floats = np.array([0.3, 0.8, 1.0, 1.1, 0.8, 0.6, 1.2])
TARGET: Floats = path_frames(GOAL[None])[0, 7] @ np.array([0.0, 0.0, 0.16, 1.0])
REGION: Floats = np.array([[0.20, -0.45, -0.35], [0.95, 0.55, 0.55]])
ROOM = 0.03
COUNT = (5, 10)

P = dict(blend='par')

def bump(t):
    return np.sin(np.pi*t)


def seed_paths(seed=0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng([seed, 7])
    line = straight(START, GOAL, WAYPOINTS)
    mid = line[WAYPOINTS // 2]
    cand = np.concatenate([np.zeros((1, JOINTS)), rng.uniform(-REACH, REACH, (3000, JOINTS))])
    via = np.clip(mid + cand, LOWER, UPPER)
    pts = body_points(path_frames(via)).reshape(len(via), -1)
    chosen = [0]
    gap = np.linalg.norm(pts - pts[0], axis=1)
    while len(chosen) < SEEDS:
        nxt = int(gap.argmax())
        chosen.append(nxt)
        gap = np.minimum(gap, np.linalg.norm(pts - pts[nxt], axis=1))
    shift = (via - mid)[chosen]
    b = bump(np.linspace(0, 1, WAYPOINTS))
    return np.clip(line + b[:, None] * shift[:, None, :], LOWER, UPPER), shift

ENDS = body_points(path_frames(np.stack([START, GOAL])))

def random_obstacle(rng):
    out = np.zeros(9)
    u = rng.random(10)
    out[:3] = REGION[0] + u[:3] * (REGION[1] - REGION[0])
    if u[3] < 0.4:
        out[8] = 0.05 + 0.10 * u[4]
    else:
        out[3:6] = 0.03 + 0.17 * u[4:7]**1.5
        out[6] = np.cos(np.pi * u[7]);out[7]=np.sin(np.pi*u[7])
    return out

def random_obstacles(rng):
    count = int(rng.integers(COUNT[0], COUNT[1] + 1))
    rows = []
    while len(rows) < count:
        o = random_obstacle(rng)
        if clearances(ENDS, o[None])[0].min() > ROOM:
            rows.append(o)
    return np.array(rows)
