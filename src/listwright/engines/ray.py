"""Runs shards on the machines of a Ray cluster."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numba

from listwright._internal.arrays import at_least_one
from listwright._internal.extras import require_extra
from listwright._internal.threads import one_thread
from listwright.engines.base import Done, Engine, ShardCache, Shards, Task, WorkerPool, out_of_memory
from listwright.errors import InputError

RETRIES = 20  # retries per task: a lost node fails several tasks before Ray notices
SECONDS = 5.0  # timeout for an address that does not answer


@dataclass(frozen=True)
class Ray(Engine):
    """Actors of a Ray cluster, each of which owns some shards for the whole fit.

    Use it for data that are too large or too slow for one machine. An actor that dies is replaced and reads its shards
    again, so a fit survives the loss of a node. Needs the extra `ray`, and listwright installed on all nodes.

    Parameters
    ----------
    address : str, optional
        Address of the cluster, as `ray.init` takes it: "auto", "host:6379" or "ray://host:10001". By default the
        cluster that this program is already connected to, or else a new one on this machine.
    workers : int, optional
        Number of actors; by default one per CPU of the cluster.

    Raises
    ------
    MissingExtra
        When workers are started, if Ray is not installed.
    InputError
        When workers are started, if no cluster answers at the address.

    See Also
    --------
    Local : Threads of this machine.

    Examples
    --------
    >>> import listwright as lw
    >>> lw.SCP(length=3, engine=Ray("auto", workers=8)).engine
    Ray(address='auto', workers=8)
    """

    address: str | None = None
    workers: int | None = None

    @contextmanager
    def pool(self, shards: Shards) -> Iterator[WorkerPool]:
        if self.workers is not None:
            at_least_one("workers", self.workers)
        with self.connection():
            pool = Actors(_ray(), shards, min(self.n_workers(), len(shards.shards)))
            try:
                yield pool
            finally:
                pool.dismiss()

    @contextmanager
    def connection(self) -> Iterator[None]:
        """Connect to the cluster and disconnect again; an existing connection is used and kept."""
        ray = _ray()
        if ray.is_initialized():
            yield
            return
        if self.address is not None and self.address not in ("auto", "local"):
            _answers(self.address)
        try:
            ray.init(address=self.address, logging_level=logging.ERROR, log_to_driver=False)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise _unreachable(self.address, error) from None
        try:
            yield
        finally:
            ray.shutdown()

    def n_workers(self) -> int:
        """Return the number of actors, while connected."""
        return self.workers or max(int(_ray().cluster_resources().get("CPU", 1)), 1)

    def about(self) -> str:
        ray = _ray()
        url = ray._private.worker.get_dashboard_url()
        where = f"at http://{url}" if url else 'not running (it comes with: pip install "ray[default]")'
        nodes = sum(node["Alive"] for node in ray.nodes())
        return f"Ray: {nodes} node{'' if nodes == 1 else 's'}; the dashboard is {where}."


class Actors(WorkerPool):
    def __init__(self, ray: Any, shards: Shards, n_workers: int) -> None:
        self.ray, self.shards = ray, shards
        options = {"max_restarts": -1, "max_task_retries": RETRIES, "scheduling_strategy": "SPREAD"}
        kind = ray.remote(**options)(Worker)
        self.shared = ray.put(shards)  # sent once, and read again by workers that replace others
        self.actors = [kind.remote(self.shared) for _ in range(n_workers)]
        self.owners: dict[int, int] = {}

    def each(self, task: Task, shards: Sequence[int], done: Done | None = None) -> Iterator[Any]:
        """Yield the results in order. The task, with its policy, is sent once and shared by all workers."""
        shared = self.ray.put(task)
        for shard in shards:  # dealt out in the order in which they are first used
            self.owners.setdefault(shard, len(self.owners) % len(self.actors))
        running = {shard: self.actors[self.owners[shard]].do.remote(shared, shard) for shard in shards}
        waiting = list(running.values())
        for shard in shards:
            while running[shard] in waiting:
                finished, waiting = self.ray.wait(waiting)
                for _ in finished if done is not None else ():
                    done()  # type: ignore[misc]
            yield self._result(shard, running.pop(shard))

    def dismiss(self) -> None:
        for actor in self.actors:
            self.ray.kill(actor)

    def _result(self, shard: int, reference: Any) -> Any:
        errors = self.ray.exceptions
        try:
            return self.ray.get(reference)
        except errors.OutOfMemoryError as error:
            raise out_of_memory(self.shards, shard) from error
        except errors.RayActorError as error:
            raise InputError(
                f"The worker of {self.shards.shards[shard]} died {RETRIES + 1} times. If its memory ran out, lower "
                "max_memory, start fewer workers on a machine, or write files with smaller row groups."
            ) from error
        except errors.RayTaskError as error:
            cause = error.cause
            raise (cause if isinstance(cause, InputError) else error) from None


class Worker:
    def __init__(self, shards: Shards) -> None:
        self.cache = ShardCache(shards, max(shards.max_memory - shards.block_bytes, 0))

    def do(self, task: Task, shard: int) -> Any:
        numba.set_num_threads(1)
        with one_thread():
            return self.cache.do(task, shard)


def _ray() -> Any:
    return require_extra("ray", "The 'ray' engine is not installed.", extra="ray")


def _answers(address: str) -> None:
    """Raise `InputError` if nothing listens at the address. Ray itself would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=SECONDS).close()
    except (OSError, ValueError) as error:
        raise _unreachable(address, error) from None


def _unreachable(address: str | None, error: Exception) -> InputError:
    reason = str(error).partition("\n")[0].rstrip(".")
    return InputError(
        f"There is no Ray cluster at {address or 'this machine'}: {reason}. Check the address, or start one with: "
        "ray start --head"
    )
