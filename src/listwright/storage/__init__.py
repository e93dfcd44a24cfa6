"""Model files: one zip with a JSON manifest, arrays and estimators. Never pickle, and never any code."""

from listwright.storage.files import inspect, load, save

__all__ = ["inspect", "load", "save"]
