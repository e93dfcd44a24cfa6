"""Selection on a Ray cluster: the picks of GreeDi, what is proved of them, and workers that die."""

from __future__ import annotations

import os
import pickle  # noqa: TID251  (as workers are sent it)
import signal
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.engines import Local, Ray
from listwright.errors import InputError
from listwright.selection import cluster as on_ray
from listwright.selection.cluster import SolvePart
from listwright.selection.facility import FacilityObjective
from tests.selection import plain


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers on this machine."""
    ray = pytest.importorskip("ray", reason="needs ray, which is not installed")
    ray.init(
        num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", logging_level="error", log_to_driver=False
    )
    yield ray
    ray.shutdown()


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts go to a thread of this process, as they would be sent."""
    monkeypatch.setattr(Ray, "connection", lambda self: nullcontext())
    monkeypatch.setattr(Ray, "n_workers", lambda self: 4)
    monkeypatch.setattr(Ray, "pool", lambda self, shards: Local(1).pool(pickle.loads(pickle.dumps(shards))))


@pytest.mark.usefixtures("here")
def test_the_bound_for_these_data_holds() -> None:
    x = plain.clustered(300, 6, 0)
    worth = plain.facility(plain.similarity(x, x, "cosine"))
    exact = lw.select(x, 10)
    for seed in range(5):
        selection = lw.select(x, 10, engine="ray", random_state=seed)
        assert selection.value == pytest.approx(worth(selection.rows.tolist()), rel=1e-5)
        assert selection.value >= 0.97 * exact.value
        assert selection.ratio is not None
        assert selection.ratio * exact.value <= selection.value  # the best is worth no less than the exact greedy
        assert "in expectation (1 - 1/e = 0.632) / 2 = 0.316" in selection.bound


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "options",
    [
        {"given": [1, 200], "groups": np.arange(300) % 3, "per_group": 4},
        {"costs": 1.0 + np.arange(300) % 4, "budget": 20.0},
        {"sample": 120, "metric": "euclidean"},
        {"reward": "log_det"},
        {"targets": plain.clustered(90, 6, 7), "metric": "rbf"},
    ],
    ids=["groups", "costs", "sample", "log det", "targets"],
)
def test_the_same_rules_as_on_one_machine(options: dict[str, Any]) -> None:
    x = plain.clustered(300, 6, 1)
    k = None if "costs" in options else 9
    ours, alone = (lw.select(x, k, engine=engine, random_state=0, **options) for engine in ("ray", "local"))
    assert ours.value >= 0.95 * alone.value
    assert ours.value <= 1.1 * alone.value
    assert len(set(ours.rows.tolist())) == len(ours)
    assert not set(ours.rows.tolist()) & set(options.get("given", []))
    if "groups" in options:
        assert np.bincount(np.concatenate([ours.rows, options["given"]]) % 3).max() <= 4
    if "costs" in options:
        assert options["costs"][ours.rows].sum() <= 20.0
    assert ours.ratio is not None


@pytest.mark.system
def test_a_cluster_and_a_file_that_workers_open(cluster: Any, tmp_path: Path) -> None:
    x = plain.clustered(2000, 16, 2)
    np.save(tmp_path / "x.npy", x)
    alone = lw.select(x, 20)
    heard: list[str] = []
    ours = lw.select(
        tmp_path / "x.npy", 20, engine=Ray(workers=3), random_state=0, progress=lambda *a: heard.append(a[0])
    )
    again = lw.select(x, 20, engine=Ray(workers=3), random_state=0)
    assert ours.rows.tolist() == again.rows.tolist()
    assert ours.value >= 0.98 * alone.value
    assert {"parts", "proof"} <= set(heard)


@pytest.mark.system
def test_a_worker_that_is_killed_is_replaced(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = plain.clustered(1000, 8, 3)
    expected = lw.select(x, 10, engine=Ray(workers=3), random_state=0)
    mark = tmp_path / "died"

    class Deadly(SolvePart):
        def __call__(self, blocks: Any, shard: int) -> Any:
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().__call__(blocks, shard)

    monkeypatch.setattr(on_ray, "SolvePart", Deadly)
    survived = lw.select(x, 10, engine=Ray(workers=3), random_state=0)
    assert mark.exists()
    assert survived.rows.tolist() == expected.rows.tolist()


def test_gains_beside_the_picks() -> None:
    from listwright.selection.similarity import Dots, make_vectors

    x = plain.clustered(60, 5, 4)
    rows = make_vectors(x, "cosine")
    picked, others = np.array([3, 9]), np.array([0, 1, 40])
    found = FacilityObjective(Dots(rows, rows), np.ones(60)).gains_beside(picked, others)
    worth = plain.facility(plain.similarity(x, x, "cosine"))
    np.testing.assert_allclose(found, [worth([3, 9, int(row)]) - worth([3, 9]) for row in others], rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reward": "saturated_coverage"}, "engine='ray' is for facility_location and log_det"),
        ({"neighbors": 5}, "without neighbors="),
        ({"device": "cuda"}, "engine='ray' works on CPUs"),
        ({"engine": "spark"}, "engine must be one of local, ray"),
    ],
)
def test_what_a_cluster_cannot_do(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        lw.select(plain.clustered(30, 4, 0), 3, **{"engine": "ray"} | options)
