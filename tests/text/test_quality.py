"""Quality features on a cluster that a person can check."""

from __future__ import annotations

import numpy as np
import pytest

from listwright.text.clusters import Cluster
from listwright.text.quality import quality_features

CLUSTER = Cluster.from_documents(
    "floods",
    [
        ["Floods hit Oslo and Bergen on Monday.", "He said 12 of 40 roads were closed.", '"We left," she said.'],
        ["Floods hit Oslo on Monday.", "The cat slept."],
        ["..."],
    ],
    title="Floods in Oslo",
)


def column(name: str, cluster: Cluster = CLUSTER) -> list[float]:
    rows, names = quality_features(cluster)
    values: list[float] = rows[:, names.index(name)].round(3).tolist()
    return values


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("first", [1, 0, 0, 1, 0, 1]),
        ("second", [0, 1, 0, 0, 1, 0]),
        ("early", [1, 1, 1, 1, 1, 1]),
        ("inverse_position", [1, 1 / 2, 1 / 3, 1, 1 / 2, 1]),
        ("relative_position", [0, 0.5, 1, 0, 1, 0]),
        ("words", [7 / 40, 8 / 40, 4 / 40, 5 / 40, 3 / 40, 1 / 40]),
        ("short", [1, 0, 1, 1, 1, 1]),
        ("title_overlap", [1, 0, 0, 1, 0, 0]),
        ("capitals", [3 / 7, 0, 0, 2 / 5, 0, 0]),
        ("pronouns", [0, 1 / 8, 1 / 2, 0, 0, 0]),
        ("numbers", [0, 2 / 8, 0, 0, 0, 0]),
        ("quotes", [0, 0, 1, 0, 0, 0]),
        ("echo", [0.5, 0, 0, 0.5, 0, 0]),
    ],
)
def test_values_worked_out_by_hand(name: str, expected: list[float]) -> None:
    assert column(name) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("name", ["centroid", "degree", "word_frequency", "word_spread"])
def test_the_repeated_news_ranks_above_the_aside(name: str) -> None:
    values = column(name)
    assert min(values[0], values[3]) > values[4]


def test_all_values_are_finite_and_within_bounds() -> None:
    rows, names = quality_features(CLUSTER)
    assert rows.shape == (len(CLUSTER.sentences), len(names))
    assert len(set(names)) == len(names)
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()
    assert rows.min() >= 0
    assert rows.max() <= 1


def test_one_sentence_and_no_title_do() -> None:
    cluster = Cluster.from_documents("one", [["Rain."]])
    rows, _ = quality_features(cluster)
    assert np.isfinite(rows).all()
    assert column("title_overlap", cluster) == [0]


def test_references_are_not_looked_at() -> None:
    told = Cluster(**{**CLUSTER.__dict__, "references": ("The cat slept.",)})
    np.testing.assert_array_equal(quality_features(told)[0], quality_features(CLUSTER)[0])
