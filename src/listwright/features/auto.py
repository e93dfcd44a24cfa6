"""Features chosen by what the problems hold, for `SCP(features="auto")`, and those of the paper."""

from __future__ import annotations

import numpy as np

from listwright.errors import InputError
from listwright.features.aspects import Aspects
from listwright.features.base import Features, Sum
from listwright.features.candidate import Candidate
from listwright.features.distance import Distance
from listwright.features.identity import Identity
from listwright.features.links import Links
from listwright.features.position import Position
from listwright.features.similarity import Similarity, has_own_vector
from listwright.features.uncovered_terms import UncoveredTerms
from listwright.features.volume import Volume
from listwright.problems import Problems

MANY_PAIRS = 3e7  # past this, cosines between all candidates of a problem cost too much
MANY_ITEMS = 256  # past this, an in-list flag for every item costs more than it tells


def paper_features() -> Features:
    """Return the features of the paper's trajectory experiment."""
    return Candidate() + Distance() + Position()


def auto_features(problems: Problems) -> Sum:
    # Coordinates of vectors are never columns: by themselves they mean nothing.
    if not problems.n_features and problems.catalogue is None and problems.vectors is None:
        raise InputError("The candidates cannot be distinguished: pass features or a catalogue besides the context.")
    parts: list[Features] = [Candidate()] if problems.n_features else []
    parts += _list_features(problems)
    if problems.catalogue is not None:
        no_other_view = not problems.n_features and problems.n_items <= MANY_ITEMS
        crosses = {"context": problems.context is not None, "list": no_other_view}
        parts.append(Identity(tuple(name for name, wanted in crosses.items() if wanted)))
    return Sum(parts)


def _list_features(problems: Problems) -> list[Features]:
    """Features of a candidate against the list: aspects, links and vectors are preferred to differences of features."""
    # Past `MANY_PAIRS` pairs of candidates, `Links` is left out, because it computes all cosines within a problem.
    pairs = float((problems.counts.astype(np.float64) ** 2).sum())
    linked = problems.links is not None or problems.vectors is not None
    parts: list[Features] = [Position()]
    if problems.aspects is not None:
        parts.append(Aspects())
    if problems.query_terms is not None:
        parts.append(UncoveredTerms())
    if problems.vectors is not None and has_own_vector(problems):
        parts.append(Similarity())
    if linked and pairs <= MANY_PAIRS:
        parts.append(Links())
        return [*parts, *([Volume(relative=True, times_features=False)] if problems.vectors is not None else [])]
    has_aspects = problems.aspects is not None or problems.query_terms is not None
    distance = [Distance()] if problems.n_features and not has_aspects else []
    return [*distance, *parts, *([Volume(relative=True)] if problems.vectors is not None else [])]
