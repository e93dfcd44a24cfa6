"""Which features suit the problems."""

from __future__ import annotations

from listwright.errors import InputError
from listwright.features.base import Features, Sum
from listwright.features.candidate import Candidate
from listwright.features.distance import Distance
from listwright.features.identity import Identity, has_whole_catalogue
from listwright.features.position import Position
from listwright.features.volume import Volume
from listwright.problems import Problems

MANY_ITEMS = 256  # past this, an in-list flag for every item costs more than it tells
MANY_COLUMNS = 2048  # past this, weights of each item for the whole problem are too many
STATES_PER_ITEM = 4  # below this, weights of each item for the whole problem are learned from too little


def paper_features() -> Features:
    """The features of the paper's trajectory experiment: own features, distances to the list, bias, first position."""
    return Candidate() + Distance() + Position()


def auto_features(problems: Problems) -> Features:
    """What suits the problems: own features and distances to the list; identity where items recur, crossed with the
    context, with the list where nothing else tells what it holds, and, where every problem offers the whole catalogue
    and there are enough problems, with all their candidates in place of distances; volume where there are vectors.

    >>> import numpy as np
    >>> auto_features(Problems.from_arrays(np.zeros((2, 3, 1))))
    Sum(parts=[Candidate(), Distance(), Position()])
    """
    if not problems.n_features and problems.catalogue is None and problems.vectors is None:
        raise InputError("Nothing tells the candidates apart: pass features or a catalogue beside the context.")
    cross = _crosses(problems)
    parts: list[Features] = [Candidate()] if problems.n_features else []
    if problems.n_features and "candidates" not in cross:
        parts.append(Distance())
    parts.append(Position())
    if problems.vectors is not None:
        parts.append(Volume(relative=True))
    if problems.catalogue is not None:
        parts.append(Identity(cross))
    return Sum(parts)


def _crosses(problems: Problems) -> tuple[str, ...]:
    """What each item of the catalogue has weights of its own for."""
    if problems.catalogue is None:
        return ()
    n_items = int(problems.catalogue.max()) + 1
    whole = (
        0 < problems.n_features * n_items <= MANY_COLUMNS
        and has_whole_catalogue(problems, n_items)
        and len(problems) >= STATES_PER_ITEM * n_items
    )
    flags = n_items <= MANY_ITEMS and (whole or not problems.n_features)
    wanted = {"context": problems.context is not None, "candidates": whole, "list": flags}
    return tuple(name for name, there in wanted.items() if there)
