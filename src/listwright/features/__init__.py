"""Policy features: what a policy sees of a candidate and of the list so far.

Features add up with `+`; `Candidate() + Distance() + Position()` are those of the paper's trajectory experiment.
`SCP(features="auto")` chooses by what the problems hold.

- The candidate alone: `Candidate`, `BestColumn`, `Identity`, `ExpectedGain`.
- The candidate against the list: `Distance`, `Similarity`, `Links`, `Volume`, `Aspects`, `UncoveredTerms`.
- The position: `Position`, `FirstPosition`.

To write your own, subclass `Features`.
"""

from listwright.features.aspects import Aspects
from listwright.features.base import Crossed, Features, Rows, Sum
from listwright.features.best_column import BestColumn
from listwright.features.candidate import Candidate
from listwright.features.distance import Distance
from listwright.features.expected_gain import ExpectedGain
from listwright.features.identity import Identity
from listwright.features.links import Links
from listwright.features.position import FirstPosition, Position
from listwright.features.similarity import Similarity
from listwright.features.uncovered_terms import UncoveredTerms
from listwright.features.volume import Volume

__all__ = [
    "Aspects",
    "BestColumn",
    "Candidate",
    "Crossed",
    "Distance",
    "ExpectedGain",
    "Features",
    "FirstPosition",
    "Identity",
    "Links",
    "Position",
    "Rows",
    "Similarity",
    "Sum",
    "UncoveredTerms",
    "Volume",
]
