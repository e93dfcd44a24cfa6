"""Gradient boosting models of LightGBM and XGBoost, in the formats of those libraries and read by this room alone.

Both libraries follow the node numbers of a model text on trust: truncated or changed texts abort the process or read
memory that is not theirs (seen with LightGBM 4.7.0 and XGBoost 3.2.0; see tests/storage/test_hostile.py for the kinds
of texts). So the text of a model file never reaches them. Its trees are checked and evaluated here, and predicting
with a loaded model needs neither library.
"""

from listwright.storage.boosters.libraries import LIBRARIES, as_booster, fresh_booster, fresh_parameters, from_histogram
from listwright.storage.boosters.models import Boosted, combine_trees, read_booster, scale_booster

__all__ = [
    "LIBRARIES",
    "Boosted",
    "as_booster",
    "combine_trees",
    "fresh_booster",
    "fresh_parameters",
    "from_histogram",
    "read_booster",
    "scale_booster",
]
