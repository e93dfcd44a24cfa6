"""Which features suit the problems."""

from __future__ import annotations

from listwright.errors import InputError
from listwright.features.base import Features, Sum
from listwright.features.candidate import Candidate
from listwright.features.distance import Distance
from listwright.features.identity import Identity
from listwright.features.position import Position
from listwright.features.volume import Volume
from listwright.problems import Problems

MANY_ITEMS = 256  # past this, an in-list flag for every item costs more than it tells


def paper_features() -> Features:
    """The features of the paper's trajectory experiment: own features, distances to the list, bias, first position."""
    return Candidate() + Distance() + Position()


def auto_features(problems: Problems) -> Features:
    """Own features and distances where there are any; identity where items recur, crossed with the context, and with
    the list where nothing else tells what it holds; volume where there are vectors.

    >>> import numpy as np
    >>> auto_features(Problems.from_arrays(np.zeros((2, 3, 1))))
    Sum(parts=[Candidate(), Distance(), Position()])
    """
    if not problems.n_features and problems.catalogue is None and problems.vectors is None:
        raise InputError("Nothing tells the candidates apart: pass features or a catalogue beside the context.")
    parts: list[Features] = [Candidate(), Distance(), Position()] if problems.n_features else [Position()]
    if problems.vectors is not None:
        parts.append(Volume(relative=True))
    if problems.catalogue is not None:
        no_other_view = not problems.n_features and int(problems.catalogue.max()) < MANY_ITEMS
        crosses = {"context": problems.context is not None, "list": no_other_view}
        parts.append(Identity(tuple(name for name, wanted in crosses.items() if wanted)))
    return Sum(parts)
