"""Model files without pickle: every value is checked before it is used, and no code from a file is ever run."""

from listwright.storage.files import inspect, own_parts, read_model, save, warn_unsavable

__all__ = ["inspect", "own_parts", "read_model", "save", "warn_unsavable"]
