"""What docs/migration.md promises: the selections of apricot, submodlib and pyversity, on other data."""

from __future__ import annotations

import inspect
import re
import warnings
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

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


@pytest.fixture
def submodlib():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield pytest.importorskip("submodlib", reason="submodlib-py is not installed (extra rivals)")


def picks(function: Any, budget: int = 6, **options: Any) -> list[int]:
    """The rows that a function of submodlib picks."""
    options = {"optimizer": "NaiveGreedy", "show_progress": False} | options
    return [row for row, _ in function.maximize(budget=budget, **options)]


@pytest.mark.parametrize("seed", range(2))
def test_every_function_of_submodlib(submodlib, seed: int) -> None:
    from sklearn.metrics import pairwise_distances
    from sklearn.preprocessing import minmax_scale
    from submodlib_cpp import FeatureBased

    rng = np.random.default_rng(seed)
    x, y = rng.random((60, 5)), rng.random((20, 5))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    similarity, both, to_others = unit @ unit.T, np.vstack([x, y]), rng.random((20, 60)).astype(np.float32)
    dense: dict[str, Any] = {"n": 60, "mode": "dense"}
    of_x = dense | {"data": x, "metric": "cosine"}
    cosines, own = of_x | {"separate_rep": False}, {"metric": "precomputed"}
    queries = {"n": 60, "num_queries": 20, "data": x, "queryData": y, "metric": "cosine"}
    private = {"n": 60, "num_privates": 20, "data": x, "privateData": y, "metric": "cosine"}
    concepts = {"n": 60, "probs": x.tolist(), "num_concepts": 5}
    costs = 1.0 + np.arange(60) % 3

    def rows(table: Any, k: int | None = 6, **options: Any) -> list[int]:
        return lw.select(table, k, **options).rows.tolist()

    facility = submodlib.FacilityLocationFunction(**cosines)
    assert picks(facility) == picks(facility, optimizer="LazyGreedy") == rows(x)
    assert picks(facility, 8, costs=costs.tolist(), costSensitiveGreedy=True) == rows(x, None, costs=costs, budget=8.0)
    for options, ours in (
        (dense | {"sijs": similarity, "separate_rep": False}, rows(similarity, **own)),
        (of_x | {"separate_rep": True, "n_rep": 20, "data_rep": y}, rows(x, targets=y)),
        (cosines | {"metric": "euclidean"}, rows(np.exp(-pairwise_distances(x) / x.shape[1]), **own)),
        (cosines | {"pybind_mode": "list"}, rows(x)),
        (cosines | {"create_dense_cpp_kernel_in_python": False}, rows(x)),
        (
            dense | {"sijs": to_others, "separate_rep": True, "n_rep": 20},
            rows(to_others.T, targets="columns", **own),
        ),
    ):
        assert picks(submodlib.FacilityLocationFunction(**options)) == ours, options.keys()
    theirs = submodlib.GraphCutFunction(**dense, ggsijs=similarity, lambdaVal=0.4)
    assert picks(theirs) == rows(similarity, reward="graph_cut", redundancy=0.4, **own)
    both_given = {"mgsijs": to_others, "ggsijs": similarity, "separate_rep": True, "n_rep": 20}
    theirs = submodlib.GraphCutFunction(**dense, **both_given, lambdaVal=0.4)
    cut = lambda r: to_others[:, r].sum() - 0.4 * similarity[np.ix_(r, r)].sum()  # noqa: E731
    assert picks(theirs) == rows(x, reward=cut)
    for redundancy in (0.4, 0.8):
        theirs = picks(submodlib.GraphCutFunction(**cosines, lambdaVal=redundancy))
        assert theirs == rows(x, reward="graph_cut", redundancy=redundancy)
    options = of_x | {"separate_rep": True, "n_rep": 20, "data_rep": y, "lambdaVal": 0.4}
    theirs = picks(submodlib.GraphCutFunction(**options))
    assert theirs == rows(x, reward="graph_cut", redundancy=0.4, targets=y)
    labels = np.arange(60) % 3
    clusters = {"mode": "clustered", "num_clusters": 3, "cluster_labels": labels.tolist()}
    theirs = picks(submodlib.FacilityLocationFunction(n=60, data=x, metric="cosine", **clusters))
    assert theirs == rows(similarity * (labels[:, None] == labels), **own)
    clusters = {"data": x, "cluster_lab": labels.tolist(), "num_clusters": 3, "lambdaVal": 0.5}
    for name, reward in {"FacilityLocation": "facility_location", "GraphCut": "graph_cut"}.items():
        for mode in ("single", "multi"):
            theirs = picks(submodlib.ClusteredFunction(n=60, f_name=name, mode=mode, **clusters))
            assert theirs == rows(similarity * (labels[:, None] == labels), reward=reward, **own), (name, mode)
    worth = lambda chosen: similarity[chosen].max(axis=0).sum()  # noqa: E731
    for optimizer in ("StochasticGreedy", "LazierThanLazyGreedy"):
        assert worth(rows(x)) >= worth(picks(facility, optimizer=optimizer)) - 1e-5
    wide, weights = x * np.arange(1, 6) - 2.0, rng.random(5)
    scaled = minmax_scale(wide)
    saturated = lambda chosen: (lambda sums: sums / (1 + sums))(scaled[chosen].sum(axis=0)).sum()  # noqa: E731
    for mode, more, ours in (
        (FeatureBased.squareRoot, {}, rows(scaled, reward="feature_based")),
        (FeatureBased.logarithmic, {}, rows(scaled, reward=lambda t: lw.rewards.ConcaveCoverage(t, "log"))),
        (FeatureBased.inverse, {}, rows(scaled, reward=saturated)),
        (FeatureBased.squareRoot, {"featureWeights": weights}, rows(scaled, reward="feature_based", weights=weights)),
        (
            FeatureBased.logarithmic,
            {"featureWeights": weights},
            rows(scaled, reward=lambda t: lw.rewards.ConcaveCoverage(t, "log", weights=weights)),
        ),
    ):
        features = {"features": wide.tolist(), "numFeatures": 5, "sparse": False, "mode": mode} | more
        assert picks(submodlib.FeatureBasedFunction(n=60, **features)) == ours, (mode, more)
    assert picks(submodlib.ProbabilisticSetCoverFunction(**concepts)) == rows(
        x, reward=lw.rewards.ProbabilisticCoverage
    )
    theirs = picks(submodlib.ProbabilisticSetCoverFunction(**concepts, concept_weights=weights.tolist()))
    assert theirs == rows(x, reward=lambda table: lw.rewards.ProbabilisticCoverage(table, weights))
    theirs = picks(
        submodlib.ProbabilisticSetCoverConditionalMutualInformationFunction(
            **concepts, query_concepts={0, 1, 2}, private_concepts={1}
        )
    )
    assert theirs == rows(x, reward=lambda table: lw.rewards.ProbabilisticCoverage(table[:, [0, 2]]))
    theirs = picks(submodlib.ProbabilisticSetCoverConditionalGainFunction(**concepts, private_concepts={0}))
    assert theirs == rows(x, reward=lambda table: lw.rewards.ProbabilisticCoverage(table[:, 1:]))
    theirs = picks(submodlib.ProbabilisticSetCoverMutualInformationFunction(**concepts, query_concepts={0, 1}))
    assert theirs == rows(x, reward=lambda table: lw.rewards.ProbabilisticCoverage(table[:, :2]))
    theirs = picks(submodlib.GraphCutMutualInformationFunction(**queries))
    assert theirs == rows(x, targets=y, reward="saturated_coverage", alpha=1.0)
    theirs = picks(submodlib.LogDeterminantConditionalGainFunction(**private, lambdaVal=1))
    assert theirs == rows(both, given=np.arange(60, 80), reward="log_det")
    function = submodlib.FacilityLocationConditionalGainFunction(**private)
    ours = set(rows(both, given=np.arange(60, 80), targets=x))
    assert function.evaluate(ours) == pytest.approx(function.evaluate(set(picks(function))), rel=1e-5)


def test_functions_of_submodlib_whose_first_items_are_equal(submodlib) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x, weights = rng.random((60, 5)), rng.random(5)
        unit = x / np.linalg.norm(x, axis=1, keepdims=True)
        dense: dict[str, Any] = {"n": 60, "mode": "dense", "data": x, "metric": "cosine"}
        given = {"metric": "precomputed"}
        for function, table, options in (
            (submodlib.LogDeterminantFunction(**dense, lambdaVal=0.5), x, {"reward": "log_det", "scale": 2.0}),
            (submodlib.DisparityMinFunction(**dense), unit @ unit.T, {"reward": "disparity_min"} | given),
            (submodlib.DisparitySumFunction(**dense), unit @ unit.T, {"reward": "disparity_sum"} | given),
        ):
            theirs = picks(function)
            assert theirs[1:] == lw.select(table, 5, given=theirs[:1], **options).rows.tolist()
        covers = x > 0.7
        sets = [set(np.flatnonzero(row).tolist()) for row in covers]
        cover = {"n": 60, "cover_set": sets, "num_concepts": 5, "concept_weights": weights.tolist()}
        query, private = {"query_concepts": {0, 1, 2}}, {"private_concepts": {1}}
        for function, kept in (
            (submodlib.SetCoverFunction(**cover), [0, 1, 2, 3, 4]),
            (submodlib.SetCoverMutualInformationFunction(**cover, **query), [0, 1, 2]),
            (submodlib.SetCoverConditionalGainFunction(**cover, **private), [0, 2, 3, 4]),
            (submodlib.SetCoverConditionalMutualInformationFunction(**cover, **query, **private), [0, 2]),
        ):
            reward = lambda t, kept=kept: lw.rewards.Coverage(t[:, kept], weights[kept])  # noqa: B023, E731
            ours = lw.select(covers.astype(float), 2, reward=reward).rows.tolist()
            assert function.evaluate(set(ours)) >= function.evaluate(set(picks(function, 2))) - 1e-6


@pytest.mark.filterwarnings("ignore:.*add nothing")
def test_any_function_object_of_submodlib_is_a_reward(submodlib) -> None:
    rng = np.random.default_rng(0)
    x, y, z = rng.random((60, 5)), rng.random((10, 5)), rng.random((7, 5))
    queries = {"n": 60, "data": x, "metric": "cosine", "num_queries": 10, "queryData": y}
    private = {"n": 60, "data": x, "metric": "cosine", "num_privates": 7, "privateData": z}
    functions = [
        *(submodlib.FacilityLocationMutualInformationFunction(**queries, magnificationEta=eta) for eta in (1, 2.5)),
        submodlib.FacilityLocationVariantMutualInformationFunction(**queries, queryDiversityEta=2.0),
        submodlib.ConcaveOverModularFunction(**queries, queryDiversityEta=2.0),
        *(submodlib.GraphCutConditionalGainFunction(**private, lambdaVal=0.4, privacyHardness=h) for h in (1, 2.5)),
        submodlib.FacilityLocationConditionalMutualInformationFunction(**(queries | private)),
        submodlib.LogDeterminantMutualInformationFunction(**queries, lambdaVal=1),
        submodlib.LogDeterminantConditionalMutualInformationFunction(**(queries | private), lambdaVal=1),
        submodlib.GraphCutFunction(n=60, mode="sparse", data=x, num_neighbors=10, lambdaVal=0.4),
    ]
    for function in functions:
        ours = lw.select(x, 6, reward=lambda rows, f=function: f.evaluate(set(rows.tolist())))
        assert ours.rows.tolist() == picks(function), type(function).__name__
    for hardness in (1, 2.5):  # where several rows gain nothing
        function = submodlib.FacilityLocationConditionalGainFunction(**private, privacyHardness=hardness)
        ours = lw.select(x, 6, reward=lambda rows, f=function: f.evaluate(set(rows.tolist())))
        theirs = function.evaluate(set(picks(function)))
        assert function.evaluate(set(ours)) >= theirs * (1 - 1e-5)


def test_values_and_gains_of_a_set_of_rows(submodlib) -> None:
    x = np.random.default_rng(0).random((60, 5))
    function = submodlib.FacilityLocationFunction(n=60, mode="dense", data=x, separate_rep=False)
    chosen, every = [5, 2, 40], np.arange(60)
    ours = lw.select(x, 3, exclude=np.setdiff1d(every, chosen)).value
    assert ours == pytest.approx(function.evaluate(set(chosen)), rel=1e-5)
    gain = lw.select(x, 1, given=chosen, exclude=np.setdiff1d(every, [7])).gains[0]
    assert gain == pytest.approx(function.marginalGain(set(chosen), 7), rel=1e-4)
    costs = 1.0 + every % 3
    ours = lw.select(x, costs=costs, budget=8.0).rows.tolist()
    assert function.evaluate(set(ours)) >= function.evaluate(set(picks(function, 8, costs=costs.tolist())))


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
    np.fill_diagonal(similarity, 1.0)  # ties stay ties whatever the rounding
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
    theirs = apricot.SumRedundancySelection(6, **given).fit(similarity)
    assert theirs.ranking.tolist() == rows(similarity, reward="disparity_sum", **given)
    theirs = apricot.FacilityLocationSelection(6, initial_subset=[3, 9], **given).fit(similarity)
    assert theirs.ranking.tolist() == rows(similarity, given=[3, 9], **given)
    theirs = apricot.FeatureBasedSelection(6, concave_func="log").fit(x)
    assert theirs.ranking.tolist() == rows(x, reward=lambda table: lw.rewards.ConcaveCoverage(table, "log"))
    before = np.random.default_rng(seed).random((3, 5))
    theirs = apricot.FeatureBasedSelection(6, concave_func="sqrt", initial_subset=before).fit(x)
    assert theirs.ranking.tolist() == rows(np.vstack([x, before]), reward="feature_based", given=[60, 61, 62])
    costs = 1.0 + np.arange(60) % 3
    theirs = apricot.FacilityLocationSelection(8, **given).fit(similarity, sample_cost=costs)
    chosen = lw.select(similarity, costs=costs, budget=8.0, **given).rows
    assert theirs.ranking.tolist() == chosen.tolist()
    plain = apricot.FacilityLocationSelection(6, **given)
    theirs = plain.fit_transform(similarity, y=costs, sample_weight=costs)
    for part, table in zip(theirs, (similarity, costs, costs), strict=True):
        np.testing.assert_array_equal(part, table[rows(similarity, **given)])
    for optimizer in ("naive", "lazy", "two-stage"):
        theirs = apricot.FacilityLocationSelection(6, optimizer=optimizer, **given).fit(similarity)
        assert theirs.ranking.tolist() == rows(similarity, **given)
    worth = lambda chosen: similarity[chosen].max(axis=0).sum()  # noqa: E731
    for optimizer in ("approximate-lazy", "stochastic", "sample", "modular", "greedi"):
        theirs = apricot.FacilityLocationSelection(6, optimizer=optimizer, random_state=0, **given).fit(similarity)
        assert worth(rows(similarity, refine=True, **given)) >= worth(theirs.ranking) - 1e-9, optimizer
    graph = sparse.csr_matrix(similarity * (similarity > 0.9))
    theirs = apricot.FacilityLocationSelection(6, **given).fit(graph)
    assert theirs.ranking.tolist() == rows(graph, **given)
    own = {"reward": lambda chosen: float(np.sqrt(similarity[chosen].sum(axis=0)).sum())}
    function = lambda part: float(np.sqrt(part.sum(axis=0)).sum())  # noqa: E731
    theirs = apricot.CustomGraphSelection(6, function, **given).fit(similarity)
    assert theirs.ranking.tolist() == rows(similarity, **own, **given)
    theirs = apricot.CustomSelection(6, function).fit(x)
    assert theirs.ranking.tolist() == rows(x, reward=lambda chosen: function(x[chosen]))


def test_mixtures_graphs_and_weights_of_apricot(apricot) -> None:
    from apricot.utils import _calculate_pairwise_distances as graph_of

    x = np.random.default_rng(0).random((60, 5))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    similarity, given = unit @ unit.T, {"metric": "precomputed"}
    np.fill_diagonal(similarity, 1.0)
    facility, saturated = apricot.FacilityLocationSelection, apricot.SaturatedCoverageSelection
    parts = [facility(6, **given), apricot.GraphCutSelection(6, alpha=2.0, **given), saturated(6, alpha=0.1, **given)]
    theirs = apricot.MixtureSelection(6, parts, weights=np.array([1.0, 0.5, 0.3]), **given).fit(similarity)
    mixture = {"facility_location": 1.0, "graph_cut": 0.5 * 2.0, "saturated_coverage": 0.3}
    ours = lw.select(similarity, 6, reward=mixture, redundancy=1 / 2.0, alpha=0.1, **given)
    assert theirs.ranking.tolist() == ours.rows.tolist()
    with pytest.raises((TypeError, AttributeError)):
        facility(6, metric="cosine", n_neighbors=10).fit(x)
    graph = graph_of(x.copy(), metric="cosine", n_neighbors=10)
    graph.indices, graph.indptr = graph.indices.astype(np.int32), graph.indptr.astype(np.int32)
    assert facility(6, **given).fit(graph).ranking.tolist() == lw.select(graph, 6, **given).rows.tolist()
    plain = facility(6, **given).fit(similarity)
    weighted = facility(6, **given).fit(similarity, sample_weight=1.0 + np.arange(60))
    assert plain.ranking.tolist() == weighted.ranking.tolist()
    with pytest.raises(ValueError, match="zero-size"):
        facility(6, optimizer="bidirectional", **given).fit(similarity)
    chosen = apricot.FeatureBasedSelection(6, concave_func="sqrt").fit_transform(x)
    selector = lw.Selector(6, reward="feature_based").fit(x)
    np.testing.assert_array_equal(x[selector.rows_], chosen)
    np.testing.assert_array_equal(selector.transform(x), x[np.sort(selector.rows_)])


def test_streams_of_apricot(apricot) -> None:
    for seed in range(3):
        x = np.random.default_rng(seed).random((600, 5))
        unit = x / np.linalg.norm(x, axis=1, keepdims=True)
        similarity = unit @ unit.T
        theirs = apricot.FacilityLocationSelection(10, metric="cosine", max_reservoir_size=600)
        ours = lw.Selector(10, sample=100, random_state=0)
        for chunk in np.split(x, 6):
            theirs.partial_fit(chunk)
            ours.partial_fit(chunk)
        worth = [similarity[rows].max(axis=0).sum() for rows in (ours.rows_, theirs.ranking)]
        assert worth[0] >= 0.97 * worth[1]
        assert worth[0] >= 0.5 * lw.select(x, 10).value


@pytest.mark.parametrize("seed", range(2))
def test_graphs_and_zero_gains_of_submodlib(submodlib, seed: int) -> None:
    x = np.random.default_rng(seed).random((60, 5))
    function = submodlib.FacilityLocationFunction(n=60, mode="sparse", data=x, metric="cosine", num_neighbors=10)
    graph = function.sijs.maximum(function.sijs.T)
    assert picks(function) == lw.select(graph, 6, metric="precomputed").rows.tolist()
    copies = np.repeat(x[:4], 3, axis=0)
    function = submodlib.FacilityLocationFunction(n=12, mode="dense", data=copies, metric="cosine", separate_rep=False)
    assert len(picks(function, stopIfZeroGain=True)) < 6
    with pytest.warns(UserWarning, match="2 of 6 picks add nothing"):
        assert lw.select(copies, 6).rows[:4].tolist() == [row - row % 3 for row in picks(function)[:4]]


@pytest.mark.parametrize("seed", range(2))
def test_cover_msd_and_ssd_of_pyversity(seed: int) -> None:
    pyversity = pytest.importorskip("pyversity", reason="pyversity is not installed (extra rivals)")
    rng = np.random.default_rng(seed)
    x, scores, diversity = rng.random((60, 5)), rng.random(60).astype(np.float32), 0.3
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    similarity = unit @ unit.T
    concave, total = lw.rewards.ConcaveCoverage(similarity, "sqrt", normalize=False), lw.rewards.Total(scores)
    far = 1.0 - similarity

    def msd(rows: Any) -> float:
        return float((1 - diversity) * scores[rows].sum() + diversity * far[np.ix_(rows, rows)].sum() / 2)

    vectors, standard = np.hstack([unit, np.ones((60, 1))]), (scores - scores.mean()) / scores.std()

    def ssd(rows: Any) -> float:
        novelty = np.abs(np.diag(np.linalg.qr(vectors[rows].T)[1])).sum()
        return float((1 - diversity) * standard[rows].sum() + diversity * novelty)

    rivals = ("cover", {concave: diversity, total: 1 - diversity}), ("msd", msd), ("ssd", ssd)
    for strategy, reward in rivals:
        theirs = pyversity.diversify(x, scores, k=6, strategy=strategy, diversity=diversity).indices
        ours = lw.select(similarity, 6, metric="precomputed", reward=reward).rows
        assert theirs.tolist() == ours.tolist(), strategy


@pytest.mark.filterwarnings("ignore:.*add nothing")
@pytest.mark.parametrize("seed", range(2))
def test_options_of_apricot(apricot, seed: int) -> None:
    from sklearn.metrics import pairwise_distances

    x, given = np.random.default_rng(seed).random((60, 5)), {"metric": "precomputed"}
    distances = pairwise_distances(x, metric="cityblock")
    for metric, similarity in (("corr", np.corrcoef(x) ** 2), ("cityblock", distances.max() - distances)):
        theirs = apricot.FacilityLocationSelection(6, metric=metric).fit(x)
        assert theirs.ranking.tolist() == lw.select(similarity, 6, **given).rows.tolist(), metric
    theirs = apricot.FeatureBasedSelection(6, concave_func="sigmoid").fit(x)
    sigmoid = lambda sums: sums / (1 + sums)  # noqa: E731
    ours = lw.select(x, 6, reward=lambda rows: sigmoid(x[rows].sum(axis=0)).sum())
    assert theirs.ranking.tolist() == ours.rows.tolist()
    for threshold in (1.0, 2.5):
        theirs = apricot.MaxCoverageSelection(4, threshold=threshold).fit(x)
        capped = lw.select(x, 4, reward=lambda t, at=threshold: lw.rewards.ConcaveCoverage(t, "cap", np.full(5, at)))
        assert theirs.ranking.tolist()[:2] == capped.rows.tolist()[:2]
        worth = [np.minimum(x[rows].sum(axis=0), threshold).sum() for rows in (capped.rows, theirs.ranking)]
        assert worth[0] >= worth[1] - 1e-9
    assert len(apricot.FacilityLocationSelection(6, optimizer="sieve").fit(x).ranking) == 6
    with pytest.raises(TypeError):
        apricot.FacilityLocationSelection(6, optimizer="random").fit(x)


@pytest.mark.filterwarnings("ignore:.*add nothing")
@pytest.mark.parametrize("seed", range(2))
def test_options_of_pyversity(seed: int) -> None:
    pyversity = pytest.importorskip("pyversity", reason="pyversity is not installed (extra rivals)")
    rng = np.random.default_rng(seed)
    x, scores, d = rng.random((60, 8)), rng.random(60).astype(np.float32), 0.3
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)

    def check(rival: Any, reward: Any, **options: Any) -> None:
        theirs = rival(x, scores, 6, d, **options)
        ours = lw.select(x, 6, reward=reward)
        assert theirs.indices.tolist() == ours.rows.tolist(), (rival, options)
        if rival is not pyversity.msd:
            np.testing.assert_allclose(theirs.selection_scores[1:], ours.gains[1:], rtol=1e-3, atol=1e-4)

    plain = {"metric": pyversity.Metric.DOT, "normalize": False}
    for vectors, options in ((unit, {}), (x, plain)):
        s = np.maximum(vectors @ vectors.T, 0)
        total = lambda r: (1 - d) * scores[r].sum()  # noqa: E731
        nearest = lambda r, s=s: np.tril(s[np.ix_(r, r)], -1).max(axis=1).sum()  # noqa: E731
        own = lambda r, s=s: (1 - np.diag(s))[r].sum() / 2  # noqa: E731
        check(pyversity.mmr, lambda r: total(r) - d * nearest(r), **options)  # noqa: B023
        check(pyversity.msd, lambda r: total(r) + d * ((1 - s)[np.ix_(r, r)].sum() / 2 - own(r)), **options)  # noqa: B023
        check(pyversity.cover, lambda r: total(r) + d * (s[r].sum(axis=0) ** 0.7).sum(), gamma=0.7, **options)  # noqa: B023
    standard = (scores - scores.mean()) / scores.std()
    problem = lw.Problems.from_arrays(standard[None, :, None], vectors=x[None])
    ours = lw.baselines.DPP(2 * 0.5 * (1 - d), relevance=0, length=6).fit(problem).predict(problem)[0]
    assert pyversity.dpp(x, scores, 6, d, scale=0.5).indices.tolist() == ours.tolist()
    recent = rng.random((3, 8)).astype(np.float32)
    lengths = np.linalg.norm(recent, axis=1, keepdims=True)
    for options, vectors, before, values in (
        ({"append_bias": False}, unit, recent[:0], standard),
        ({"append_bias": False, "normalize_scores": False}, unit, recent[:0], scores),
        ({"append_bias": False, "recent_embeddings": recent}, unit, recent / lengths, standard),
        ({"append_bias": False, "normalize": False, "recent_embeddings": recent}, x, recent, standard),
    ):
        new = lambda r, v=vectors, b=before: np.abs(np.diag(np.linalg.qr(np.vstack([b, v[r]]).T)[1]))[len(b) :].sum()  # noqa: E731
        check(pyversity.ssd, lambda r, v=values: (1 - d) * v[r].sum() + 2 * d * new(r), gamma=2.0, **options)  # noqa: B023

    def novelty(rows: Any, window: int) -> float:
        b: list[Any] = []
        for v in unit[rows]:
            b.append(v - sum((v @ c) / (c @ c) * c for c in b[-window:]))
        return float(np.linalg.norm(b, axis=1).sum())

    for window in (1, 2, 4):
        reward = lambda r, w=window: (1 - d) * standard[r].sum() + d * novelty(r, w)  # noqa: E731
        check(pyversity.ssd, reward, append_bias=False, window=window)


def names_of(*functions: Any) -> set[str]:
    """The names of the parameters of some functions."""
    return {name for function in functions for name in inspect.signature(function).parameters} - {"self", "kwargs"}


def public(thing: Any) -> list[Any]:
    return [part for name, part in inspect.getmembers(thing) if not name.startswith("_")]


def classes_and_options(package: Any) -> set[str]:
    """The names of the public classes and functions of a package, and of all their parameters and choices."""
    names: set[str] = set()
    for part in public(package):
        if inspect.isclass(part) and part.__module__.partition(".")[0] == package.__name__:
            if issubclass(part, Enum):
                names |= {member.name for member in part}
                continue
            methods = [method for method in public(part) if inspect.isfunction(method)]
            names |= {part.__name__, *(method.__name__ for method in methods), *names_of(part.__init__, *methods)}
        elif inspect.isfunction(part):
            names |= {part.__name__, *names_of(part)}
    return names


@pytest.mark.parametrize("name", ["apricot", "submodlib", "pyversity"])
def test_every_class_and_option_of_a_package_is_on_the_page(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        package = pytest.importorskip(name, reason=f"{name} is not installed (extra rivals)")
    page = (Path(__file__).parents[2] / "docs" / "migration.md").read_text(encoding="utf8")
    (section,) = [part for part in page.split("\n## From ") if part.startswith(name)]
    words = set(re.findall(r"\w+", section))
    asked = classes_and_options(package) - {"functions"}  # of apricot, a list of selections
    if name == "apricot":
        from apricot.optimizers import OPTIMIZERS

        asked |= {part for key in OPTIMIZERS for part in key.split("-")}
    assert len(asked) > 20
    assert sorted(asked - words) == []
