"""Model files: saving fitted models and reading them again, without pickle.

Loading treats the file as hostile input: every value is checked before it is used, and no code from it is ever run.
"""

from listwright.storage.files import inspect, own_parts, read_model, save, warn_unsavable

__all__ = ["inspect", "own_parts", "read_model", "save", "warn_unsavable"]
