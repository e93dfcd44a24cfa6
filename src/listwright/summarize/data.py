"""Clusters from whatever a folder holds, and which of them are to train and to test on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from listwright._internal.arrays import Ints
from listwright.errors import InputError
from listwright.text.budget import Budget
from listwright.text.clusters import Cluster
from listwright.text.duc import read_duc
from listwright.text.files import folders_and_files
from listwright.text.readers import read_cluster_folders, read_jsonl

FOLDS = 5
MANY = 200  # clusters past which one fold tells enough
LONG, SHORT = Budget(665, "bytes"), Budget(250, "bytes")
SHORT_REFERENCE = 200  # bytes: references below this on average ask for short summaries

_DUC_SET = re.compile(r"D\d{4,}[A-Z]*(?:-[A-Z])?", re.IGNORECASE)
_PARTS = (re.compile(r"train.*|.*2003.*", re.IGNORECASE), re.compile(r"test.*|.*2004.*", re.IGNORECASE))


def read_clusters(path: str | Path, *, need_references: bool = False) -> list[Cluster]:
    """Clusters below a path: a `.jsonl` or `.jsonl.gz` file; a folder that holds one (the first by name); DUC or TAC
    document sets; or one plain folder a cluster.

    Two folders named `train` and `test`, or for the years 2003 and 2004 (as in the paper), are the two parts.
    """
    place = Path(path)
    if place.is_file():
        return read_jsonl(place, need_references=need_references)
    entries = folders_and_files(place)
    tables = [entry for entry in entries if entry.name.endswith((".jsonl", ".jsonl.gz"))]
    if tables:
        return read_jsonl(tables[0], need_references=need_references)
    folders = [[entry for entry in entries if entry.is_dir() and part.fullmatch(entry.name)] for part in _PARTS]
    if all(len(found) == 1 for found in folders):
        return _two_parts(folders[0][0], folders[1][0], need_references)
    if any(entry.is_dir() and _DUC_SET.fullmatch(entry.name) for entry in (place, *place.rglob("*"))):
        return read_duc(place, need_references=need_references)
    return read_cluster_folders(place, need_references=need_references)


def splits(clusters: Sequence[Cluster]) -> list[tuple[Ints, Ints]]:
    """(train, test) once where clusters say which they are, else five seeded folds in which each is tested once; of
    more than 200 clusters only the first fold is tested.

    >>> from listwright.lab.simulate.corpus import corpus
    >>> [(len(train), len(test)) for train, test in splits(corpus(6))]
    [(4, 2)]
    """
    parts = np.array([cluster.split or "" for cluster in clusters])
    train, test = np.flatnonzero(parts == "train"), np.flatnonzero(parts == "test")
    if len(train) and len(test):
        return [(train, test)]
    if len(clusters) < 2:
        raise InputError(f"To learn and to test takes at least 2 clusters. Got {len(clusters)}.")
    order = np.random.default_rng(0).permutation(len(clusters))
    folds = np.array_split(order, min(FOLDS, len(clusters)))[: 1 if len(clusters) > MANY else FOLDS]
    return [(np.sort(order[~np.isin(order, fold)]), np.sort(fold)) for fold in folds]


def usual_budget(clusters: Sequence[Cluster]) -> Budget:
    """665 bytes, as in DUC 2004; 250 where people's own summaries are shorter than 200 bytes on average.

    >>> from listwright.lab.simulate.corpus import corpus
    >>> str(usual_budget(corpus(2)))
    '665 bytes'
    """
    sizes = [len(reference.encode()) for cluster in clusters for reference in cluster.references]
    return SHORT if sizes and np.mean(sizes) < SHORT_REFERENCE else LONG


def _two_parts(train: Path, test: Path, need_references: bool) -> list[Cluster]:
    parts = (("train", train), ("test", test))
    found = [(name, read_clusters(folder, need_references=need_references)) for name, folder in parts]
    taken = {cluster.id for cluster in found[0][1]} & {cluster.id for cluster in found[1][1]}
    return [
        replace(cluster, split=name, id=f"{name}/{cluster.id}" if cluster.id in taken else cluster.id)
        for name, clusters in found
        for cluster in clusters
    ]
