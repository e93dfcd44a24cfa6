"""What docs/migration.md promises: the same selection as apricot and pyversity, on other data than the page's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import listwright as lw

pytestmark = pytest.mark.system  # the peers compile their own code at each start


def select(similarity: np.ndarray, k: int) -> lw.Lists:
    reward = lw.rewards.FacilityLocation(similarity)
    return lw.greedy(lw.Problems.from_arrays(np.zeros((1, len(similarity), 1)), reward=reward), length=k)


@pytest.fixture
def apricot():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("apricot", reason="apricot-select is not installed (extra rivals)")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "precomputed"])
def test_facility_location_of_apricot(apricot, metric: str, seed: int) -> None:
    from sklearn.metrics import pairwise_distances
    from sklearn.metrics.pairwise import cosine_similarity

    x = np.random.default_rng(seed).random((120, 5))
    squared = pairwise_distances(x, metric="sqeuclidean")
    same = {
        "euclidean": squared.max() - squared,
        "cosine": cosine_similarity(x) ** 2,
        "precomputed": cosine_similarity(x),
    }
    given = same[metric] if metric == "precomputed" else x
    theirs = apricot.FacilityLocationSelection(12, metric=metric).fit(given)
    ours = select(same[metric], 12)
    assert theirs.ranking.tolist() == ours[0].tolist()
    shares = theirs.gains / same[metric].max(axis=0).sum()
    np.testing.assert_allclose(ours.gains[0], shares, rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_select_gives_the_rows_of_apricot(apricot, seed: int) -> None:
    x = np.random.default_rng(seed).random((120, 5))
    cosines = (x / np.linalg.norm(x, axis=1, keepdims=True)) @ (x / np.linalg.norm(x, axis=1, keepdims=True)).T
    euclidean = apricot.FacilityLocationSelection(12).fit(x).ranking
    assert lw.select(x, 12, metric="euclidean").rows.tolist() == euclidean.tolist()
    given = apricot.FacilityLocationSelection(12, metric="precomputed").fit(cosines).ranking
    assert lw.select(cosines, 12, metric="precomputed").rows.tolist() == given.tolist()
    assert lw.select(x, 12).rows.tolist() == given.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_select_gives_the_rows_of_submodlib(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        submodlib = pytest.importorskip("submodlib", reason="submodlib-py is not installed (extra rivals)")
    rng = np.random.default_rng(seed)
    x, y = rng.random((80, 5)), rng.random((30, 5))

    def rows(function: Any) -> list[int]:
        return [row for row, _ in function.maximize(budget=9, optimizer="NaiveGreedy", show_progress=False)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dense = {"n": 80, "mode": "dense", "data": x, "metric": "cosine"}
        plain = rows(submodlib.FacilityLocationFunction(**dense, separate_rep=False))
        others = rows(submodlib.FacilityLocationFunction(**dense, separate_rep=True, n_rep=30, data_rep=y))
    assert lw.select(x, 9).rows.tolist() == plain
    assert lw.select(x, 9, targets=y).rows.tolist() == others


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("diversity", [0.1, 0.5, 0.8])
def test_mmr_and_dpp_of_pyversity(diversity: float, seed: int) -> None:
    pyversity = pytest.importorskip("pyversity", reason="pyversity is not installed (extra rivals)")
    rng = np.random.default_rng(seed)
    embeddings, scores = rng.random((80, 24)), rng.random(80).astype(np.float32)
    standard = (scores - scores.mean()) / scores.std()
    rivals = {"mmr": lw.baselines.MMR(diversity, 0, 9), "dpp": lw.baselines.DPP(2 * (1 - diversity), 0, 9)}
    for strategy, values in {"mmr": scores, "dpp": standard}.items():
        problem = lw.Problems.from_arrays(values[None, :, None], vectors=embeddings[None])
        theirs = pyversity.diversify(embeddings, scores, k=9, strategy=strategy, diversity=diversity)
        ours = rivals[strategy].fit(problem).predict(problem)
        assert theirs.indices.tolist() == ours[0].tolist(), strategy


@pytest.mark.filterwarnings("ignore:.*add nothing")
@pytest.mark.parametrize("seed", range(2))
def test_every_function_of_apricot(apricot, seed: int) -> None:
    x = np.random.default_rng(seed).random((60, 5))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    similarity = unit @ unit.T
    given: dict[str, Any] = {"metric": "precomputed"}

    def rows(table: Any, **options: Any) -> list[int]:
        return lw.select(table, 6, **options).rows.tolist()

    for alpha in (1.0, 3.0):
        theirs = apricot.GraphCutSelection(6, alpha=alpha, **given).fit(similarity)
        assert theirs.ranking.tolist() == rows(similarity, reward="graph_cut", redundancy=1 / alpha, **given)
    theirs = apricot.SaturatedCoverageSelection(6, alpha=0.1, **given).fit(similarity)
    assert theirs.ranking.tolist() == rows(similarity, reward="saturated_coverage", alpha=0.1, **given)
    theirs = apricot.FeatureBasedSelection(6, concave_func="sqrt").fit(x)
    assert theirs.ranking.tolist() == rows(x, reward="feature_based")
    covers = (x > 0.7).astype(int)
    theirs = apricot.MaxCoverageSelection(6).fit(covers)
    assert theirs.ranking.tolist()[:2] == rows(covers, reward=lw.rewards.Coverage)[:2]
