"""Summaries of text files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from listwright.errors import InputError
from listwright.estimators.base import ListEstimator
from listwright.summarize.model import shipped_model
from listwright.summarize.problems import room_of, summary_problems
from listwright.summarize.reasons import Reasons, explained_lists
from listwright.text.budget import Budget
from listwright.text.clusters import Cluster
from listwright.text.files import folders_and_files, read_text
from listwright.text.readers import read_cluster_folder, read_cluster_folders
from listwright.text.sentences import split_sentences


@dataclass(frozen=True)
class Sentence:
    """A sentence of a summary, where it is from, and why it was taken."""

    text: str
    document: str
    position: int  # in its document, from 1
    reasons: Reasons | None


@dataclass(frozen=True)
class Summary:
    """The summary of one cluster."""

    cluster: str
    sentences: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        """The sentences, in the order picked."""
        return " ".join(sentence.text for sentence in self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON takes them."""
        return asdict(self) | {"summary": self.text}


def clusters_of(paths: Sequence[str | Path]) -> list[Cluster]:
    """What to summarise: a folder of text files is one cluster, a folder of such folders one each, and text files named
    one by one are a cluster together.
    """
    places = [Path(path) for path in paths]
    missing = [place for place in places if not place.exists()]
    if missing or not places:
        raise InputError(f"There is no file or folder {missing[0]}." if missing else "Name a file or folder.")
    files = [place for place in places if not place.is_dir()]
    found = [_of_files(files)] if files else []
    for folder in places:
        if folder.is_dir():
            found += _of_folder(folder)
    return _with_own_names(found)


def summarize(
    clusters: Sequence[Cluster], budget: Budget, *, model: ListEstimator | None = None, explain: bool = False
) -> list[Summary]:
    """A summary of each cluster within the budget, by the shipped model where none is given.

    What no longer fits is skipped, until nothing fits.

    Examples
    --------
    >>> from listwright.lab.simulate.corpus import corpus
    >>> (summary,) = summarize(corpus(1), Budget(120, "bytes"))
    >>> len(summary.text.encode()) <= 120
    True
    """
    model = shipped_model() if model is None else model
    problems = summary_problems([_without_references(cluster) for cluster in clusters], unit=budget.unit)
    room = room_of(budget)
    assert problems.sizes is not None
    for index, cluster in enumerate(clusters):
        least = problems.sizes[problems.offsets[index] : problems.offsets[index + 1]].min()
        if least > room:
            shortest = int(least) - (room - budget.amount)
            raise InputError(
                f"No sentence of {cluster.id} fits {budget}: the shortest takes {shortest}. Raise the budget."
            )
    if not explain:
        lists = list(model.predict(problems, budget=room))
        return [_summary(cluster, items.tolist(), None) for cluster, items in zip(clusters, lists, strict=True)]
    items_of, reasons_of = explained_lists(model, problems, room)
    return [
        _summary(cluster, items.tolist(), reasons)
        for cluster, items, reasons in zip(clusters, items_of, reasons_of, strict=True)
    ]


def _of_files(files: list[Path]) -> Cluster:
    sentences = [split_sentences(read_text(file)) for file in files]
    return Cluster.from_documents(
        ", ".join(str(file) for file in files), sentences, document_names=[file.name for file in files]
    )


def _of_folder(folder: Path) -> list[Cluster]:
    entries = folders_and_files(folder)
    if any(entry.is_file() for entry in entries):
        return [read_cluster_folder(folder)]
    if not entries:
        raise InputError(f"{folder} is empty. Put one text file a document in it.")
    return read_cluster_folders(folder)


def _with_own_names(clusters: list[Cluster]) -> list[Cluster]:
    names = [cluster.id for cluster in clusters]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"Two folders are named {name!r}. Summarise them one at a time.")
    return clusters


def _without_references(cluster: Cluster) -> Cluster:
    """A summary never looks at what people wrote of the cluster."""
    return Cluster(**{**cluster.__dict__, "references": ()})


def _summary(cluster: Cluster, items: list[int], reasons: list[Reasons] | None) -> Summary:
    names = cluster.document_names
    sentences = [
        Sentence(
            cluster.sentences[item],
            names[cluster.documents[item]] if names else f"document {cluster.documents[item] + 1}",
            cluster.positions[item] + 1,
            None if reasons is None else reasons[order],
        )
        for order, item in enumerate(items)
    ]
    return Summary(cluster.id, tuple(sentences))
