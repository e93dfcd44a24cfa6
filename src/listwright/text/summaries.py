"""Summaries of text files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from listwright._internal.arrays import Ints
from listwright.errors import InputError
from listwright.estimators.base import ListEstimator
from listwright.estimators.scp import SCP
from listwright.evaluation.explain import Explainer
from listwright.loading import load
from listwright.problems import Problems
from listwright.text.budget import Budget
from listwright.text.clusters import Cluster
from listwright.text.readers import folders_and_files, read_cluster_folder, read_cluster_folders, read_text
from listwright.text.sentences import split_sentences
from listwright.text.summary_problems import STRUCTURE, size_limit, summary_features, summary_problems

SHIPPED = Path(__file__).with_name("reports.listwright")
BUDGET = Budget(665, "bytes")
NOVELTY = "new given the list"
GROUPS: dict[str, tuple[str, ...]] = {
    "place": ("first", "second", "early", "inverse_position", "relative_position"),
    "length": ("words", "characters", "short"),
    "central": ("centroid", "own_document", "lexrank", "degree", "echo"),
    "words of summaries": ("expected new words", "expected new words by size"),
    "frequent words": ("word_frequency", "word_spread"),
    "title": ("title_overlap",),
    "headings and cues": STRUCTURE,
    "names, numbers, quotes": ("capitals", "pronouns", "numbers", "quotes"),
}
_GROUP_OF = {column: group for group, columns in GROUPS.items() for column in columns}
_VOLUME = "volume x "
Reasons = dict[str, float]


@dataclass(frozen=True)
class Sentence:
    """A sentence of a summary, where it comes from, and why it was picked."""

    text: str  # the sentence
    document: str  # name of its document
    position: int  # position in its document, from 1
    reasons: Reasons | None  # by group of features, how far it put the sentence above the others; None unless explained


@dataclass(frozen=True)
class Summary:
    """The summary of one cluster: its sentences in the order they were picked."""

    cluster: str  # id of the cluster
    sentences: tuple[Sentence, ...]  # the sentences, in the order they were picked

    @property
    def text(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"summary": self.text}


def clusters_of(paths: Sequence[str | Path]) -> list[Cluster]:
    places = [Path(path) for path in paths]
    missing = [place for place in places if not place.exists()]
    if missing or not places:
        raise InputError(f"There is no file or folder {missing[0]}." if missing else "Name a file or folder.")
    files = [place for place in places if not place.is_dir()]
    clusters = []
    if files:
        sentences, names = [split_sentences(read_text(file)) for file in files], [file.name for file in files]
        clusters = [Cluster.from_documents(", ".join(map(str, files)), sentences, document_names=names)]
    for folder in places:
        if folder.is_dir():
            clusters += _of_folder(folder)
    names = [cluster.id for cluster in clusters]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"Two folders are named {name!r}. Summarise them one at a time.")
    return clusters


def summarize(
    clusters: Sequence[Cluster], budget: Budget, *, model: ListEstimator | None = None, explain: bool = False
) -> list[Summary]:
    """Summarise each cluster within the budget.

    Sentences that no longer fit are skipped, until nothing fits. To train on your own summaries, use `summary_model`
    and pass the result as `model`.

    Parameters
    ----------
    clusters : sequence of Cluster
        What to summarise, for example from `clusters_of`. References are ignored.
    budget : Budget
        Size of a summary.
    model : ListEstimator, optional
        A fitted model; the shipped one by default.
    explain : bool, default False
        Add to each sentence why it was picked.

    Returns
    -------
    list of Summary
        One per cluster.

    Raises
    ------
    InputError
        If no sentence of a cluster fits the budget.

    See Also
    --------
    summary_model : Trains a model on your own summaries.

    Examples
    --------
    >>> from listwright.simulate.corpus import corpus
    >>> (summary,) = summarize(corpus(1), Budget(120, "bytes"))
    >>> len(summary.text.encode()) <= 120
    True
    """
    model = shipped_model() if model is None else model
    problems = summary_problems([replace(cluster, references=()) for cluster in clusters], unit=budget.unit)
    limit = size_limit(budget)
    assert problems.sizes is not None
    for index, cluster in enumerate(clusters):
        least = problems.sizes[problems.offsets[index] : problems.offsets[index + 1]].min()
        if least > limit:
            shortest = int(least) - (limit - budget.amount)
            raise InputError(
                f"No sentence of {cluster.id} fits {budget}: the shortest takes {shortest}. Raise the budget."
            )
    reasons: Sequence[list[Reasons] | None] = [None] * len(clusters)
    if explain:
        lists, reasons = explain_lists(model, problems, limit)
    else:
        lists = list(model.predict(problems, budget=limit))
    return [_summary(cluster, items, why) for cluster, items, why in zip(clusters, lists, reasons, strict=True)]


def _of_folder(folder: Path) -> list[Cluster]:
    entries = folders_and_files(folder)
    if any(entry.is_file() for entry in entries):
        return [read_cluster_folder(folder)]
    if not entries:
        raise InputError(f"{folder} is empty. Put one text file per document in it.")
    return read_cluster_folders(folder)


def _summary(cluster: Cluster, items: Ints, reasons: list[Reasons] | None) -> Summary:
    names = cluster.document_names
    sentences = [
        Sentence(
            cluster.sentences[item],
            names[cluster.documents[item]] if names else f"document {cluster.documents[item] + 1}",
            cluster.positions[item] + 1,
            None if reasons is None else reasons[order],
        )
        for order, item in enumerate(items.tolist())
    ]
    return Summary(cluster.id, tuple(sentences))


def summary_model(clusters: Sequence[Cluster], *, budget: Budget = BUDGET) -> SCP:
    """Train a model that summarises, from clusters with references.

    Parameters
    ----------
    clusters : sequence of Cluster
        Training clusters; each needs at least one reference summary.
    budget : Budget, default 665 bytes
        Size of the summaries.

    Returns
    -------
    SCP
        A fitted model, to pass to `summarize`.

    See Also
    --------
    summarize : Uses the model.
    listwright.text.read_cluster_folders : Reads training clusters.
    """
    problems = summary_problems(clusters, unit=budget.unit, need_references=True)
    return SCP(budget=size_limit(budget), features=summary_features(), random_state=0).fit(problems)


def shipped_model() -> SCP:
    model: SCP = load(SHIPPED)
    return model


def explain_lists(model: ListEstimator, problems: Problems, limit: float) -> tuple[list[Ints], list[list[Reasons]]]:
    """Return the lists that `predict` builds, and the reasons for each pick, the strongest first."""
    lists = model.predict(problems.without_reward(), budget=limit)
    assert isinstance(lists.explainer, Explainer)
    picked = list(lists)
    steps = [lists.explainer.options_considered(problems, i, picks) for i, picks in enumerate(picked)]
    if any(not step.shares.tables for each in steps for step in each):
        raise InputError("Reasons need a policy that adds up columns, such as a linear policy. Omit --explain.")
    return picked, [[_reasons(step.above_options()) for step in each] for each in steps]


def _reasons(columns: dict[str, tuple[float, float]]) -> Reasons:
    """Return by group how far it puts the sentence above the others, the largest effect first."""
    totals: Reasons = dict.fromkeys([*GROUPS, NOVELTY], 0.0)
    for name, (alone, change) in columns.items():
        own = name.removeprefix(_VOLUME)
        if name.startswith(_VOLUME) and own in columns:
            totals[_GROUP_OF.get(own, own)] += alone
            totals[NOVELTY] += change
        else:
            totals[_GROUP_OF.get(name, NOVELTY)] += alone + change
    return dict(sorted(totals.items(), key=lambda pair: -abs(pair[1])))
