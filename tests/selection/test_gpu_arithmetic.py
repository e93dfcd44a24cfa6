"""What the GPU kernel adds up, by plain definitions on any machine; and what is told where there is no GPU."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError, MissingExtra
from listwright.selection.gpu import device
from tests.selection import plain


def test_a_capped_rise_is_the_difference_of_two_rises() -> None:
    rng = np.random.default_rng(0)
    similar, old = rng.normal(size=(50, 30)), rng.random(50)
    new = old + rng.random(50)
    low, most = plain.limits(old, new, 0.0)
    expected = np.maximum(similar - old[:, None], 0).sum(axis=0) - np.maximum(similar - new[:, None], 0).sum(axis=0)
    np.testing.assert_allclose(plain.falls(similar, low, most, np.ones(50)), expected)


def test_falls_from_mark_to_mark_add_up_also_with_noise() -> None:
    rng = np.random.default_rng(1)
    similar, weights = rng.normal(size=(50, 30)), rng.random(50)
    levels = np.sort(rng.random((5, 50)), axis=0)
    whole = plain.falls(similar, *plain.limits(levels[0], levels[-1], 0.01), weights)
    steps = [plain.falls(similar, *plain.limits(levels[i], levels[i + 1], 0.01), weights) for i in range(4)]
    np.testing.assert_allclose(np.sum(steps, axis=0), whole)
    gains = plain.falls(similar, *plain.limits(levels[0], np.full(50, np.inf), 0.01), weights)
    left = plain.falls(similar, *plain.limits(levels[-1], np.full(50, np.inf), 0.01), weights)
    np.testing.assert_allclose(gains - left, whole)


def test_similarities_from_dot_products() -> None:
    x, y = plain.clustered(20, 5, 0).astype(float), plain.clustered(9, 5, 1).astype(float)
    squares = (x**2).sum(axis=1), (y**2).sum(axis=1)
    squared = ((x[:, None] - y) ** 2).sum(axis=2)
    for kind, expected in (
        (device.DOT, x @ y.T),
        (device.EUCLIDEAN, 100 - squared),
        (device.RBF, np.exp(-0.1 * squared)),
    ):
        np.testing.assert_allclose(plain.from_products(x @ y.T, kind, *squares, 100.0, 0.1), expected)


@pytest.mark.parametrize("n", [1, 127, 128, 129, 5000, 1_000_000])
@pytest.mark.parametrize("c", [1, 256, 257, 60_000, 1_000_000])
def test_the_parts_hold_every_tile_once(n: int, c: int) -> None:
    parts, each = device.parts_of(n, c)
    tiles = -(-n // device.ROWS)
    assert (parts - 1) * each < tiles <= parts * each
    assert parts * -(-c // device.CANDIDATES) < 4 * device.PROGRAMS + c // device.CANDIDATES


def test_cuda_that_is_not_there_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    x = plain.clustered(30, 4, 0)
    if find_spec("torch") is None:
        with pytest.raises(MissingExtra, match=r'needs torch. Run: pip install "listwright\[gpu\]"'):
            lw.select(x, 3, device="cuda")

    class Torch:
        class cuda:
            @staticmethod
            def is_available() -> bool:
                return False

    monkeypatch.setattr(device, "PACKAGES", ())
    monkeypatch.setattr(device, "load_torch", lambda: Torch)
    with pytest.raises(InputError, match=r"PyTorch sees no CUDA GPU\. Install the NVIDIA driver"):
        lw.select(x, 3, device="cuda")
    monkeypatch.setattr(device, "WORTH_IT", 0.0)
    assert lw.select(x, 3).device == "cpu"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "gpu"}, "device must be one of auto, cpu, cuda"),
        ({"precision": "double"}, "precision must be fast or exact"),
        ({"device": "cuda", "reward": "feature_based"}, "runs on the CPU alone"),
    ],
)
def test_what_a_device_cannot_do(options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("listwright.selection.spec.wants_gpu", device.wants_gpu)
    monkeypatch.setattr(device, "PACKAGES", ())
    monkeypatch.setattr(device, "_has_cuda", lambda name: True)
    with pytest.raises(InputError, match=message):
        lw.select(plain.clustered(30, 4, 0), 3, **options)


def test_nothing_of_the_extra_is_imported_without_use() -> None:
    code = "import sys, numpy, listwright as lw; lw.select(numpy.eye(4), 2); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
