"""Model files: saving fitted models and reading them again, without pickle.

A file is an uncompressed zip archive with a JSON manifest (`manifest`; `encode` writes the tree of nodes in it,
`decode` reads it), one safetensors member with all arrays (`archive`), one skops member with scikit-learn estimators
(`estimators`), and one text member per LightGBM or XGBoost model (`boosters`). `files` puts the members together.
Loading treats the file as hostile input: every value is checked before it is used, and no code from the file is ever
run. `trust` holds the rules for classes that are not listwright's own.
"""

from listwright.storage.files import check_can_save, own_parts, read_model, save, warn_unsavable
from listwright.storage.manifest import inspect

__all__ = ["check_can_save", "inspect", "own_parts", "read_model", "save", "warn_unsavable"]
