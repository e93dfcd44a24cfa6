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

__all__ = sorted([*_HOME, *_ROOMS])  # type checkers read the names below

if TYPE_CHECKING:
    from listwright import baselines as baselines
    from listwright import checks as checks
    from listwright import datasets as datasets
    from listwright import engines as engines
    from listwright import errors as errors
    from listwright import features as features
    from listwright import feedback as feedback
    from listwright import guarantees as guarantees
    from listwright import learners as learners
    from listwright import policies as policies
    from listwright import rewards as rewards
    from listwright import simulate as simulate
    from listwright import text as text
    from listwright.context import ContextPacker as ContextPacker
    from listwright.context import Packed as Packed
    from listwright.estimators.certification import certify_best as certify_best
    from listwright.estimators.conseqopt import ConSeqOpt as ConSeqOpt
    from listwright.estimators.context_free import ContextFreeSCP as ContextFreeSCP
    from listwright.estimators.scp import SCP as SCP
    from listwright.evaluation import Comparison as Comparison
    from listwright.evaluation import compare as compare
    from listwright.evaluation import evaluate as evaluate
    from listwright.evaluation import importance as importance
    from listwright.evaluation.explain import explain as explain
    from listwright.feedback import OnlineSCP as OnlineSCP
    from listwright.lists import Lists as Lists
    from listwright.loading import load as load
    from listwright.problems import Problems as Problems
    from listwright.query_terms import QueryTerms as QueryTerms
    from listwright.selection import Selection as Selection
    from listwright.selection import Selector as Selector
    from listwright.selection import greedy as greedy
    from listwright.selection import select as select
    from listwright.tables import read as read
    from listwright.tables import scan as scan


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"listwright.{name}")
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'listwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
