"""Model files: saving fitted models and reading them again, without pickle.

A file is an uncompressed zip archive (`archive`) with a JSON manifest, whose tree of nodes `codec` writes and reads,
one safetensors member with all arrays, one skops member with scikit-learn estimators (`estimators`), and one text
member per LightGBM or XGBoost model (`boosters`). `files` puts the members together. Loading treats the file as hostile
input: every value is checked before it is used, and no code from the file is ever run.
"""

from listwright.storage.files import check_can_save, inspect, own_parts, read_model, save, warn_unsavable

__all__ = ["check_can_save", "inspect", "own_parts", "read_model", "save", "warn_unsavable"]
