"""Reads clusters of documents, and decides which of them are for training and which for testing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from listwright._internal.arrays import Ints
from listwright.errors import InputError
from listwright.text.budget import Budget
from listwright.text.clusters import Cluster
from listwright.text.duc import Paths, duc_years, is_duc, join_numbers, read_duc
from listwright.text.readers import folders_and_files, read_cluster_folders, read_jsonl

FOLDS = 5
MANY = 200  # with more clusters than this, one fold suffices
LONG, SHORT = Budget(665, "bytes"), Budget(250, "bytes")
SHORT_REFERENCE = 200  # bytes: with shorter references on average, summaries are short

PAPER_YEARS = (2003, 2004)  # years of DUC that the paper trains and tests on
CLUSTERS = {(2003, 2): 30, (2004, 2): 50}  # number of clusters by year and task
REFERENCES = 4  # references per cluster of these
_PARTS = (re.compile(r"train.*|.*2003.*", re.IGNORECASE), re.compile(r"test.*|.*2004.*", re.IGNORECASE))


def read_clusters(path: str | Path, *, task: int | None = None, need_references: bool = False) -> list[Cluster]:
    # DUC sets of 2003 and 2004 become the two parts that the paper trains and tests on; sets of other years must be
    # read separately.
    place = Path(path)
    if place.is_file():
        return read_jsonl(place, need_references=need_references)
    entries = folders_and_files(place)
    tables = [entry for entry in entries if entry.name.endswith((".jsonl", ".jsonl.gz"))]
    if tables:
        return read_jsonl(tables[0], need_references=need_references)
    if is_duc(place):
        return _read_duc_years(place, task, need_references)
    folders = [[entry for entry in entries if entry.is_dir() and part.fullmatch(entry.name)] for part in _PARTS]
    if all(len(matches) == 1 for matches in folders):
        return read_parts(folders[0][0], folders[1][0], need_references=need_references)
    return read_cluster_folders(place, need_references=need_references)


def read_parts(train: Paths, test: Paths, *, task: int | None = None, need_references: bool = True) -> list[Cluster]:
    named = (("train", train), ("test", test))
    return _join_parts({name: _read_part(paths, name, task, need_references) for name, paths in named})


def shortfalls(clusters: Sequence[Cluster], year: int | None, task: int | None) -> list[str]:
    """Return what is missing from the clusters of a year and task of DUC, as sentences; nothing for other data."""
    wanted = CLUSTERS.get((year or 0, task or 0))
    if wanted is None:
        return []
    counted = f"{len(clusters)} {'was' if len(clusters) == 1 else 'were'} found"
    counts = [f"DUC {year} task {task} has {wanted} clusters, and {counted}."] if len(clusters) != wanted else []
    return counts + [
        f"{cluster.id} has {len(cluster.references)} {'summary' if len(cluster.references) == 1 else 'summaries'} "
        f"by people instead of {REFERENCES}."
        for cluster in clusters
        if len(cluster.references) != REFERENCES
    ]


def splits(clusters: Sequence[Cluster]) -> list[tuple[Ints, Ints]]:
    """Return (train, test) index pairs: one if the clusters say which they are, else five seeded folds."""
    parts = np.array([cluster.split or "" for cluster in clusters])
    train, test = np.flatnonzero(parts == "train"), np.flatnonzero(parts == "test")
    if len(train) and len(test):
        return [(train, test)]
    if len(clusters) < 2:
        raise InputError(f"Training and testing need at least 2 clusters. Got {len(clusters)}.")
    order = np.random.default_rng(0).permutation(len(clusters))
    folds = np.array_split(order, min(FOLDS, len(clusters)))[: 1 if len(clusters) > MANY else FOLDS]
    return [(np.sort(order[~np.isin(order, fold)]), np.sort(fold)) for fold in folds]


def usual_budget(clusters: Sequence[Cluster]) -> Budget:
    """Return 665 bytes, as in DUC 2004, or 250 if the reference summaries are shorter than 200 bytes on average."""
    sizes = [len(reference.encode()) for cluster in clusters for reference in cluster.references]
    return SHORT if sizes and np.mean(sizes) < SHORT_REFERENCE else LONG


def _read_duc_years(place: Path, task: int | None, need_references: bool) -> list[Cluster]:
    years = duc_years(place)
    if len(years) < 2:
        return read_duc(place, task=task, need_references=need_references)
    if tuple(years) != PAPER_YEARS:
        raise InputError(
            f"{place} holds DUC data of {join_numbers(years)}. Name the folders of one each with train= and test=."
        )
    read = (read_duc(place, year=year, task=task, need_references=need_references) for year in years)
    return _join_parts(dict(zip(("train", "test"), read, strict=True)))


def _read_part(paths: Paths, name: str, task: int | None, need_references: bool) -> list[Cluster]:
    places = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    if not places:
        raise InputError(f"Name at least one file or folder of clusters to {name} on with {name}=.")
    if len(places) == 1 and not (places[0].is_dir() and is_duc(places[0])):
        return read_clusters(places[0], task=task, need_references=need_references)
    return read_duc(places, task=task, need_references=need_references)


def _join_parts(parts: Mapping[str, Sequence[Cluster]]) -> list[Cluster]:
    """Return the clusters of both parts; ids that occur in both are prefixed with the part."""
    train, test = ({cluster.id: cluster for cluster in part} for part in parts.values())
    for name in sorted(train.keys() & test.keys()):
        if train[name].sentences == test[name].sentences:
            raise InputError(f"Cluster {name!r} is in both the training and the test data. Remove it from one.")
    taken = train.keys() & test.keys()
    return [
        replace(cluster, split=name, id=f"{name}/{cluster.id}" if cluster.id in taken else cluster.id)
        for name, clusters in parts.items()
        for cluster in clusters
    ]
