"""Simulated problems, texts and tables, which need no data files.

`trajectory` is the robot arm of the paper's experiment (a) and `news` the readers of (b); `corpus` makes clusters of
reports with summaries, `questions` questions that take several passages to answer, and `readers` the table of the front
page. Modules are imported when they are first used. The same seed always gives the same data.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

__all__ = ["corpus", "news", "questions", "readers", "trajectory"]


def __getattr__(name: str) -> ModuleType:
    """Imports a simulator's module at its first use."""
    if name in __all__:
        return import_module(f"listwright.lab.simulate.{name}")
    raise AttributeError(f"module 'listwright.lab.simulate' has no attribute {name!r}")
