"""The paper's robot-arm data: which of thirty seed trajectories leads to a collision-free path?

For simulated data of the same kind, which is shipped with the library, see `listwright.simulate.trajectory`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Bools, Floats32, Ints
from listwright.datasets._files import found, read_arrays
from listwright.datasets._splits import TrainTest
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import AnySuccess
from listwright.text.files import read_text

ARCHIVE = "scp_trajectory.npz"
_TEXTS = {"train": "traj_train.txt", "valid": "traj_crossvalidate.txt", "test": "traj_test.txt"}
_ENVIRONMENT = slice(12, 16)  # the columns that are the same for all seeds of an environment


class _Part(NamedTuple):
    """One part of the data: features of shape (environments, seeds, 17), outcomes, and numbers of the environments."""

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

    Raises
    ------
    InputError
        If a file is missing or has another form.

    See Also
    --------
    listwright.simulate.trajectory.problems : Simulated data of the same kind.
    """
    path = found(path, "The trajectory data")
    train, valid, test = (_part(path, name) for name in ("train", "valid", "test"))
    if len({part.features.shape[1:] for part in (train, valid, test)}) > 1:
        raise InputError(f"All parts of {path} must have the same seeds and features.")
    learn = _Part(
        np.concatenate([train.features, valid.features]),
        np.concatenate([train.success, valid.success]),
        np.concatenate([train.environments, valid.environments]),
    )
    return TrainTest(_problems(learn, "train"), _problems(test, "test"))


def _problems(part: _Part, split: str) -> Problems:
    """Return a part as problems, with ids such as "test-17"."""
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
    file = found(folder / _TEXTS[name], "A file of the trajectory data")
    lines = [line.split("|") for line in read_text(file).splitlines() if line.strip()]
    try:
        heads = np.array([line[0].split() for line in lines], dtype=np.float64)
        rows = _dense([line[1].split()[1:] for line in lines])
        environments, counts = np.unique(heads[:, 3], return_counts=True)
        shape = (len(environments), int(counts[0]))
        order = np.argsort(heads[:, 3], kind="stable")
        return _Part(
            rows[order].reshape(*shape, rows.shape[1]),
            heads[order, 0].reshape(shape) > 0,
            environments.astype(np.int64),
        )
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
