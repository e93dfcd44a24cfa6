"""Which features and which penalty suit the problems: judged by the lists that they build for held-out problems."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.folds import folds_of
from listwright._internal.progress import tell
from listwright._internal.saved import saved_as
from listwright.estimators.base import ListEstimator
from listwright.evaluation.values import earned, measured
from listwright.features import Identity, Sum
from listwright.features.auto import auto_features
from listwright.features.identity import has_whole_catalogue
from listwright.learners import RidgeLeader
from listwright.problems import Problems

PENALTIES = (10.0, 100.0, 1000.0)


@saved_as("Trial")
class Trial(NamedTuple):
    """Settings, and the mean value of the lists that they build for problems held out in training."""

    settings: dict[str, Any]
    value: float
    on_the_way: float  # mean value of the shorter lists that these begin with: it settles ties


def tuned(model: ListEstimator, problems: Problems) -> tuple[ListEstimator, list[Trial]]:
    """A clone of the model with the features and then the penalty whose lists are worth most in cross-validation on
    these problems; and what was tried. What the user has set stays as it is; of equal trials the first wins.
    """
    folds = folds_of(problems.problem_ids)
    trials: list[Trial] = []
    if len(np.unique(folds)) < 2:
        return clone(model), trials
    chosen: dict[str, Any] = {}
    for name, choices in (("features", _features(model, problems)), ("learner", _learners(model))):
        if len(choices) < 2:
            continue
        new = [_tried(model, chosen | {name: choice}, problems, folds) for choice in choices]
        trials += new
        chosen = max(new, key=lambda trial: (round(trial.value, 12), round(trial.on_the_way, 12))).settings
    return clone(model).set_params(**chosen), trials


def _features(model: ListEstimator, problems: Problems) -> list[Any]:
    """The automatic ones, leaner and richer ones."""
    if not isinstance(model.features, str) or problems.catalogue is None or not problems.n_features:
        return [model.features]
    auto = auto_features(problems)
    rest = [part for part in auto.parts if not isinstance(part, Identity)]
    crosses = ("candidates", "list") if problems.context is None else ("context", "candidates", "list")
    whole = has_whole_catalogue(problems, int(problems.catalogue.max()) + 1)
    return [auto, Sum(rest), *([Sum([*rest, Identity(crosses)])] if whole else [])]


def _learners(model: ListEstimator) -> list[Any]:
    """Of the ridge learner: the penalty that it chooses by its own loss, and fixed ones."""
    return ["ridge", *map(RidgeLeader, PENALTIES)] if model.learner == "ridge" else [model.learner]


def _tried(model: ListEstimator, settings: dict[str, Any], problems: Problems, folds: Ints) -> Trial:
    tell(f"trying {', '.join(f'{name} {choice}' for name, choice in settings.items())}")
    worth = np.concatenate([_worth(model, settings, problems, folds == fold) for fold in np.unique(folds)])
    return Trial(settings, *worth.mean(axis=0).tolist())


def _worth(model: ListEstimator, settings: dict[str, Any], problems: Problems, held: Bools) -> Floats:
    """(held-out problems, 2): what each list is worth, whole and on the mean of the lists that it begins with."""
    fitted = clone(model).set_params(**settings).fit(problems[~held])
    so_far = earned(measured(fitted.predict(problems[held]), problems[held]))
    return np.stack([so_far[:, -1], so_far.mean(axis=1)], axis=1)
