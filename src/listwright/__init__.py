"""listwright learns to build lists whose items are relevant and not redundant, within a length or a budget.

The complete flow::

    problems = lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(success))
    model = lw.SCP(length=3).fit(problems)  # learns one policy from problems whose lists can be measured
    lists = model.predict(new_problems)  # builds lists for problems whose reward is unknown

Names are imported when they are first used, so `import listwright` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOME = {
    "Comparison": "listwright.evaluation",
    "ConSeqOpt": "listwright.estimators",
    "ContextFreeSCP": "listwright.estimators",
    "ContextPacker": "listwright.context",
    "Lists": "listwright.lists",
    "QueryTerms": "listwright.query_terms",
    "Packed": "listwright.context",
    "OnlineSCP": "listwright.feedback",
    "Problems": "listwright.problems",
    "SCP": "listwright.estimators",
    "Selection": "listwright.selection",
    "Selector": "listwright.selection",
    "certify_best": "listwright.estimators",
    "compare": "listwright.evaluation",
    "evaluate": "listwright.evaluation",
    "explain": "listwright.evaluation.explain",
    "greedy": "listwright.selection",
    "importance": "listwright.evaluation",
    "load": "listwright.loading",
    "read": "listwright.tables",
    "scan": "listwright.tables",
    "select": "listwright.selection",
}
_ROOMS = (
    "baselines",
    "checks",
    "datasets",
    "engines",
    "errors",
    "features",
    "feedback",
    "guarantees",
    "learners",
    "policies",
    "rewards",
    "simulate",
    "text",
)

__all__ = [
    "SCP",
    "Comparison",
    "ConSeqOpt",
    "ContextFreeSCP",
    "ContextPacker",
    "Lists",
    "OnlineSCP",
    "Packed",
    "Problems",
    "QueryTerms",
    "Selection",
    "Selector",
    "baselines",
    "certify_best",
    "checks",
    "compare",
    "datasets",
    "engines",
    "errors",
    "evaluate",
    "explain",
    "features",
    "feedback",
    "greedy",
    "guarantees",
    "importance",
    "learners",
    "load",
    "policies",
    "read",
    "rewards",
    "scan",
    "select",
    "simulate",
    "text",
]

if TYPE_CHECKING:
    from listwright import (
        baselines,
        checks,
        datasets,
        engines,
        errors,
        features,
        feedback,
        guarantees,
        learners,
        policies,
        rewards,
        simulate,
        text,
    )
    from listwright.context import ContextPacker, Packed
    from listwright.estimators.certification import certify_best
    from listwright.estimators.conseqopt import ConSeqOpt
    from listwright.estimators.context_free import ContextFreeSCP
    from listwright.estimators.scp import SCP
    from listwright.evaluation import Comparison, compare, evaluate, importance
    from listwright.evaluation.explain import explain
    from listwright.feedback import OnlineSCP
    from listwright.lists import Lists
    from listwright.loading import load
    from listwright.problems import Problems
    from listwright.query_terms import QueryTerms
    from listwright.selection import Selection, Selector, greedy, select
    from listwright.tables import read, scan


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"listwright.{name}")
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'listwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
