"""The GPU path: its kernels against plain definitions, and its selections against those of the CPU.

Run with `make test-gpu`; elsewhere everything here is skipped.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.selection.gpu import device
from tests.selection import plain

torch = pytest.importorskip("torch", reason="needs torch (extra gpu), which is not installed")
pytest.importorskip("triton", reason="needs triton (extra gpu), which is not installed")
if not torch.cuda.is_available():
    pytest.skip("needs a CUDA GPU, and PyTorch sees none", allow_module_level=True)


def table(n: int, d: int, seed: int) -> Any:
    return plain.clustered(n, d, seed, clusters=30)


@pytest.mark.parametrize("kind", [device.DOT, device.EUCLIDEAN, device.RBF])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "c", "d"), [(1000, 700, 128), (129, 257, 64), (5, 3, 192), (40_000, 300, 64)])
def test_the_kernel_adds_up_what_the_definition_says(kind: int, weighted: bool, n: int, c: int, d: int) -> None:
    from listwright.selection.gpu.kernels import Kind, falls, lift

    rng = np.random.default_rng(n + c)
    for dtype, rtol in ((torch.float16, 1e-4), (torch.float32, 1e-5)):
        x, y = (torch.from_numpy(0.2 * rng.normal(size=(m, d))).to("cuda", dtype) for m in (n, c))
        on_cpu = [one.double().cpu().numpy() for one in (x, y)]
        squares = [(one**2).sum(axis=1) for one in on_cpu]
        similar = plain.from_products(on_cpu[0] @ on_cpu[1].T, kind, squares[0], squares[1], 100.0, 0.05)
        old = similar.mean(axis=1) + 0.5 * similar.std() * rng.normal(size=n) - similar.std()
        weights = rng.random(n)
        new = old + similar.std() * rng.random(n)
        expected = plain.falls(similar, *plain.limits(old, new, 1e-6), weights if weighted else np.ones(n))

        def gpu(values: Any) -> Any:
            return torch.from_numpy(values).float().cuda()

        how, both = Kind(kind, 100.0, 0.05, 1e-6), (gpu(squares[0]), gpu(squares[1]))
        shares = gpu(weights) if weighted else None
        found = falls(x, y, both, None, gpu(old), gpu(new), shares, how).cpu().numpy()
        assert np.linalg.norm(found - expected) < rtol * np.linalg.norm(expected), dtype
        some = torch.arange(0, n, 2, device="cuda")
        found += falls(x[1::2].contiguous(), y, both, some[: n // 2] + 1, gpu(old), gpu(new), shares, how).cpu().numpy()
        found += falls(x[::2].contiguous(), y, both, some, gpu(old), gpu(new), shares, how).cpu().numpy()
        assert np.linalg.norm(found - 2 * expected) < 2 * rtol * np.linalg.norm(expected), dtype
        lifted, brought = lift(x, y[0], (both[0], both[1][:1]), gpu(old), shares, how)
        np.testing.assert_allclose(lifted.cpu().numpy(), np.maximum(old, similar[:, 0]), rtol=1e-4, atol=1e-4)
        rises = np.maximum(similar[:, 0] - old, 0) * (weights if weighted else 1.0)
        assert float(brought) == pytest.approx(rises.sum(), rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean", "rbf"])
def test_exact_precision_gives_the_picks_of_the_cpu(metric: str) -> None:
    x, y = table(6000, 48, 0), table(900, 48, 1)
    weights, groups = np.random.default_rng(0).random(900), np.arange(6000) % 5
    rules: list[dict[str, Any]] = [
        {},
        {"targets": y, "weights": weights, "given": [3, 70]},
        {"groups": groups, "per_group": 25},
        {"costs": 1.0 + groups, "budget": 90.0},
        {"sample": 1500, "random_state": 0},
        {"neighbors": 20},
    ]
    for rule in rules:
        ours = lw.select(x, 100, metric=metric, device="cuda", precision="exact", **rule)
        cpu = lw.select(x, 100, metric=metric, device="cpu", **rule)
        assert ours.device == torch.cuda.get_device_name()
        if "neighbors" in rule:  # a graph of float32 numbers, on which nothing is measured again
            assert (ours.rows == cpu.rows).mean() > 0.97, (metric, rule)
        else:
            np.testing.assert_array_equal(ours.rows, cpu.rows, err_msg=f"{metric}, {rule}")
        assert ours.value == pytest.approx(cpu.value, rel=1e-5)
        assert ours.ratio == pytest.approx(cpu.ratio, abs=1e-3)


def test_half_precision_is_worth_nearly_as_much() -> None:
    x = table(20_000, 100, 2)
    exact = lw.select(x, 300, device="cuda", precision="exact")
    fast = lw.select(x, 300, device="cuda")
    unit = x.astype(np.float64) / np.linalg.norm(x.astype(np.float64), axis=1, keepdims=True)
    worth = [np.maximum(unit[one.rows] @ unit.T, 0).max(axis=0).sum() for one in (fast, exact)]
    assert worth[0] >= 0.9999 * worth[1]
    assert fast.value == pytest.approx(worth[0], rel=1e-4)


def test_it_is_always_the_same() -> None:
    x = table(30_000, 64, 3)
    first = lw.select(x, 200, device="cuda")
    for _ in range(3):
        again = lw.select(x, 200, device="cuda")
        np.testing.assert_array_equal(first.rows, again.rows)
        np.testing.assert_array_equal(first.gains, again.gains)


@pytest.mark.parametrize("metric", ["cosine", "dot", "rbf"])
def test_log_det_is_that_of_the_cpu(metric: str) -> None:
    x = table(3000, 20, 4)
    for rule in ({}, {"given": [1, 5], "groups": np.arange(3000) % 3, "per_group": 20}):
        ours = lw.select(x, 50, reward="log_det", metric=metric, device="cuda", **rule)
        cpu = lw.select(x, 50, reward="log_det", metric=metric, device="cpu", **rule)
        np.testing.assert_array_equal(ours.rows, cpu.rows)
        np.testing.assert_allclose(ours.gains, cpu.gains, rtol=1e-4)


def test_neighbors_in_half_precision() -> None:
    x = table(8000, 64, 5)
    ours, cpu = lw.select(x, 100, neighbors=30, device="cuda"), lw.select(x, 100, neighbors=30, device="cpu")
    assert ours.value == pytest.approx(cpu.value, rel=1e-3)


def test_tensors_on_the_gpu_and_auto() -> None:
    x = torch.from_numpy(table(2000, 30, 6)).cuda()
    assert lw.select(x, 20).device == "cpu"  # too little work to be worth it
    large = torch.randn(60_000, 256, device="cuda", generator=torch.Generator("cuda").manual_seed(0))
    assert lw.select(large, 5).device == torch.cuda.get_device_name()
    np.testing.assert_array_equal(
        lw.select(x, 20, device="cuda", precision="exact").rows, lw.select(x.cpu().numpy(), 20).rows
    )


MORE: list[dict[str, Any]] = [
    {"reward": "graph_cut"},
    {"reward": "graph_cut", "metric": "rbf", "redundancy": 0.8},
    {"reward": "saturated_coverage", "alpha": 0.05},
    {"reward": "max_min", "metric": "euclidean"},
    {"reward": "disparity_min"},
    {"reward": "disparity_sum"},
    {"reward": "dispersion"},
    {"reward": {"facility_location": 1.0, "graph_cut": 0.5}},
]


@pytest.mark.parametrize("options", MORE, ids=str)
def test_the_other_objectives_are_those_of_the_cpu(options: dict[str, Any]) -> None:
    x, rule = table(2500, 24, 7), {"given": [4], "groups": np.arange(2500) % 3, "per_group": 9}
    for more in ({}, rule):
        ours = lw.select(x, 20, device="cuda", precision="exact", **options, **more)
        cpu = lw.select(x, 20, device="cpu", **options, **more)
        assert ours.device == torch.cuda.get_device_name()
        assert ours.value == pytest.approx(cpu.value, rel=1e-4, abs=1e-4)
        assert (ours.rows == cpu.rows).mean() >= 0.9


def test_exchanges_pay_on_the_gpu() -> None:
    x = table(4000, 16, 8)
    for rule in ({}, {"given": [4], "groups": np.arange(4000) % 3, "per_group": 14}):
        plain_picks = lw.select(x, 40, device="cuda", precision="exact", **rule)
        ours = lw.select(x, 40, device="cuda", precision="exact", refine=True, **rule)
        cpu = lw.select(x, 40, device="cpu", refine=True, **rule)
        assert ours.value == pytest.approx(plain_picks.value + ours.refined, rel=1e-5)
        assert ours.refined >= 0.8 * cpu.refined > 0
