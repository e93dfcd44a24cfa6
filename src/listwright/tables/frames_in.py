"""Data frames in place of `Problems` for every estimator.

Estimators inherit `TakesFrames`, which lets `fit`, `predict` and `score` accept a frame and remembers how the training
frame was read, so that later frames are encoded in the same way whatever the order of their columns.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from listwright.errors import InputError
from listwright.problems import Problems
from listwright.tables.columns import Columns, Wanted
from listwright.tables.frame import as_table, build, by_problem

OPTIONS = {field.name for field in fields(Wanted)} - {"columns", "fixed"} | {"references"}


class TakesFrames:
    """Mixin that lets `fit`, `predict` and `score` take a frame of pandas, polars or pyarrow with one row per
    candidate.
    """

    columns_: Columns | None  # how the training frame was read; set only if `fit` was given a frame
    reward_spec_: str  # the reward string that `fit` was given; set only if it was a string

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features seen in `fit`; raises `AttributeError` before `fit` or if features have no names."""
        names = None if "signature_" not in vars(self) else vars(self)["signature_"].feature_names
        if names is None:
            raise AttributeError(
                f"This {type(self).__name__} has no feature names: it is not fitted, or its problems have none. "
                "Fit on a frame, or pass feature_names= to Problems.from_arrays."
            )
        return np.array(names, dtype=object)

    def _from_frame(
        self, given: Any, reward: Any, options: dict[str, Any], *, measured: bool = True
    ) -> tuple[Any, dict[str, Any]]:
        """Convert what `fit` was given to problems."""
        unknown = sorted(options.keys() - OPTIONS)
        if unknown:
            raise TypeError(f"fit() got an unexpected keyword argument {unknown[0]!r}")
        if not is_frame(given):
            if reward is not None or options:
                named = "reward" if reward is not None else min(options)
                raise InputError(f"{named}= goes with a frame. Problems have their own: see Problems.from_frame.")
            return given, {}
        if measured:
            check_reward_named(reward)
        references = by_problem(options.pop("references", None), options.get("problem", "problem"))
        problems, columns = build(as_table(given), Wanted(**options), reward=reward, references=references)
        return problems, {"columns_": columns, "reward_spec_": reward if isinstance(reward, str) else None}

    def _remember(self, read_as: dict[str, Any]) -> None:
        """Set `columns_` and `reward_spec_` from the result of `_from_frame`, and drop those of an earlier fit."""
        for name in ("columns_", "reward_spec_"):
            self.__dict__.pop(name, None)
        self.__dict__.update({name: value for name, value in read_as.items() if value is not None})

    def _alike(self, given: Any, read_as: dict[str, Any]) -> Any:
        """Further problems with a reward (such as a validation set), read in the same way as the training frame."""
        if not is_frame(given):
            return given
        if "columns_" not in read_as:
            raise InputError("Problems go with problems, and frames with frames: read both with Problems.from_frame.")
        return build(as_table(given), Wanted(columns=read_as["columns_"]), reward=read_as["reward_spec_"])[0]

    def _as_problems(self, given: Any, *, measured: bool = False) -> Any:
        """Convert a frame to problems with the columns of the training frame; anything else is returned unchanged."""
        if not is_frame(given):
            return given
        columns = getattr(self, "columns_", None)
        if columns is None:
            raise InputError(
                f"This {type(self).__name__} was not fitted on a frame, so it cannot tell which column is which. "
                "Convert the frame with Problems.from_frame, or fit on a frame."
            )
        reward = getattr(self, "reward_spec_", None) if measured else None
        return build(as_table(given), Wanted(columns=columns), reward=reward)[0]


def check_reward_named(reward: Any) -> None:
    """Raise `InputError` if no reward is given, as a frame does not tell what lists are worth."""
    if reward is None:
        raise InputError('fit on a frame needs the value of a list. Pass reward=, such as "any:clicked".')


def is_frame(given: Any) -> bool:
    """Return whether this is a frame of pandas, polars or pyarrow."""
    # Lazy frames count as frames too, so that `as_table` can explain that they must be collected first.
    if isinstance(given, Problems):
        return False
    return isinstance(nw.from_native(given, pass_through=True), nw.DataFrame | nw.LazyFrame)
