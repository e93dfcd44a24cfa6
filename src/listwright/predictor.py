"""`Predictor`, the base of all that builds lists: it reads later frames in the same way as the training frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from narwhals.typing import IntoFrame
from numpy.typing import ArrayLike, NDArray

from listwright._internal.parameters import Parameters, check_fitted
from listwright.errors import InputError
from listwright.evaluation.values import list_values
from listwright.frames.columns import OPTIONS, ColumnOptions, Columns
from listwright.frames.frame import as_table, is_frame, references_by_problem
from listwright.problems import Problems, build_problems
from listwright.rewards import Function, reward_of
from listwright.storage import save
from listwright.training.signature import Signature
from listwright.walk.constraints import as_limits, check_problems


class Predictor(Parameters, ABC):
    """What builds lists for problems: the manners that estimators, baselines and bandits share."""

    length: int
    budget: float | None
    signature_: Signature  # the kind of problems that the model accepts
    columns_: Columns  # how the training frame was read; set only if `fit` was given a frame
    new_items: ClassVar[bool] = False  # whether items may be new to the catalogue
    reward_spec_: str  # the reward string that `fit` was given; set only if it was a string
    not_saved: ClassVar[tuple[str, ...]] = ("reward_function_",)  # a function is code

    @abstractmethod
    def predict(self, problems: Any, *, length: int | None = None, budget: ArrayLike | None = None) -> Any:
        """Build lists for problems whose reward need not be known."""

    def score(
        self,
        problems: Problems | IntoFrame,
        y: None = None,
        *,
        reward: Any = None,
        length: int | None = None,
        budget: ArrayLike | None = None,
        new_levels: str | None = None,
    ) -> float:
        """Return the mean value of the lists that `predict` builds, under the problems' reward.

        Parameters
        ----------
        problems : Problems or frame
            Problems with a reward. A frame is read by the names of the columns that `fit` saw.
        y : None
            Not used.
        reward : str or Reward, optional
            What a list is worth, where that is not the reward of the problems or of `fit`.
        length, budget
            How long lists are, where that is not what the model was made for.
        new_levels : {"error", "zeros"}, optional
            Of a frame: what to do about levels that were not in the training data, as in `predict`.
        """
        problems = self._as_problems(problems, measured=True, reward=reward, new_levels=new_levels)
        reward_of(problems, "score")
        return float(list_values(self.predict(problems, length=length, budget=budget), problems).mean())

    def save(self, path: str | Path, *, slim: bool | None = None) -> None:
        """Write the fitted model to one file, which `listwright.load` reads and the service serves.

        Parameters
        ----------
        path : path
            The file to write.
        slim : bool, optional
            Leave out what only further training needs: see `storage.save`.
        """
        save(self, path, slim=slim)

    def __getstate__(self) -> dict[str, Any]:
        """Leave functions, which may not be copied, out of copies for other processes and files."""
        return {name: value for name, value in super().__getstate__().items() if name != "reward_function_"}

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

    def _limits(self, length: int | None = None, budget: ArrayLike | None = None) -> tuple[int | None, Any]:
        return as_limits(length, budget, self.length, self.budget)

    def _from_frame(
        self, given: Any, reward: Any, options: dict[str, Any], *, measured: bool = True
    ) -> tuple[Problems, dict[str, Any]]:
        unknown = sorted(options.keys() - OPTIONS.keys())
        if unknown:
            raise TypeError(f"fit() got an unexpected keyword argument {unknown[0]!r}")
        if not is_frame(given):
            if isinstance(given, str | Path):
                as_table(given)  # says how to read files
            if reward is not None or options:
                named = "reward" if reward is not None else min(options)
                kinds = "a frame of pandas, polars, pyarrow or DuckDB"
                got = f"Got {type(given).__name__}. Problems have their own: see Problems.from_frame."
                raise InputError(f"{named}= goes with {kinds}. {got}")
            return given, {}
        if measured:
            check_reward_named(reward)
        references = references_by_problem(options.pop("references", None), options.get("problem", "problem"))
        problems, columns = build_problems(
            as_table(given), ColumnOptions(**options), reward=reward, references=references
        )
        own = reward if isinstance(reward, Function) else None  # it is for any problems; other objects are for these
        spec = reward if isinstance(reward, str) else None
        return problems, {"columns_": columns, "reward_spec_": spec, "reward_function_": own}

    def _more_problems(self, given: Any, reward: Any, options: dict[str, Any]) -> Problems:
        """Convert what `partial_fit` was given to problems: later frames are read by the columns of the first."""
        if not is_frame(given) or "columns_" in vars(self):
            if options:
                raise InputError(f"{min(options)}= goes with the first frame: later ones are read by the same columns.")
            return self._as_problems(given, measured=is_frame(given), reward=reward)
        problems, read_as = self._from_frame(given, reward, options)
        self._remember(read_as)
        return problems

    def _remember(self, read_as: dict[str, Any]) -> None:
        """Set what `_from_frame` has returned, and drop that of an earlier fit."""
        for name in ("columns_", "reward_spec_", "reward_function_"):
            self.__dict__.pop(name, None)
        self.__dict__.update({name: value for name, value in read_as.items() if value is not None})

    def _alike(self, given: Any, read_as: dict[str, Any]) -> Any:
        if not is_frame(given):
            return given
        if "columns_" not in read_as:
            raise InputError("Problems go with problems, and frames with frames: read both with Problems.from_frame.")
        reward = read_as["reward_spec_"] or read_as["reward_function_"]
        return build_problems(as_table(given), ColumnOptions(columns=read_as["columns_"]), reward=reward)[0]

    def _as_problems(
        self, given: Any, *, measured: bool = False, reward: Any = None, new_levels: str | None = None
    ) -> Problems:
        """Convert a frame to problems with the columns of the training frame; problems only get the reward."""
        if isinstance(given, Problems) or not is_frame(given):  # asking narwhals takes as long as a short list
            if new_levels is not None:
                raise InputError("new_levels= goes with a frame. Problems are encoded already.")
            if measured or reward is not None:
                check_problems(given)
            problems: Problems = given if reward is None else given.with_reward(reward)
            return self._by_names(problems)
        columns = getattr(self, "columns_", None)
        if columns is None:
            raise InputError(
                f"This {type(self).__name__} was not fitted on a frame, so it cannot tell which column is which. "
                "Convert the frame with Problems.from_frame, or fit on a frame."
            )
        if measured and reward is None:
            reward = getattr(self, "reward_spec_", None) or vars(self).get("reward_function_")
            check_reward_named(reward)
        return build_problems(as_table(given), ColumnOptions(columns=columns, new_levels=new_levels), reward=reward)[0]

    def _by_names(self, problems: Problems) -> Problems:
        known = getattr(getattr(self, "signature_", None), "catalogue_names", None)
        if known is None or not isinstance(problems, Problems):
            return problems
        named = problems.with_catalogue_order(known)
        if not self.new_items and named.n_items > len(known):
            assert named.catalogue_names is not None
            new = named.catalogue_names[len(known)]
            raise InputError(f"Item {new} is not in the catalogue of {len(known)} items. Fit again with all items.")
        return named


class UnsetAttribute:
    """A fitted attribute that not every fit sets: asked of a model without it, it says which fit would have set it."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:  # the class itself has no such attribute
            raise AttributeError(f"Only fitted models have {self.name}.")
        check_fitted(model)
        raise AttributeError(f"This {type(model).__name__} has no {self.name}: {self.why.format(model=model)}")


def check_reward_named(reward: Any) -> None:
    if reward is None:
        raise InputError('A frame does not say what a list is worth. Pass reward=, such as "any:clicked".')
