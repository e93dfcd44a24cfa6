"""The trajectory data and the motion-path libraries."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from listwright.datasets import read_motion_paths, read_trajectory
from listwright.errors import InputError
from listwright.experiments import trajectory as experiment

TEXTS = {"train": "traj_train.txt", "valid": "traj_crossvalidate.txt", "test": "traj_test.txt"}


def tiny_trajectories(sizes: dict[str, int]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    arrays: dict[str, np.ndarray] = {}
    for name, n in sizes.items():
        features = (rng.integers(0, 100, (n, 4, 17)) / 100).astype(np.float32)
        features[:, :, 12:16] = features[:, :1, 12:16]
        arrays |= {f"X_{name}": features, f"y_{name}": np.eye(4, dtype=np.uint8)[rng.integers(0, 4, n)]}
        arrays[f"env_{name}"] = np.arange(1, n + 1) + (sizes["train"] if name == "valid" else 0)
    return arrays


@pytest.fixture
def arrays() -> dict[str, np.ndarray]:
    return tiny_trajectories({"train": 3, "valid": 2, "test": 2})


def test_trajectories_from_an_archive(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    np.savez(tmp_path / "scp_trajectory.npz", **arrays)
    train, test = read_trajectory(tmp_path)
    assert train.problem_ids.tolist() == ["train-1", "train-2", "train-3", "train-4", "train-5"]
    assert test.problem_ids.tolist() == ["test-1", "test-2"]
    np.testing.assert_array_equal(train.features[:12].reshape(3, 4, 17), arrays["X_train"])
    assert test.context is not None
    np.testing.assert_array_equal(test.context, arrays["X_test"][:, 2, 12:16])
    assert test.reward.tables["success"].values.tolist() == arrays["y_test"].ravel().tolist()
    assert test.catalogue is not None
    assert test.catalogue.tolist() == [0, 1, 2, 3] * 2


def test_trajectories_as_published_are_the_same(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    np.savez(tmp_path / "scp_trajectory.npz", **arrays)
    folder = tmp_path / "source"
    folder.mkdir()
    for name, file in TEXTS.items():
        (folder / file).write_text(published(arrays, name))
    for mine, other in zip(read_trajectory(tmp_path / "scp_trajectory.npz"), read_trajectory(folder), strict=True):
        np.testing.assert_array_equal(mine.features, other.features)
        assert mine.problem_ids.tolist() == other.problem_ids.tolist()
        assert mine.reward.tables["success"].values.tolist() == other.reward.tables["success"].values.tolist()
    assert len(experiment.problems(folder)[0]) == len(experiment.problems(tmp_path)[0]) == 5  # what reproduce takes


def test_zeros_may_be_left_out_and_lines_may_end_as_on_windows(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    arrays = {
        name: np.where(value < 0.3, 0, value) if name.startswith("X") else value for name, value in arrays.items()
    }
    np.savez(tmp_path / "scp_trajectory.npz", **arrays)
    folder = tmp_path / "source"
    folder.mkdir()
    for name, file in TEXTS.items():
        text = re.sub(r"(?<= )(?!1:|17:)\d+:0\.000000 ", "", published(arrays, name)).replace("\n", "\r\n")
        (folder / file).write_bytes(b"\xef\xbb\xbf" + text.encode())
    for mine, other in zip(read_trajectory(tmp_path / "scp_trajectory.npz"), read_trajectory(folder), strict=True):
        np.testing.assert_allclose(mine.features, other.features, atol=1e-6)


def published(arrays: dict[str, np.ndarray], name: str) -> str:
    """Lines as in the source; a blank line between environments."""
    blocks = []
    for features, labels, environment in zip(*(arrays[f"{kind}_{name}"] for kind in ("X", "y", "env")), strict=True):
        rows = [" ".join(f"{i}:{v:.6f}" for i, v in enumerate(row, start=1)) for row in features]
        blocks.append("\n".join(f"{y} 1 1 {environment}|qf {r} |sf  {r}" for y, r in zip(labels, rows, strict=True)))
    return "\n\n".join(blocks) + "\n"


def test_bad_trajectories_are_named(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    with pytest.raises(InputError, match=r"trajectory data is not there: .*nothing"):
        read_trajectory(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"traj_train.txt"):
        read_trajectory(tmp_path)
    (tmp_path / "traj_train.txt").write_text(published(arrays, "train").replace("0 1 1 3|", "0 1 1 4|", 1))
    with pytest.raises(InputError, match="as many seeds in each environment"):
        read_trajectory(tmp_path)
    del arrays["y_test"]
    np.savez(tmp_path / "some.npz", **arrays)
    with pytest.raises(InputError, match=r"some.npz lacks y_test"):
        read_trajectory(tmp_path / "some.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(InputError, match=r"Cannot read .*text.npz"):
        read_trajectory(tmp_path / "text.npz")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Four worlds, three paths of which two are candidates, ten edges of which two are probed."""
    edges = np.zeros((4, 10), dtype=np.uint8)
    edges[:, 9] = [1, 0, 1, 1]
    edges[2, 1] = 1
    path = tmp_path / "tiny.npz"
    np.savez(
        path,
        success=np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]], dtype=np.uint8),
        train_id=np.array([3, 0], dtype=np.int32),
        test_id=np.array([1, 2], dtype=np.int32),
        seed30=np.array([2, 0], dtype=np.int32),
        seed30_features=np.arange(4 * 2 * 17).reshape(4, 2, 17).astype(np.float16),
        edge_valid_packed=np.packbits(edges, axis=1),
        n_edges=np.int32(10),
        probe_edges=np.array([9, 1], dtype=np.int32),
    )
    return path


def test_motion_paths(library: Path) -> None:
    train, test = read_motion_paths(library, context="probes")
    assert train.problem_ids.tolist() == [3, 0]
    assert test.problem_ids.tolist() == [2]  # in world 1 only path 1 is free, which is no candidate
    assert train.item_ids is not None
    assert train.item_ids.tolist() == [2, 0, 2, 0]
    assert train.reward.tables["success"].values.tolist() == [0, 1, 0, 1]
    assert test.features[1, 0] == 2 * 34 + 17
    assert train.context is not None
    assert test.context is not None
    assert train.context.tolist() == [[1, 0], [1, 0]]
    assert test.context.tolist() == [[1, 1]]
    assert read_motion_paths(library).train.context is None


def test_bad_motion_paths_are_named(library: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'context must be "probes" or None'):
        read_motion_paths(library, context="all")  # type: ignore[arg-type]
    with np.load(library) as arrays:
        np.savez(tmp_path / "less.npz", **{name: arrays[name] for name in arrays.files if name != "probe_edges"})
    assert len(read_motion_paths(tmp_path / "less.npz").train) == 2
    with pytest.raises(InputError, match=r"less.npz lacks probe_edges"):
        read_motion_paths(tmp_path / "less.npz", context="probes")
