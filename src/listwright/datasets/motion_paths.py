"""Motion-planning libraries: which of thirty paths is free of collision in a new world? (Choudhury et al. 2017.)"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats32, Ints
from listwright.datasets._files import read_arrays
from listwright.datasets._splits import TrainTest
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import AnySuccess

_NEEDED = ("success", "train_id", "test_id", "seed30", "seed30_features")
_PROBES = ("edge_valid_packed", "n_edges", "probe_edges")
_PARTS = ("mean", "min", "first_third", "middle_third", "last_third")
FEATURE_NAMES = ("path_length", "n_edges", *(f"free_{hops}_hops_{part}" for hops in range(3) for part in _PARTS))


def read_motion_paths(path: str | Path, *, context: Literal["probes"] | None = None) -> TrainTest:
    """Read one planning problem's `.npz` file; worlds are split as in the source.

    A candidate is one of the thirty paths of `seed30`, described by `seed30_features`: its length, and how free the
    probed edges around it are. The catalogue numbers the thirty; item_ids are their numbers in the whole library. A
    list succeeds where any of its paths is free of collision. Worlds in which none of the thirty is free are left out.

    Parameters
    ----------
    path : str or Path
        The file.
    context : {"probes"} or None
        "probes" gives the collision result of every probed edge (1 = free). No probed edge lies on a path.

    Returns
    -------
    TrainTest
        Problems of the source's training and test worlds.

    Raises
    ------
    InputError
        If the file lacks an array or `context` is unknown.

    See Also
    --------
    read_trajectory : The paper's own data on trajectories.

    Notes
    -----
    The thirty paths were chosen on the source's training worlds. Any other split would leak information from test
    worlds.
    """
    if context not in (None, "probes"):
        raise InputError(f'context must be "probes" or None. Got {context!r}.')
    data = read_arrays(path, (*_NEEDED, *_PROBES) if context else _NEEDED)
    states = _probes(data) if context else None
    return TrainTest(*(_problems(data, states, data[name].astype(np.int64)) for name in ("train_id", "test_id")))


def _probes(data: dict[str, NDArray[Any]]) -> Floats32:
    """Return the collision results of the probed edges, shape (worlds, probes), from packed bits."""
    valid = np.unpackbits(data["edge_valid_packed"], axis=1)[:, : int(data["n_edges"])]
    return valid[:, data["probe_edges"]].astype(np.float32)


def _problems(data: dict[str, NDArray[Any]], states: Floats32 | None, worlds: Ints) -> Problems:
    """Return the problems of some worlds; `states` is the context by world."""
    success = data["success"][:, data["seed30"]].astype(bool)
    worlds = worlds[success[worlds].any(axis=1)]
    return Problems.from_arrays(
        data["seed30_features"][worlds].astype(np.float32),
        context=None if states is None else states[worlds],
        catalogue=np.arange(success.shape[1]),
        item_ids=data["seed30"],
        problem_ids=worlds,
        feature_names=FEATURE_NAMES,
        reward=AnySuccess(success[worlds]),
    )
