"""Turns the arguments of `select` into an objective."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, as_numbers, at_least_one, first_bad
from listwright._internal.progress import silent
from listwright.errors import InputError
from listwright.rewards import ConcaveCoverage, Reward
from listwright.selection import folds
from listwright.selection.facility import Blocks, FacilityObjective, Sampled, value_curve
from listwright.selection.gpu.device import gpu_name, wants_gpu
from listwright.selection.graph import Exchange, Graph, NearestNeighbors, neighbor_graph
from listwright.selection.intake import Source, must_fit, read_vectors
from listwright.selection.objectives import KINDS, Dispersion, Objective
from listwright.selection.similarity import DENSE, Distances, Dots, Given, SimilarityMatrix, Vectors, make_vectors

if TYPE_CHECKING:
    from listwright.engines import Ray

BLOCK = 512  # rows checked at a time
METRICS = ("cosine", "dot", "rbf", "euclidean", "precomputed")
REWARDS = ("facility_location", "log_det", "saturated_coverage", "feature_based", "graph_cut", *KINDS)
TAKES = {  # which options a reward uses
    "facility_location": {"neighbors", "sample", "targets", "weights"},
    "saturated_coverage": {"neighbors", "targets", "weights"},
    "feature_based": {"weights"},
    "log_det": set(),
    "graph_cut": {"targets", "weights"},
    **{kind: set() for kind in KINDS},
}
MIXED = ("facility_location", "log_det", "saturated_coverage", "feature_based", "graph_cut")  # with others
ON_GPU = ("log_det", "facility_location", "saturated_coverage", "graph_cut", *KINDS)  # the first not in a mixture
DEALT = ("facility_location", "log_det")  # rewards that a cluster supports


class Tools(NamedTuple):
    """The functions that differ by device, and the name of the device."""

    name: str  # "cpu", or the name of the GPU
    board: Callable[..., Any]  # makes the board of `Epochs`
    graph: Callable[..., Any]  # makes the graph of nearest neighbours
    volume: Callable[..., Any]  # selects by log det
    curve: Callable[..., Any]  # measures picks on all targets
    exchange: Callable[..., Any]  # measures exchanges of picks
    similarity: Callable[..., Any]  # does the work of a similarity on the device


CPU = Tools("cpu", Blocks, neighbor_graph, folds.select_volume, value_curve, Exchange, lambda similarity: similarity)


def gpu_tools(*, exact: bool) -> Tools:
    from listwright.selection.gpu import objectives as gpu

    board, graph, similarity = (
        partial(made, exact=exact) for made in (gpu.Tiles, gpu.neighbor_graph, gpu.SimilarityOnGPU)
    )
    return Tools(gpu_name(), board, graph, gpu.select_volume, gpu.value_curve, gpu.ExchangeOnGPU, similarity)


class SelectionSpec(NamedTuple):
    """The arguments of `select` that describe the objective."""

    targets: Any
    reward: Any
    metric: str
    neighbors: int | None
    sample: int | None
    weights: Any
    device: str
    precision: str
    gamma: float | None
    scale: float
    alpha: float
    redundancy: float
    engine: Any

    def options(self) -> set[str]:
        return {name for name in ("neighbors", "sample", "targets", "weights") if getattr(self, name) is not None}


def make_objective(wish: SelectionSpec, source: Source, k: int, rng: np.random.Generator) -> Objective:
    if wish.metric not in METRICS:
        raise InputError(f"metric must be one of {', '.join(METRICS)}. Got {wish.metric!r}.")
    for name, most in (("scale", np.inf), ("alpha", 1.0), ("redundancy", np.inf)):
        number, least = getattr(wish, name), name == "redundancy"
        if not (folds.is_number(number) and (0 < number <= most or (number == 0 and least)) and np.isfinite(number)):
            above = "0 or more" if least else "above 0 and at most 1" if most == 1 else "above 0"
            raise InputError(f"{name} must be {above}. Got {number!r}.")
    if isinstance(wish.reward, Mapping):
        return _mixture(wish, source, k, _tools(wish, source))
    if not isinstance(wish.reward, str):
        return _own_reward(wish, source, k)
    if wish.reward not in REWARDS:
        raise InputError(f"reward must be one of {', '.join(REWARDS)}, or a reward. Got {wish.reward!r}.")
    _takes(wish, wish.reward, TAKES[wish.reward])
    tools = _tools(wish, source)
    if wish.reward == "log_det":
        return _dealt(wish, _log_det(wish, source, k, tools), rng)
    if wish.reward == "saturated_coverage":
        return _saturated_coverage(wish, source, tools)
    if wish.reward in ("feature_based", "graph_cut"):
        return folds.FoldObjective(_fold_maker(wish, source, tools), tools.name)
    if wish.reward in KINDS:
        if wish.metric == "dot":
            raise InputError(f"reward={wish.reward!r} needs metric cosine, rbf, euclidean or precomputed. Got 'dot'.")
        return Dispersion(_similarity(wish, source, tools), wish.reward, tools.name)
    return _facility_location(wish, source, rng, tools)


def _tools(wish: SelectionSpec, source: Source) -> Tools:
    if wish.precision not in ("fast", "exact"):
        raise InputError(f"precision must be fast or exact. Got {wish.precision!r}.")
    n, d = source.table.shape
    mixed = isinstance(wish.reward, Mapping)
    if wish.engine is not None and wish.device == "cuda":
        raise InputError("engine='ray' works on CPUs. Pass device='cpu', or leave engine= out.")
    known = all(reward in ON_GPU[mixed:] for reward in (wish.reward if mixed else [wish.reward]))
    known = known and wish.metric != "precomputed" and wish.engine is None
    known = known and not (sparse.issparse(source.table) and d > DENSE)
    passes = known and not (isinstance(wish.reward, str) and wish.reward in KINDS)
    wanted = wants_gpu(wish.device, 2.0 * n * d * min(n, wish.sample or n) if passes else 0.0)
    if wanted and not known:
        raise InputError(f"reward={wish.reward!r} with metric={wish.metric!r} on this table runs on the CPU alone.")
    return gpu_tools(exact=wish.precision == "exact") if wanted else CPU


def engine_of(engine: Any) -> Ray | None:
    if isinstance(engine, str) and engine == "local":
        return None
    from listwright.engines import Ray, as_engine

    opened = as_engine(engine)
    return opened if isinstance(opened, Ray) else None


def _takes(wish: SelectionSpec, what: str, known: set[str]) -> None:
    if wish.engine is not None and (what not in DEALT or wish.neighbors is not None or wish.metric == "precomputed"):
        raise InputError("engine='ray' is for facility_location and log_det of vectors, without neighbors=.")
    unused = sorted(wish.options() - known)
    if unused:
        raise InputError(f"reward={what!r} does not use {unused[0]}=. Omit it.")


def _own_reward(wish: SelectionSpec, source: Source, k: int) -> Objective:
    _takes(wish, type(wish.reward).__name__, set())
    reward, n = wish.reward, int(source.table.shape[0])
    if not isinstance(reward, Reward) and callable(reward):
        function = folds.as_set_function(reward, n, k)
        table = source.table if sparse.issparse(source.table) else np.asarray(source.table)
        try:
            reward = reward(table) if function is None else function
        except folds.FAULTS as error:
            if isinstance(error, InputError):
                raise
            what = f"and with the vectors it raised {type(error).__name__}: {error}"
            raise InputError(f"reward= gives no number for an array or set of row numbers, {what}") from error
    if not isinstance(reward, Reward):
        raise InputError(
            f"reward must be one of {', '.join(REWARDS)}, a reward of listwright.rewards for these rows, or a function "
            f"that makes one from the vectors. Got {type(reward).__name__}."
        )
    return folds.FoldObjective(partial(folds.RewardFold, reward, n))


def _fold_maker(wish: SelectionSpec, source: Source, tools: Tools) -> Callable[[], folds.SelectionFold]:
    if isinstance(wish.reward, Reward):
        return partial(folds.RewardFold, wish.reward, int(source.table.shape[0]))
    if wish.reward == "feature_based":
        return partial(folds.RewardFold, _feature_based(wish, source), int(source.table.shape[0]))
    if wish.reward == "log_det":
        if wish.metric not in ("cosine", "dot"):
            raise InputError(f"In a mixture, log_det needs metric cosine or dot. Got {wish.metric!r}.")
        return partial(folds.LogDetFold, make_vectors(source.table, wish.metric), wish.scale)
    if wish.reward == "facility_location":
        similarity = make_similarity(wish, source, ready=tools is CPU)
        return partial(folds.FacilityFold, similarity, _weights(wish.weights, similarity.n_targets), tools.board)
    similarity = _similarity(wish, source, tools)
    weights = _weights(wish.weights, similarity.n_targets)
    if wish.reward == "graph_cut":
        among = _among_rows(wish, source, tools, similarity)
        return partial(folds.GraphCutFold, similarity, among, weights, wish.redundancy)
    return partial(folds.SaturatedFold, similarity, weights, wish.alpha)


def _similarity(wish: SelectionSpec, source: Source, tools: Tools) -> Any:
    return tools.similarity(make_similarity(wish, source, ready=tools is CPU))


def _among_rows(wish: SelectionSpec, source: Source, tools: Tools, similarity: Any) -> Any:
    """Return the similarities of the rows to each other, which are those to the targets if there are none."""
    if wish.metric != "precomputed":
        return similarity if wish.targets is None else _similarity(wish._replace(targets=None), source, tools)
    if wish.targets is not None:
        raise InputError("reward='graph_cut' needs the similarities of the rows to each other: a square matrix.")
    table, n = similarity.table, similarity.n
    asymmetric = (abs(table[low : low + BLOCK] - table[:, low : low + BLOCK].T).max() for low in range(0, n, BLOCK))
    positive = (abs(table) + table) / 2
    return similarity if max(asymmetric) <= 1e-6 * similarity.ceiling else Given((positive + positive.T) / 2)


def _mixture(wish: SelectionSpec, source: Source, k: int, tools: Tools) -> Objective:
    n, rewards = int(source.table.shape[0]), {}
    for part, weight in wish.reward.items():
        known = part if isinstance(part, Reward) or (isinstance(part, str) and part in MIXED) else None
        known = folds.as_set_function(part, n, k) if known is None and callable(part) else known
        if known is None:
            raise InputError(
                f"A mixture has rewards among {', '.join(MIXED)}, of listwright.rewards, or functions of row numbers. "
                f"Got {part!r}."
            )
        if not (folds.is_number(weight) and 0 <= weight < np.inf):
            raise InputError(f"The weights of a mixture must be 0 or more. Got {weight!r}.")
        rewards[known] = float(weight)
    if not rewards:
        raise InputError(f"A mixture has rewards among {', '.join(MIXED)}, with their weights. Got none.")
    if wish.engine is not None or wish.options() - {"targets", "weights"}:
        raise InputError("A mixture takes neither neighbors=, sample= nor engine='ray'.")
    parts = [(_fold_maker(wish._replace(reward=part), source, tools), weight) for part, weight in rewards.items()]
    return folds.FoldObjective(lambda: folds.MixtureFold([(make(), weight) for make, weight in parts]), tools.name)


def _facility_location(wish: SelectionSpec, source: Source, rng: np.random.Generator, tools: Tools) -> Objective:
    """Return facility location: exact, on a sample, on nearest neighbours or on stored similarities."""
    if wish.neighbors is not None and wish.sample is not None:
        raise InputError("neighbors= and sample= are alternatives. Pass only one of them.")
    if wish.metric == "precomputed" and (sparse.issparse(source.table) or wish.sample is None):
        if wish.sample is not None:
            raise InputError("A sparse matrix of similarities takes no sample=: all of it is used.")
        graph = _matrix(wish, source)
        return Graph(graph, _weights(wish.weights, graph.shape[1]))
    similarity = make_similarity(wish, source, ready=tools is CPU)
    weights = _weights(wish.weights, similarity.n_targets)
    if wish.neighbors is not None:
        return NearestNeighbors(similarity, weights, _neighbors(wish, similarity), tools.graph, tools.name)
    if wish.sample is not None:
        at_least_one("sample", wish.sample)
    if wish.sample is None or wish.sample >= similarity.n_targets:
        return _dealt(wish, FacilityObjective(similarity, weights, tools.board, tools.name, tools.exchange), rng)
    sampled = np.sort(rng.choice(similarity.n_targets, int(wish.sample), replace=False))
    share = weights[sampled] * (len(weights) / len(sampled))
    on_sample = _dealt(wish, FacilityObjective(similarity.only(sampled), share, tools.board), rng)
    return Sampled(on_sample, similarity, weights, len(sampled), tools.curve, tools.name)


def make_similarity(wish: SelectionSpec, source: Source, *, ready: bool = True) -> SimilarityMatrix:
    if wish.metric == "precomputed":
        return Given(_matrix(wish, source))
    if wish.targets is None:
        rows = make_vectors(source.table, wish.metric)
        rows = rows.prepare() if ready else rows
        return _between(wish, rows, rows)
    table = read_vectors(wish.targets, "targets").table
    if table.shape[1] != source.table.shape[1]:
        raise InputError(f"targets must have {source.table.shape[1]} columns, as vectors. Got {table.shape[1]}.")
    rows = make_vectors(source.table, wish.metric)
    targets = make_vectors(table, wish.metric, "targets", rows.centre)
    return _between(wish, rows.prepare(), targets.prepare()) if ready else _between(wish, rows, targets)


def _between(wish: SelectionSpec, rows: Vectors, targets: Vectors) -> SimilarityMatrix:
    if wish.metric in ("cosine", "dot"):
        return Dots(rows, targets)
    return Distances(rows, targets, gamma_of(wish, rows) if wish.metric == "rbf" else 0.0)


def gamma_of(wish: SelectionSpec, rows: Vectors) -> float:
    """Return the gamma of the rbf kernel: as passed, or 1 over the mean squared distance from the mean."""
    if wish.gamma is None:
        assert rows.away is not None
        spread = float(rows.away.mean())
        return 1.0 / spread if spread > 0 else 1.0
    if not (wish.gamma > 0 and np.isfinite(wish.gamma)):
        raise InputError(f"gamma must be above 0. Got {wish.gamma!r}.")
    return float(wish.gamma)


def _matrix(wish: SelectionSpec, source: Source) -> Any:
    """Return a checked matrix of similarities, CSR or dense; negative entries count as 0."""
    named = isinstance(wish.targets, str) and wish.targets == "columns"
    if wish.neighbors is not None or not (wish.targets is None or named):
        raise InputError("metric='precomputed' takes neither targets= nor neighbors=: the matrix has all similarities.")
    table = source.table
    if table.shape[0] != table.shape[1] and not named:
        raise InputError(
            f"metric='precomputed' takes similarities, one row and one column per item. Got shape {table.shape}. If "
            "these are vectors, leave metric= out, or name a metric. If the columns are other rows to represent, pass "
            "targets='columns'."
        )
    data = sparse.issparse(table)
    for low in range(0, 1 if data else table.shape[0], BLOCK):
        numbers = (table.data if data else table[low : low + BLOCK]).reshape(-1)
        with np.errstate(over="ignore", invalid="ignore"):
            fine = np.isfinite(numbers.sum())  # several times as fast as to look at every number
        bad = None if fine else first_bad(~np.isfinite(numbers))
        if bad is not None:
            at = np.searchsorted(table.indptr, bad, side="right") - 1 if data else low + bad // table.shape[1]
            raise InputError(f"Row {at} of the similarities is not finite.")
    known = table.dtype in (np.float32, np.float64)
    if data:
        return table if known else table.astype(np.float64)
    return np.ascontiguousarray(table, dtype=None if known else np.float32)


def _weights(weights: Any, n: int, what: str = "row to represent") -> Floats:
    if weights is None:
        return np.ones(n)
    array = as_numbers(weights, "weights")
    if array.shape != (n,):
        raise InputError(f"weights must have one entry per {what} ({n}). Got shape {array.shape}.")
    bad = first_bad(~((array >= 0) & np.isfinite(array)))
    if bad is not None:
        raise InputError(f"weights must be 0 or more. Got {array[bad]} at {bad}.")
    return array


def _neighbors(wish: SelectionSpec, similarity: SimilarityMatrix) -> int:
    at_least_one("neighbors", wish.neighbors)
    neighbors = int(wish.neighbors or 0)
    if neighbors > similarity.n:
        raise InputError(f"neighbors={neighbors}, but there are only {similarity.n} rows.")
    size = similarity.n_targets * neighbors * 44
    must_fit(size, f"The graph of {neighbors} neighbours of {similarity.n_targets:,} rows", "Ask for fewer neighbours.")
    return neighbors


def _dealt(wish: SelectionSpec, objective: Any, rng: np.random.Generator) -> Objective:
    if wish.engine is None:
        return objective
    from listwright.selection.cluster import DistributedGreedy

    return DistributedGreedy(objective, wish.engine, rng)


def _log_det(wish: SelectionSpec, source: Source, k: int, tools: Tools) -> folds.LogDetObjective:
    if wish.metric not in ("cosine", "dot", "rbf"):
        raise InputError(f"reward='log_det' needs metric cosine, dot or rbf. Got {wish.metric!r}.")
    n, d = source.table.shape
    size = 4 * n * k if wish.metric == "rbf" else 8 * k * d
    must_fit(size, f"log_det of {k:,} picks", "Ask for fewer rows, or use metric='cosine'.")
    rows = make_vectors(source.table, wish.metric)
    gamma = gamma_of(wish, rows) if wish.metric == "rbf" else 0.0
    return folds.LogDetObjective(rows, gamma, wish.scale, tools.volume, tools.name)


def _saturated_coverage(wish: SelectionSpec, source: Source, tools: Tools) -> Objective:
    if wish.metric == "precomputed" and sparse.issparse(source.table):
        graph = _matrix(wish, source).maximum(0)
        return _on_graph(graph, _weights(wish.weights, graph.shape[1]), wish.alpha)
    if wish.neighbors is None:
        return folds.FoldObjective(_fold_maker(wish, source, tools), tools.name)
    similarity = make_similarity(wish, source, ready=tools is CPU)
    weights = _weights(wish.weights, similarity.n_targets)
    graph = tools.graph(similarity, _neighbors(wish, similarity), silent)
    return _on_graph(graph, weights, wish.alpha)


def _on_graph(graph: Any, weights: Floats, alpha: float) -> Objective:
    """Return saturated coverage on a graph: every target is a topic, covered up to its cap."""
    caps = alpha * np.asarray(graph.sum(axis=0), dtype=np.float64).reshape(-1)
    reward = ConcaveCoverage(graph, "cap", caps, weights, normalize=False)
    return folds.FoldObjective(partial(folds.RewardFold, reward, int(graph.shape[0])))


def _feature_based(wish: SelectionSpec, source: Source) -> Reward:
    n, d = source.table.shape
    stored = source.table.nnz if sparse.issparse(source.table) else n * d
    must_fit(40 * stored, "feature_based", "Pass fewer rows, or a sparse matrix.")
    make_vectors(source.table, "dot")  # raises for numbers that are not finite
    weights = _weights(wish.weights, d, "column") if wish.weights is not None else None
    return ConcaveCoverage(source.table, "sqrt", weights=weights, normalize=False)
