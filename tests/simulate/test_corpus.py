"""The made-up corpus: same seed same text, plausible shape, and something to learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from listwright._internal.tokens import tokens
from listwright.errors import InputError
from listwright.simulate.corpus import blanks, choose, corpus, values, wording
from listwright.text.budget import sizes
from listwright.text.clusters import Cluster
from listwright.text.quality import quality_features
from listwright.text.scores import rouge
from listwright.text.sentences import split_sentences
from listwright.text.vectors import cosine_similarity, tf_idf

BUDGET = 665


@pytest.fixture(scope="module")
def clusters() -> list[Cluster]:
    return corpus(24, seed=0)


def test_the_same_seed_gives_the_same_clusters_however_many(clusters: list[Cluster]) -> None:
    assert corpus(3, seed=0) == clusters[:3]
    assert corpus(3, seed=1) != clusters[:3]


def test_shape_is_that_of_news_clusters(clusters: list[Cluster]) -> None:
    for cluster in clusters:
        lengths = np.bincount(cluster.documents)
        assert 8 <= len(lengths) <= 12
        assert lengths.min() >= 8
        assert len(cluster.references) == 4
        assert all(85 <= len(reference.split()) <= 105 for reference in cluster.references)
        assert len(set(cluster.references)) == 4
    assert 8 <= np.mean([len(cluster.sentences) / len(set(cluster.documents)) for cluster in clusters]) <= 15
    assert Counter(cluster.split for cluster in clusters) == {"train": 16, "test": 8}


def test_text_is_whole(clusters: list[Cluster]) -> None:
    for cluster in clusters:
        for text in (*cluster.sentences, *cluster.references, str(cluster.title)):
            assert not set(text) & set("[]{}<>|:")
        assert split_sentences(" ".join(cluster.sentences)) == list(cluster.sentences)
        assert all(
            sentence[0] == '"' or sentence[0].isupper() or sentence[0].isdigit() for sentence in cluster.sentences
        )


def test_every_form_can_be_filled() -> None:
    rng = np.random.default_rng(0)
    facts = [fact for event in wording()["events"] for fact in event.facts] + list(wording()["common_facts"])
    for form in [form for fact in facts for form in fact.forms] + [event.title for event in wording()["events"]]:
        assert values(blanks(form), rng).keys() == set(blanks(form))
    assert {name for aside in wording()["asides"] for name in blanks(choose(aside, rng))} == {
        "name",
        "spot",
        "weekday",
        "word",
    }
    assert all(len(fact.forms) >= 2 and 0 < fact.weight < 1 for fact in facts)


def test_a_bad_number_is_refused() -> None:
    with pytest.raises(InputError, match=r"n_clusters must be at least 1. Got 0."):
        corpus(0)


def in_order(order: Iterable[int], room: np.ndarray) -> list[int]:
    picks: list[int] = []
    for row in order:
        if room[[*picks, row]].sum() <= BUDGET + 1:
            picks.append(int(row))
    return picks


def greedily(score: Callable[[list[int]], np.ndarray], room: np.ndarray) -> list[int]:
    picks: list[int] = []
    while True:
        fits = room + room[picks].sum() <= BUDGET + 1
        fits[picks] = False
        if not fits.any():
            return picks
        picks.append(int(np.argmax(np.where(fits, score(picks), -np.inf))))


class Judge:
    """Recall of lists of one cluster's sentences, by rules that do and do not know the references."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.words = [tokens(sentence) for sentence in cluster.sentences]
        self.references = [tokens(reference) for reference in cluster.references]
        self.room = sizes(cluster.sentences)

    def recall(self, picks: list[int]) -> float:
        return rouge([word for row in picks for word in self.words[row]], self.references).recall

    def gains(self, picks: list[int]) -> np.ndarray:
        alone = np.array([self.recall([*picks, row]) for row in range(len(self.words))])
        return (alone - self.recall(picks)) / self.room

    def plain_rules(self) -> dict[str, float]:
        rows, names = quality_features(self.cluster)
        centroid = rows[:, names.index("centroid")]
        alike = cosine_similarity(tf_idf(self.words))
        picks = {
            "random": in_order(np.random.default_rng(0).permutation(len(self.words)), self.room),
            "lead": in_order(np.lexsort((self.cluster.documents, self.cluster.positions)), self.room),
            "centroid": in_order(np.argsort(-centroid, kind="stable"), self.room),
            "diverse": greedily(lambda list_: centroid - alike[:, list_].max(axis=1, initial=0), self.room),
        }
        return {name: self.recall(rows) for name, rows in picks.items()}

    def knowing_rules(self) -> dict[str, float]:
        alone = in_order(np.argsort(-self.gains([]), kind="stable"), self.room)
        return {"best alone": self.recall(alone), "oracle": self.recall(greedily(self.gains, self.room))}


def means(scores: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([score[name] for score in scores])) for name in scores[0]}


def test_redundancy_matters(clusters: list[Cluster]) -> None:
    mean = means([Judge(cluster).plain_rules() for cluster in clusters])
    assert mean["random"] < mean["lead"] < mean["diverse"]
    assert mean["centroid"] < mean["diverse"] - 0.02


def test_there_is_something_to_learn(clusters: list[Cluster]) -> None:
    judges = [Judge(cluster) for cluster in clusters[:8]]
    plain, knowing = (
        means([judge.plain_rules() for judge in judges]),
        means([judge.knowing_rules() for judge in judges]),
    )
    assert max(plain.values()) < knowing["oracle"] - 0.1
    assert knowing["best alone"] < knowing["oracle"] - 0.05


def test_no_single_feature_tells_what_matters(clusters: list[Cluster]) -> None:
    rows, gains = [], []
    for cluster in clusters[:12]:
        references = [tokens(reference) for reference in cluster.references]
        features, names = quality_features(cluster)
        rows.append(features)
        gains.append([rouge(tokens(text), references).recall / len(text) for text in cluster.sentences])
    table, gain = np.concatenate(rows), np.concatenate(gains)
    correlation = {name: np.corrcoef(table[:, column], gain)[0, 1] for column, name in enumerate(names)}
    assert all(abs(value) < 0.75 for value in correlation.values())
    assert min(correlation["inverse_position"], correlation["echo"], correlation["word_spread"]) > 0.15
