"""The trajectory problems: the simulated ones that come with the package, or the paper's own from a file."""

from __future__ import annotations

from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from listwright._arrays import Floats32
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import AnySuccess
from listwright.simulate import trajectory

FILE = "scp_trajectory.npz"
PARTS = ("train", "valid", "test")


def problems(folder: Path | None = None) -> tuple[Problems, Problems]:
    """Problems for training and for testing, from a folder with scp_trajectory.npz or from the simulation.

    >>> [len(part) for part in problems()]
    [310, 212]
    """
    if folder is None:
        return trajectory.problems()
    arrays = _read(_found(folder))
    train, valid, test = (_as_problems(arrays[f"X_{part}"], arrays[f"y_{part}"], part) for part in PARTS)
    return Problems.concat([train, valid]), test


def _found(folder: Path) -> Path:
    """The file in the folder, or in a folder of its name."""
    for path in (folder / FILE, folder / Path(FILE).stem / FILE):
        if path.is_file():
            return path
    raise InputError(f"There is no {FILE} in {folder}. Leave --data out to use the simulated arm.")


def _read(path: Path) -> dict[str, Floats32]:
    wanted = [f"{kind}_{part}" for kind in "Xy" for part in PARTS]
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name].astype(np.float32) for name in wanted}
    except KeyError as error:
        raise InputError(f"{path} must hold the arrays {', '.join(wanted)}. {error.args[0]}.") from None
    except (OSError, ValueError, EOFError, AttributeError, BadZipFile) as error:
        raise InputError(f"Cannot read {path} as a numpy file (.npz): {error}") from None


def _as_problems(features: Floats32, success: Floats32, part: str) -> Problems:
    """Environments as problems; the seed trajectories are the same in all."""
    if features.ndim != 3 or success.shape != features.shape[:2]:
        raise InputError(
            f"X_{part} must be (environments, seeds, features) and y_{part} (environments, seeds). "
            f"Got {features.shape} and {success.shape}."
        )
    return Problems.from_arrays(
        features,
        catalogue=np.arange(features.shape[1]),
        reward=AnySuccess(success),
        problem_ids=[f"{part} {index}" for index in range(len(features))],
    )
