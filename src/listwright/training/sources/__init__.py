"""Sources of training problems: in memory, in memory on several workers, or a scan on an engine.

Learners from feedback have a source of their own, in `listwright.feedback`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from listwright._internal.threads import one_thread
from listwright.engines import Engine, Local
from listwright.problems import Problems
from listwright.tables import Scan
from listwright.training.sources.base import Fitted, Plan, Round, Source
from listwright.training.sources.memory import InMemory
from listwright.training.sources.parts import Parts
from listwright.training.sources.sharded import Sharded
from listwright.walk.constraints import check_problems

__all__ = ["Fitted", "InMemory", "Plan", "Round", "Sharded", "Source", "opened"]


@contextmanager
def opened(problems: Problems | Scan, engine: Engine, **settings: Any) -> Iterator[Source]:
    """Provide the source of these problems, with the engine's workers if it needs some."""
    # Linear algebra is restricted to one thread, so that sums are added in one order.
    if not isinstance(problems, Scan):
        check_problems(problems)
    with one_thread():
        if isinstance(problems, Problems) and engine == Local():
            yield InMemory(problems, **settings)
            return
        shards = problems if isinstance(problems, Scan) else Parts(problems)
        with engine.crew(shards) as crew:
            yield Sharded(shards, crew, **settings)
