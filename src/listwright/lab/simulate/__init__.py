"""Problems, texts and tables that the library makes up itself: `trajectory`, `news`, `corpus`, `questions` and
`readers`."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["corpus", "news", "questions", "readers", "trajectory"]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return import_module(f"listwright.lab.simulate.{name}")
    raise AttributeError(f"module 'listwright.lab.simulate' has no attribute {name!r}")
