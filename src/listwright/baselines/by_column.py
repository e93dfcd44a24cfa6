"""Relevance that is already a column, such as the score of a retriever.

`TopK`, `MMR` and `DPP` accept the name or number of a column wherever they accept an estimator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats
from listwright.baselines.models import NAMES, check_estimator
from listwright.errors import InputError
from listwright.problems import Problems


def column_of(relevance: Any, known: Any) -> int | None:
    """The column that `relevance` names, by name or number; None where it names none.

    Parameters
    ----------
    relevance : Any
        What the user gave: a name, a number counted from 0, or something else, such as an estimator.
    known : Problems or Signature
        Whose `feature_names` and `n_features` say which columns there are.

    >>> problems = Problems.from_arrays(np.zeros((1, 3, 2)), feature_names=["price", "score"])
    >>> column_of("score", problems), column_of(0, problems), column_of("ridge", problems)
    (1, 0, None)
    """
    if isinstance(relevance, str) and relevance in (known.feature_names or ()):
        return list(known.feature_names).index(relevance)
    if isinstance(relevance, int | np.integer) and not isinstance(relevance, bool):
        return int(relevance) if 0 <= relevance < known.n_features else None
    return None


def column_values(problems: Problems, column: int) -> Floats:
    """Returns a column as one float64 number per row, from dense or sparse features."""
    if sparse.issparse(problems.features):
        return problems.features[:, [column]].toarray().ravel().astype(np.float64)
    return problems.features[:, column].astype(np.float64)


def check_relevance(relevance: Any, problems: Problems, what: str) -> None:
    """Raises `InputError` unless `relevance` is a column of the problems, a named estimator or an estimator.

    `what` is the name of the parameter in the message.
    """
    if column_of(relevance, problems) is not None:
        return
    if isinstance(relevance, int | np.integer) and not isinstance(relevance, bool):
        raise InputError(f"{what} names column {relevance} of {problems.n_features}. Count from 0.")
    if isinstance(relevance, str) and relevance not in NAMES:
        known = ", ".join([*(problems.feature_names or ()), *NAMES])
        raise InputError(f"{what} must be a column or an estimator ({known}). Got {relevance!r}.")
    check_estimator(relevance, what)
