"""The trajectory problems: the simulated ones that come with the package, or the paper's own from a file."""

from __future__ import annotations

from pathlib import Path

from listwright.errors import InputError
from listwright.lab.datasets import read_trajectory
from listwright.lab.simulate import trajectory
from listwright.problems import Problems

FILE = "scp_trajectory.npz"


def problems(folder: Path | None = None) -> tuple[Problems, Problems]:
    """Problems for training and for testing, from a folder with scp_trajectory.npz or from the simulation.

    >>> [len(part) for part in problems()]
    [310, 212]
    """
    return trajectory.problems() if folder is None else read_trajectory(_found(folder))


def _found(folder: Path) -> Path:
    """The file in the folder, or in a folder of its name."""
    for path in (folder / FILE, folder / Path(FILE).stem / FILE):
        if path.is_file():
            return path
    raise InputError(f"There is no {FILE} in {folder}. Leave --data out to use the simulated arm.")
