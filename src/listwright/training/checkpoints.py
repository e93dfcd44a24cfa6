"""Checkpoints: a fit that was broken off goes on from its last one, to the same model as without a break."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from listwright._internal.arrays import Ints
from listwright._internal.limits import at_least_one
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.policies import Policy
from listwright.storage import inspect, load, own_parts, save

MAY_DIFFER = ("engine", "random_state")  # parameters that may be others when a fit goes on


@saved_as("engines.Progress")
@dataclass
class Progress:
    """How far a fit has come; with the training itself, all that is needed to go on to the same model."""

    seed: int
    data: str  # which problems
    done: int = 0  # rounds
    policies: tuple[Policy, ...] = ()  # of `keep="mixture"`, and over how many states
    states: int = 0
    best_value: float | None = None  # of `keep="best"`
    best_policy: Policy | None = None
    rng: np.random.Generator | None = None  # of problems in memory: the numbers to come,
    order: Ints | None = None  # the order of the pass under way,
    held: Ints | None = None  # and the problems held out
    n_passes: int = 0  # of the whole fit; 0 in older files, whose model says it


@dataclass(frozen=True)
class Checkpoints:
    """Where a fit writes how far it is, how often, and whether it goes on from there."""

    path: str | Path | None = None
    every: int = 1  # rounds
    resume: bool = False

    def __post_init__(self) -> None:
        at_least_one("checkpoint_every", self.every)
        if self.resume and self.path is None:
            raise InputError("resume needs the file to go on from. Pass checkpoint.")

    def due(self, done: int) -> bool:
        """Whether to write after so many rounds."""
        return self.path is not None and done % self.every == 0

    def write(self, model: Any, progress: Progress, fitted: dict[str, Any]) -> None:
        """The model so far, which can be loaded like any other, with its progress."""
        assert self.path is not None
        twin = copy.copy(model)
        vars(twin).update(fitted | {"progress_": progress})
        save(twin, self.path)

    def earlier(self, model: Any, data: str) -> Any:
        """The model of the checkpoint, after a check that it belongs to this fit."""
        if not Path(str(self.path)).exists():
            raise InputError(f"There is no checkpoint {self.path} to go on from. Start without resume.")
        found = load(str(self.path), trusted=_trusted(model, str(self.path)))
        if not isinstance(getattr(found, "progress_", None), Progress):
            raise InputError(f"{self.path} is a model and no checkpoint. Name the file that checkpoint wrote.")
        if type(found) is not type(model) or _settings(found) != _settings(model):
            raise InputError(f"{self.path} is the checkpoint of another fit: {found!r:.80}. Use the same parameters.")
        if found.progress_.data != data:
            raise InputError(
                f"{self.path} is the checkpoint of a fit on other problems, or on another engine with problems in "
                "memory. Use the same data and engine."
            )
        return found


def _settings(model: Any) -> dict[str, str]:
    """The parameters that a fit depends on, in words."""
    return {name: repr(value) for name, value in model.get_params(deep=False).items() if name not in MAY_DIFFER}


def _trusted(model: Any, path: str) -> list[str]:
    """The user's own classes in a checkpoint: those of the model, and what else their modules define, such as policies
    that a learner makes."""
    modules = {name.partition(":")[0] for name in own_parts(model)}
    return [name for name in inspect(path)["needs_trust"] if name.partition(":")[0] in modules]
