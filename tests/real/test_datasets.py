"""The readers of published data sets find what their authors say is in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet as pq
from scipy.io import savemat

import listwright as lw
from listwright.datasets import read_arguments, read_motion_paths, read_movies, read_questions, read_trajectory
from listwright.datasets._convert import convert_motion_paths
from listwright.experiments import trajectory
from listwright.text.corpora import read_clusters, splits, usual_budget
from listwright.text.readers import read_jsonl


def test_arguments(shared_data: Path) -> None:
    arguments = read_arguments(shared_data / "argkp" / "argkp2021.jsonl.gz")
    problems = arguments.problems
    assert [int((arguments.split == split).sum()) for split in ("train", "dev", "test")] == [48, 8, 6]
    assert round(problems.counts.mean()) == 117
    matched = problems.reward.tables["touched"].values > 0
    assert round(float(matched.mean()), 2) == 0.72
    key_points = np.diff(problems.reward.tables["weights"].offsets)
    assert round(float(key_points.mean()), 1) == 4.5


def test_questions(shared_data: Path) -> None:
    problems = read_questions(shared_data / "multihop_qa" / "hotpotqa200.jsonl.gz")
    assert len(problems) == 200
    assert (problems.counts == 10).sum() == 199  # one question of the file has two paragraphs
    assert lw.greedy(problems, length=2).values is not None
    np.testing.assert_allclose(lw.greedy(problems, length=2).values, 1.0)
    assert problems.links is not None
    mentioned = problems.links["mentioned_in"].sum() / 200
    assert round(mentioned) == 7
    assert problems.links["mentions"].sum() / 200 == mentioned


def test_movies(shared_data: Path) -> None:
    folder = shared_data / "movietweetings100k"
    movies = read_movies(folder, reward="liked")
    ratings = pq.read_table(folder / "ratings.parquet")
    users = np.bincount(ratings.column("user").to_numpy())
    assert (users >= 10).sum() == 2583
    assert len(movies.problems) == 2464  # the others like none of their later movies
    assert len(movies.genres) == 25
    assert movies.problems.counts.min() == 5
    best = lw.greedy(read_movies(folder).problems, length=5).values
    assert best is not None
    assert 0.9 < best.mean() < 1


def test_trajectories(shared_data: Path) -> None:
    train, test = read_trajectory(shared_data / "scp_trajectory")
    assert (len(train), len(test)) == (310, 212)
    assert (train.counts == 30).all()
    assert train.n_features == test.n_features == 17
    means = [problems.reward.tables["success"].values.mean() for problems in (train, test)]
    assert means == pytest.approx([0.333, 0.3085], abs=1e-4)


def test_the_papers_data_is_as_the_paper_says(shared_data: Path) -> None:
    train, test = trajectory.problems(shared_data)
    assert (len(train), len(test), train.n_features, int(train.counts[0])) == (310, 212, 17, 30)


WORLDS = {  # training and test worlds that one of the thirty paths solves; probed edges
    "2d_1": (666, 90, 60),
    "2d_2": (844, 98, 205),
    "heli_terrain_1": (795, 99, 1211),
    "herb_1": (599, 96, 1639),
    "xyh_1": (814, 89, 729),
}


@pytest.mark.parametrize("name", WORLDS)
def test_motion_paths(shared_data: Path, name: str) -> None:
    train, test = read_motion_paths(shared_data / "motion_paths" / f"{name}.npz", context="probes")
    assert train.context is not None
    assert (len(train), len(test), train.context.shape[1]) == WORLDS[name]
    assert (train.counts == 30).all()
    assert train.n_features == 17
    assert (train.reward.tables["success"].values.reshape(-1, 30).max(axis=1) == 1).all()
    assert not set(train.problem_ids.tolist()) & set(test.problem_ids.tolist())


@pytest.mark.parametrize("name", ["2d_1", "xyh_1"])
def test_motion_paths_are_made_of_what_is_published(shared_data: Path, tmp_path: Path, name: str) -> None:
    """From the published arrays, written in the published form, come the same probes, paths and features."""
    raw, made = tmp_path / "raw" / name, tmp_path / "made"
    raw.mkdir(parents=True)
    made.mkdir()
    with np.load(shared_data / "motion_paths" / f"{name}.npz") as arrays:
        known = dict(arrays)
    ends = enumerate(zip(known["edges"] + 1, known["edge_length"], strict=True), start=1)
    graph = [f"{i} {start} {end} {length:.6f}" for i, ((start, end), length) in ends]
    head = [f"NumVertices: {known['edges'].max() + 1}", f"NumEdges: {known['n_edges']}"]
    paths = [path[path >= 0] + 1 for path in known["path_vertices"]]
    texts = {
        "graph.txt": "".join(f"{line}\n" for line in [*head, *graph]),
        "path_library.dat": "".join(f"{' '.join(map(str, path))} \n" for path in paths),
        "world_library_assignment.dat": "".join(f"{','.join(map(str, row))}\n" for row in known["success"].tolist()),
    }
    for file, text in texts.items():
        (raw / file).write_text(text)
    valid = np.unpackbits(known["edge_valid_packed"], axis=1)[:, : int(known["n_edges"])]
    savemat(raw / "coll_check_results.mat", {"coll_check_results": valid})
    for part in ("train_id", "test_id"):
        savemat(raw / f"{part}.mat", {part: known[part] + 1.0})
    convert_motion_paths(raw.parent, made)
    with np.load(made / f"{name}.npz") as arrays:
        assert set(arrays.files) < set(known)
        for field in arrays.files:
            np.testing.assert_array_equal(arrays[field], known[field], strict=True)


def test_scisumm_has_its_official_parts(shared_data: Path) -> None:
    clusters = read_clusters(shared_data / "scisumm", need_references=True)
    ((train, test),) = splits(clusters)
    assert (len(train), len(test)) == (40, 20)
    assert usual_budget(clusters).amount == 665


@pytest.mark.parametrize(
    ("name", "n_clusters", "n_references"),
    [("scisumm/scisumm2018.jsonl.gz", 60, {2, 3, 4, 5}), ("opinosis/opinosis.jsonl.gz", 51, {3, 4, 5})],
)
def test_clusters(shared_data: Path, name: str, n_clusters: int, n_references: set[int]) -> None:
    clusters = read_jsonl(shared_data / name, need_references=True)
    assert len(clusters) == n_clusters
    assert {len(cluster.references) for cluster in clusters} == n_references
