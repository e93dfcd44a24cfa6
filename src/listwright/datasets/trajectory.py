"""The paper's robot-arm data: which of thirty seed trajectories leads to a collision-free path?"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Floats32, Ints
from listwright.datasets._reading import TrainTest, read_arrays, require_path
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import AnySuccess
from listwright.text.readers import read_text

ARCHIVE = "scp_trajectory.npz"
_TEXTS = {"train": "traj_train.txt", "valid": "traj_crossvalidate.txt", "test": "traj_test.txt"}
_ENVIRONMENT = slice(12, 16)  # the columns that are the same for all seeds of an environment


class _Part(NamedTuple):
    features: Floats32  # (environments, seeds, 17)
    success: Bools
    environments: Ints


def read_trajectory(path: str | Path) -> TrainTest:
    """Read the data of the paper's experiment on trajectory optimisation.

    A candidate is a seed with its 17 features; the catalogue numbers the seeds; the context is the four features that
    describe the environment as a whole; a list succeeds where any of its seeds does.

    Parameters
    ----------
    path : str or Path
        `scp_trajectory.npz`, a folder that holds it, or a folder of the three text files as published
        (`traj_train.txt`, `traj_crossvalidate.txt`, `traj_test.txt`).

    Returns
    -------
    TrainTest
        Training problems are the train and the cross-validation part, 310 environments; 212 are for test.

    See Also
    --------
    listwright.simulate.trajectory.problems : Simulated data of the same kind.
    """
    path = require_path(path, "The trajectory data")
    train, valid, test = (_part(path, name) for name in ("train", "valid", "test"))
    if len({part.features.shape[1:] for part in (train, valid, test)}) > 1:
        raise InputError(f"All parts of {path} must have the same seeds and features.")
    learn = _Part(  # field by field, so that every version of mypy sees the types
        np.concatenate((train.features, valid.features)),
        np.concatenate((train.success, valid.success)),
        np.concatenate((train.environments, valid.environments)),
    )
    return TrainTest(_problems(learn, "train"), _problems(test, "test"))


def _problems(part: _Part, split: str) -> Problems:
    return Problems.from_arrays(
        part.features,
        context=part.features[:, 0, _ENVIRONMENT],
        catalogue=np.arange(part.features.shape[1]),
        problem_ids=[f"{split}-{environment}" for environment in part.environments],
        reward=AnySuccess(part.success),
    )


def _part(path: Path, name: str) -> _Part:
    """Read one part ("train", "valid" or "test") from the archive, or from its text file if there is no archive."""
    archive = path / ARCHIVE if path.is_dir() else path
    if not archive.is_file():
        return _text_part(path, name)
    features, success, environments = read_arrays(archive, [f"{kind}_{name}" for kind in ("X", "y", "env")]).values()
    if features.ndim != 3 or success.shape != features.shape[:2] or environments.shape != features.shape[:1]:
        raise InputError(
            f"X_{name} in {archive} must be (environments, seeds, features), y_{name} (environments, seeds) and "
            f"env_{name} (environments). Got {features.shape}, {success.shape} and {environments.shape}."
        )
    return _Part(features, success.astype(bool), environments)


def _text_part(folder: Path, name: str) -> _Part:
    """Read lines of "label importance size environment|qf 1:v 2:v ... |sf ..."."""
    # Lines are grouped by environment in a stable order, so that seeds keep their places.
    file = require_path(folder / _TEXTS[name], "A file of the trajectory data")
    lines = [line.split("|") for line in read_text(file).splitlines() if line.strip()]
    try:
        heads = np.array([line[0].split() for line in lines], dtype=np.float64)
        rows = _dense([line[1].split()[1:] for line in lines])
        environments, counts = np.unique(heads[:, 3], return_counts=True)
        shape = (len(environments), int(counts[0]))
        order = np.argsort(heads[:, 3], kind="stable")
        features, success = rows[order].reshape(*shape, rows.shape[1]), heads[order, 0].reshape(shape) > 0
        return _Part(features, success, environments.astype(np.int64))
    except (ValueError, IndexError) as error:
        raise InputError(f"{file} must have one line per seed, as many seeds in each environment: {error}.") from error


def _dense(lines: list[list[str]]) -> Floats32:
    """Return dense rows from pairs such as "3:0.5", numbered from 1; columns that a line leaves out are 0."""
    pairs = [(row, *pair.split(":")) for row, line in enumerate(lines) for pair in line]
    rows, columns, values = zip(*pairs, strict=True)
    places = np.array(columns, dtype=np.int64) - 1
    if places.min() < 0:
        raise ValueError("features are numbered from 1")
    table = np.zeros((len(lines), int(places.max()) + 1), dtype=np.float32)
    table[np.array(rows), places] = np.array(values, dtype=np.float32)
    return table


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
        The file, such as "motion_paths/2d_1.npz": see `fetch`.
    context : {"probes"} or None
        "probes" gives the collision result of every probed edge (1 = free). No probed edge lies on a path.

    Returns
    -------
    TrainTest
        Problems of the source's training and test worlds.

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
    states = None
    if context:
        free = np.unpackbits(data["edge_valid_packed"], axis=1)[:, : int(data["n_edges"])]
        states = free[:, data["probe_edges"]].astype(np.float32)  # (worlds, probes)
    return TrainTest(*(_path_problems(data, states, data[name].astype(np.int64)) for name in ("train_id", "test_id")))


def _path_problems(data: dict[str, NDArray[Any]], states: Floats32 | None, worlds: Ints) -> Problems:
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
