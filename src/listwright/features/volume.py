"""The volume that the list would span with a candidate added, as in determinantal point processes."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints, row_dots, unit_rows
from listwright._internal.saved import saved_as
from listwright.features.base import Features
from listwright.features.candidate import feature_names
from listwright.features.scale import Moments, Scale, dense
from listwright.problems import Problems

FLAT = 1e-10  # squared length below which a direction is spanned already (duplicates), and no step is taken


class VolumeSeen(NamedTuple):
    problems: Problems
    vectors: Any  # vectors of unit length, dense or CSR
    quality: Floats32  # scaled features that the volume is multiplied with
    remaining: Floats  # by row: squared length of the part outside the list's span
    explained: tuple[Floats, ...]  # coordinates along each direction of the list
    log_volume: Floats  # by problem: log of the list's own squared volume


@saved_as("features.Volume")
class Volume(Features):
    """Squared volume spanned by the vectors of the list and the candidate, alone and times the candidate's features.

    These are the similarity features of the paper's summaries: near 0 for a candidate that the list makes redundant, 1
    for one orthogonal to it. Vectors are `problems.vectors`, or the features where there are none, scaled to unit
    length. An update costs one pass over the problem's vectors; nothing is recomputed.

    Parameters
    ----------
    times_features : bool
        Also give the product with each of the candidate's features.
    relative : bool
        Divide by the list's own volume, so that the columns of long lists do not fade to 0.

    Attributes
    ----------
    scale_ : Scale or None
        Scale of the features, where these are multiplied.

    See Also
    --------
    Similarity : Cosines to single items of the list.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]], offsets=[0, 3])
    >>> feature = Volume(times_features=False).fit(problems)
    >>> feature.columns(feature.add(feature.start(problems), np.array([0]))).ravel()
    array([0. , 1. , 0.5], dtype=float32)
    """

    group = "volume with the list"

    def __init__(self, *, times_features: bool = True, relative: bool = False) -> None:
        self.times_features = times_features
        self.relative = relative

    def uses_training_data(self) -> bool:
        return self.times_features

    def summary(self, problems: Problems) -> dict[str, Any]:
        moments = Moments.of(dense(problems.features)) if self.times_features else None
        return {"features": moments, "names": tuple(feature_names(problems)) if self.times_features else ()}

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        self.scale_ = None if summary["features"] is None else Scale.from_moments(summary["features"])
        self.feature_names_ = list(summary["names"])
        return self

    def start(self, problems: Problems) -> VolumeSeen:
        vectors = unit_rows(problems.features if problems.vectors is None else problems.vectors)
        quality = np.zeros((problems.n_rows, 0)) if self.scale_ is None else self.scale_.apply(problems.features)
        remaining = row_dots(vectors, vectors)
        return VolumeSeen(problems, vectors, quality.astype(np.float32), remaining, (), np.zeros(len(problems)))

    def columns(self, seen: VolumeSeen) -> Floats32:
        volume = np.maximum(seen.remaining, 0.0)
        if not self.relative:
            volume = volume * np.exp(seen.log_volume)[seen.problems.owners]
        column = volume.astype(np.float32)[:, None]
        return np.concatenate([column, column * seen.quality], axis=1)

    def add(self, seen: VolumeSeen, picks: Ints) -> VolumeSeen:
        left = np.where(picks >= 0, seen.remaining[picks], 1.0)
        log_volume = seen.log_volume + np.log(np.maximum(left, np.finfo(float).tiny))
        new = np.where(left > FLAT, picks, -1)
        rows = np.flatnonzero((new >= 0)[seen.problems.owners])
        partner = new[seen.problems.owners[rows]]
        overlap = row_dots(seen.vectors[rows], seen.vectors[partner])
        for column in seen.explained:
            overlap -= column[rows] * column[partner]
        column, remaining = np.zeros(len(seen.remaining)), seen.remaining.copy()
        column[rows] = overlap / np.sqrt(seen.remaining[partner])
        remaining[rows] = np.maximum(remaining[rows] - column[rows] ** 2, 0.0)
        remaining[new[new >= 0]] = 0.0
        return seen._replace(remaining=remaining, explained=(*seen.explained, column), log_volume=log_volume)

    def names(self) -> list[str]:
        return ["volume", *(f"volume x {name}" for name in self.feature_names_)]
