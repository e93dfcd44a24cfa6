"""Model files: one zip with a JSON manifest, arrays and estimators. Never pickle, and never any code."""

from listwright.storage.files import check_can_save, inspect, load, own_parts, save, warn_unsavable

__all__ = ["check_can_save", "inspect", "load", "own_parts", "save", "warn_unsavable"]
