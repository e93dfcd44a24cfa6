"""Streamed fits on a Ray cluster of three nodes: the same model as here, whatever dies."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import listwright as lw
import listwright.engines.ray as on_ray
from listwright.engines import Engine, Local, Ray, WorkerPool
from listwright.errors import InputError, MissingExtra
from listwright.tables import Scan
from tests.scan_tools import scanned, table, weights

pytestmark = pytest.mark.system

QUICK = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 2}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Scan:
    return scanned(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def local(data: Scan) -> lw.SCP:
    return lw.SCP(length=2, n_passes=2, effort="fast", random_state=0).fit(data)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Three nodes on this machine, and a connection to them."""
    ray = pytest.importorskip("ray", reason="needs ray, which is not installed")
    from ray.cluster_utils import Cluster

    nodes = {"num_cpus": 1, "include_dashboard": False}
    found = Cluster(initialize_head=True, head_node_args=nodes | {"_system_config": QUICK})
    try:
        found.others = [found.add_node(num_cpus=1) for _ in range(2)]
        ray.init(address=found.address, logging_level="error", log_to_driver=False)
        yield found
    finally:
        ray.shutdown()
        found.shutdown()


@dataclass(frozen=True)
class Same(Engine):
    """A pool that is there already: workers take seconds to start."""

    open_pool: Any

    def __deepcopy__(self, memo: Any) -> "Same":
        return self  # as settings that are cloned

    @contextmanager
    def pool(self, scan: Scan) -> Iterator[WorkerPool]:
        yield self.open_pool


@pytest.fixture(scope="module")
def three(cluster: Any, data: Scan) -> Iterator[Same]:
    """Three workers, one per node."""
    with Ray().pool(data) as pool:
        yield Same(pool)


def fit(data: Scan, engine: Engine, **options: Any) -> lw.SCP:
    return lw.SCP(length=2, n_passes=2, effort="fast", random_state=0, engine=engine).fit(data, **options)


def test_the_model_is_the_local_one_on_one_worker(cluster: Any, data: Scan, local: lw.SCP) -> None:
    model = fit(data, Ray(workers=1))
    assert np.abs(weights(model) - weights(local)).max() <= 1e-9
    assert model.online_certificate() == local.online_certificate()
    assert "3 nodes" in Ray().about()


def test_the_model_is_the_local_one_on_three_workers(three: Same, data: Scan, local: lw.SCP, tmp_path: Path) -> None:
    heard = []
    model = fit(
        data, three, progress=lambda what, done, total: heard.append((done, total)) if what == "shards" else None
    )
    assert len(three.open_pool.actors) == 3
    assert np.abs(weights(model) - weights(local)).max() <= 1e-9
    assert heard == [(done, 3 * len(data.shards)) for done in range(1, 3 * len(data.shards) + 1)]
    model.predict(data).to_parquet(tmp_path / "on_ray.parquet")
    local.predict(data).to_parquet(tmp_path / "local.parquet")
    assert (tmp_path / "on_ray.parquet").read_bytes() == (tmp_path / "local.parquet").read_bytes()
    assert lw.evaluate(model, data).metrics == lw.evaluate(local, data).metrics


def test_the_command_line_takes_the_cluster(
    cluster: Any, data: Scan, local: lw.SCP, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("typer")
    from listwright.cli import main

    files = sorted({piece.path for shard in data.shards for piece in shard.pieces})
    settings = ["--reward", "any:clicked", "--ignore", "grade", "--length", "2", "--passes", "1"]
    with pytest.raises(SystemExit) as ended:
        main(["fit", *files, *settings, "--engine", "ray", "--address", cluster.address, "-o", str(tmp_path / "model")])
    assert not ended.value.code
    assert "Ray: 3 nodes; the dashboard is" in capsys.readouterr().out
    assert lw.load(tmp_path / "model").n_rounds_ == 300


def test_what_goes_wrong_on_a_worker_is_told_as_it_is(three: Same) -> None:
    def vanished(blocks: Any, shard: int) -> None:
        raise InputError(f"There is no file part{shard}.parquet.")

    with pytest.raises(InputError, match=r"^There is no file part3.parquet.$"):
        list(three.open_pool.each(vanished, [3]))
    with pytest.raises(ZeroDivisionError):
        list(three.open_pool.each(lambda blocks, shard: 1 // shard, [0]))


def test_problems_in_memory_are_shared_out(cluster: Any) -> None:
    problems = lw.Problems.from_frame(table(80), reward="any:clicked", ignore=["grade"])
    settings = {"length": 2, "n_passes": 2, "random_state": 0}
    here, there = (lw.SCP(**settings, engine=engine).fit(problems) for engine in (Local(1), Ray(workers=2)))
    assert np.array_equal(weights(here), weights(there))


def test_a_worker_that_dies_is_replaced(three: Same, data: Scan, tmp_path: Path) -> None:
    def once(blocks: Any, shard: int) -> tuple[int, int]:
        total = sum(block.n_rows for block in blocks)
        mark = tmp_path / "died"
        if shard == 3 and not mark.exists():
            mark.touch()
            os._exit(1)
        return shard, total

    found = list(three.open_pool.each(once, [0, 3, 5]))
    assert (tmp_path / "died").exists()
    assert found == [(shard, data.shards[shard].n_rows) for shard in (0, 3, 5)]


def test_a_worker_that_always_dies_is_reported(cluster: Any, data: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_ray, "RETRIES", 0)

    def deadly(blocks: Any, shard: int) -> None:
        os._exit(1)

    with (
        Ray(workers=1).pool(data) as pool,
        pytest.raises(InputError, match=r"worker of shard 2 \(.*died 1 times.* lower max_memory"),
    ):
        list(pool.each(deadly, [2]))


class Broken(Exception):
    """What ends a fit in the middle."""


def test_a_node_that_is_killed_and_a_fit_that_is_broken_off_change_nothing(
    cluster: Any, three: Same, data: Scan, local: lw.SCP, tmp_path: Path
) -> None:
    path = tmp_path / "checkpoint.listwright"

    def kill_then_stop(what: str, done: int, total: int) -> None:
        if what != "shards":
            return
        if done == total // 2:
            cluster.remove_node(cluster.others.pop(), allow_graceful=False)
        if done == total - 2:
            raise Broken

    with pytest.raises(Broken):
        fit(data, three, progress=kill_then_stop, checkpoint=path)
    assert len(cluster.others) == 1
    assert 300 < lw.load(path).n_rounds_ < 600
    model = fit(data, three, checkpoint=path, resume=True)
    assert np.abs(weights(model) - weights(local)).max() <= 1e-9


def test_an_address_that_does_not_answer_is_named(data: Scan) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    for one in (address, f"ray://{address}", "nowhere"):
        with pytest.raises(InputError, match=rf"There is no Ray cluster at {one}: .*ray start --head"):
            on_ray._answers(one)


def test_without_ray_the_extra_is_named(data: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r'not installed. Run: pip install "listwright\[ray\]"'):
        lw.SCP(length=2, engine="ray", effort="fast").fit(data)
