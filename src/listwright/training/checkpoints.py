"""Checkpoints: an interrupted fit resumes from the last one and ends with the same model."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from listwright._internal.arrays import Ints, at_least_one
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.policies import Policy
from listwright.storage import inspect, own_parts, read_model, save

MAY_DIFFER = ("engine", "random_state", "verbose")  # parameters that may differ when a fit is resumed


@saved_as("CheckpointState")
@dataclass
class CheckpointState:
    """How far a fit has come. Together with the training itself this is all that is needed to resume it exactly."""

    seed: int  # seed of the fit
    data: str  # fingerprint of the problems
    done: int = 0  # rounds done
    policies: tuple[Policy, ...] = ()  # for `keep="mixture"`: the policies kept so far
    states: int = 0  # for `keep="mixture"`: the states that they stand for
    best_value: float | None = None  # for `keep="best"`: the best value so far, and its policy
    best_policy: Policy | None = None
    rng: np.random.Generator | None = None  # for problems in memory: the generator, as it was after the last round
    order: Ints | None = None  # for problems in memory: the order of the current pass, and the held-out problems
    held: Ints | None = None
    n_passes: int = 0  # passes of the whole fit; 0 in older files, whose model has it


@dataclass(frozen=True)
class Checkpoints:
    """Where a fit writes its progress, how often, and whether it resumes from there."""

    path: str | Path | None = None  # the file; None to write nothing
    every: int = 1  # number of rounds between two checkpoints
    resume: bool = False  # whether to continue from the file

    def __post_init__(self) -> None:
        """Raise `InputError` if the interval is below 1, or if there is no file to resume from."""
        at_least_one("checkpoint_every", self.every)
        if self.resume and self.path is None:
            raise InputError("resume needs the checkpoint to resume from. Pass checkpoint=.")

    def due(self, done: int) -> bool:
        """Return whether to write after this many rounds."""
        return self.path is not None and done % self.every == 0

    def write(self, model: Any, progress: CheckpointState, fitted: dict[str, Any]) -> None:
        """Save the model so far, which can be loaded like any other, with its progress."""
        assert self.path is not None
        twin = copy.copy(model)
        vars(twin).update(fitted | {"progress_": progress})
        save(twin, self.path, slim=False)

    def earlier(self, model: Any, data: str) -> Any:
        """Load the model of the checkpoint, or raises `InputError` if it belongs to another fit or other problems."""
        if not Path(str(self.path)).exists():
            raise InputError(f"There is no checkpoint {self.path} to resume from. Start without resume.")
        found = read_model(str(self.path), trusted=_trusted_names(model, str(self.path)))
        if not isinstance(getattr(found, "progress_", None), CheckpointState):
            raise InputError(f"{self.path} is a model, not a checkpoint. Name the file that checkpoint= wrote.")
        if type(found) is not type(model) or _settings(found) != _settings(model):
            raise InputError(f"{self.path} is the checkpoint of another fit: {found!r:.80}. Use the same parameters.")
        if found.progress_.data != data:
            raise InputError(
                f"{self.path} is the checkpoint of a fit on other problems, or on another engine with problems in "
                "memory. Use the same data and engine."
            )
        return found


def _settings(model: Any) -> dict[str, str]:
    """Return the parameters that a fit depends on, as text."""
    return {name: repr(value) for name, value in model.get_params(deep=False).items() if name not in MAY_DIFFER}


def _trusted_names(model: Any, path: str) -> list[str]:
    """Return the user's own classes in a checkpoint that may be loaded."""
    modules = {name.partition(":")[0] for name in own_parts(model)}
    return [name for name in inspect(path)["needs_trust"] if name.partition(":")[0] in modules]
