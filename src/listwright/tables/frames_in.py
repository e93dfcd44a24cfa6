"""Frames in place of problems, for everything that learns and builds lists."""

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
    """Lets `fit`, `predict` and `score` take a frame of pandas, polars or pyarrow with one row per candidate.

    `fit` remembers how it read the frame: `columns_` and `reward_spec_`. Other frames are then read by the names of
    their columns, in whatever order they come.
    """

    columns_: Columns | None
    reward_spec_: str

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features seen in `fit`, where they have names."""
        names = None if "signature_" not in vars(self) else vars(self)["signature_"].feature_names
        if names is None:
            raise AttributeError(f"This {type(self).__name__} knows no names of features.")
        return np.array(names, dtype=object)

    def _from_frame(
        self, given: Any, reward: Any, options: dict[str, Any], *, measured: bool = True
    ) -> tuple[Any, dict[str, Any]]:
        """What to learn from, and what to remember of how it was read."""
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
        for name in ("columns_", "reward_spec_"):
            self.__dict__.pop(name, None)
        self.__dict__.update({name: value for name, value in read_as.items() if value is not None})

    def _alike(self, given: Any, read_as: dict[str, Any]) -> Any:
        """Other problems with a reward, from a frame that is read as the training frame was."""
        if not is_frame(given):
            return given
        if "columns_" not in read_as:
            raise InputError("Problems go with problems, and frames with frames: read both with Problems.from_frame.")
        return build(as_table(given), Wanted(columns=read_as["columns_"]), reward=read_as["reward_spec_"])[0]

    def _as_problems(self, given: Any, *, measured: bool = False) -> Any:
        """Problems from a frame with the columns that the model knows; what is no frame stays as it is."""
        if not is_frame(given):
            return given
        columns = getattr(self, "columns_", None)
        if columns is None:
            raise InputError(
                f"This {type(self).__name__} was not fitted on a frame, so it does not know which column is what. Make "
                "problems of the frame with Problems.from_frame, or fit on a frame."
            )
        reward = getattr(self, "reward_spec_", None) if measured else None
        return build(as_table(given), Wanted(columns=columns), reward=reward)[0]


def check_reward_named(reward: Any) -> None:
    """A frame does not say by itself what lists are worth."""
    if reward is None:
        raise InputError('fit on a frame needs to know what a list is worth. Pass reward=, such as "any:clicked".')


def is_frame(given: Any) -> bool:
    """Whether this is a frame of pandas, polars or pyarrow.

    Examples
    --------
    >>> import pyarrow as pa
    >>> is_frame(pa.table({"problem": [1]})), is_frame([[1.0]])
    (True, False)
    """
    if isinstance(given, Problems):
        return False
    return isinstance(nw.from_native(given, pass_through=True), nw.DataFrame | nw.LazyFrame)
