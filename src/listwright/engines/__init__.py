"""Engines: where work on many shards runs, on the threads of this machine or on a Ray cluster.

An engine runs tasks and knows nothing of models. Estimators accept `engine="local"`, `engine="ray"` or an object such
as `engine=Ray("host:6379")`.
"""

from typing import Any

from listwright.engines.base import Engine, Local, WorkerPool
from listwright.engines.ray import Ray
from listwright.errors import InputError

__all__ = ["Engine", "Local", "Ray", "WorkerPool", "as_engine"]

ENGINES: dict[str, type[Engine]] = {"local": Local, "ray": Ray}


def as_engine(engine: Any) -> Engine:
    if isinstance(engine, str) and engine in ENGINES:
        return ENGINES[engine]()
    if isinstance(engine, Engine):
        return engine
    raise InputError(f"engine must be one of {', '.join(ENGINES)}, or come from listwright.engines. Got {engine!r}.")
