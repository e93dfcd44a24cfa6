"""Turns the arguments of `select` into an objective."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, as_numbers, at_least_one, first_bad
from listwright._internal.progress import silent
from listwright.errors import InputError
from listwright.rewards import ConcaveCoverage, Function, Reward
from listwright.selection.facility import Blocks, FacilityObjective, Sampled, value_curve
from listwright.selection.folds import (
    FacilityFold,
    FoldObjective,
    GraphCutFold,
    LogDetFold,
    LogDetObjective,
    MixtureFold,
    RewardFold,
    SaturatedFold,
    SelectionFold,
    select_volume,
)
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
    "graph_cut": {"weights"},
    **{kind: set() for kind in KINDS},
}
MIXED = ("facility_location", "log_det", "saturated_coverage", "feature_based", "graph_cut")  # with others
MANY_CALLS = 100_000  # of a plain function, from which on a warning says so
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


CPU = Tools("cpu", Blocks, neighbor_graph, select_volume, value_curve, Exchange, lambda similarity: similarity)


def gpu_tools(*, exact: bool) -> Tools:
    """Return the functions for the GPU, which need the extra `gpu`."""
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
        """Return the names of the options that were passed."""
        return {name for name in ("neighbors", "sample", "targets", "weights") if getattr(self, name) is not None}


def make_objective(wish: SelectionSpec, source: Source, k: int, rng: np.random.Generator) -> Objective:
    """Return the objective that the arguments of `select` describe."""
    if wish.metric not in METRICS:
        raise InputError(f"metric must be one of {', '.join(METRICS)}. Got {wish.metric!r}.")
    if isinstance(wish.reward, Mapping):
        return _mixture(wish, source, _tools(wish, source))
    if not isinstance(wish.reward, str):
        return _own_reward(wish, source, k)
    if wish.reward not in REWARDS:
        raise InputError(f"reward must be one of {', '.join(REWARDS)}, or a reward. Got {wish.reward!r}.")
    _takes(wish, wish.reward, TAKES[wish.reward])
    tools = _tools(wish, source)
    if wish.reward == "log_det":
        return _dealt(wish, _log_det(wish, source, k, tools), rng)
    if wish.reward == "feature_based":
        return FoldObjective(_fold_maker(wish, source, tools))
    if wish.reward == "saturated_coverage":
        return _saturated_coverage(wish, source, tools)
    if wish.reward == "graph_cut":
        return FoldObjective(_fold_maker(wish, source, tools), wish.redundancy <= 0.5, tools.name)
    if wish.reward in KINDS:
        if wish.metric == "dot":
            raise InputError(f"reward={wish.reward!r} needs metric cosine, rbf, euclidean or precomputed. Got 'dot'.")
        return Dispersion(_similarity(wish, source, tools), wish.reward, tools.name)
    return _facility_location(wish, source, rng, tools)


def _tools(wish: SelectionSpec, source: Source) -> Tools:
    """Return the functions of the device that does the work."""
    if wish.precision not in ("fast", "exact"):
        raise InputError(f"precision must be fast or exact. Got {wish.precision!r}.")
    n, d = source.table.shape
    mixed = isinstance(wish.reward, Mapping)
    known = all(reward in ON_GPU[mixed:] for reward in (wish.reward if mixed else [wish.reward]))
    known = known and wish.metric != "precomputed"
    known = known and not (sparse.issparse(source.table) and d > DENSE)
    if wish.engine is not None and wish.device == "cuda":
        raise InputError("engine='ray' works on CPUs. Pass device='cpu', or leave engine= out.")
    known = known and wish.engine is None
    passes = known and not (isinstance(wish.reward, str) and wish.reward in KINDS)
    wanted = wants_gpu(wish.device, 2.0 * n * d * min(n, wish.sample or n) if passes else 0.0)
    if wanted and not known:
        raise InputError(f"reward={wish.reward!r} with metric={wish.metric!r} on this table runs on the CPU alone.")
    return gpu_tools(exact=wish.precision == "exact") if wanted else CPU


def engine_of(engine: Any) -> Ray | None:
    """Return the Ray engine, or None for this machine."""
    if isinstance(engine, str) and engine == "local":
        return None
    from listwright.engines import Ray, as_engine

    opened = as_engine(engine)
    return opened if isinstance(opened, Ray) else None


def _takes(wish: SelectionSpec, what: str, known: set[str]) -> None:
    """Raise if an option was passed that the reward does not use, or that the engine does not support."""
    if wish.engine is not None and (what not in DEALT or wish.neighbors is not None or wish.metric == "precomputed"):
        raise InputError("engine='ray' is for facility_location and log_det of vectors, without neighbors=.")
    unused = sorted(wish.options() - known)
    if unused:
        raise InputError(f"reward={what!r} does not use {unused[0]}=. Omit it.")


def _own_reward(wish: SelectionSpec, source: Source, k: int) -> Objective:
    """Return the objective of a reward object, or of a function that makes one from the vectors."""
    _takes(wish, type(wish.reward).__name__, set())
    reward = wish.reward
    n = int(source.table.shape[0])
    if not isinstance(reward, Reward) and callable(reward):
        if _is_set_function(reward):
            return FoldObjective(partial(RewardFold, _set_function(reward, n, k), n))
        table = source.table if sparse.issparse(source.table) else np.asarray(source.table)
        reward = reward(table)
    if not isinstance(reward, Reward):
        raise InputError(
            f"reward must be one of {', '.join(REWARDS)}, a reward of listwright.rewards for these rows, or a function "
            f"that makes one from the vectors. Got {type(reward).__name__}."
        )
    return FoldObjective(partial(RewardFold, reward, n))


def _is_set_function(reward: Any) -> bool:
    """Return whether a function gives a number for no rows, or for one."""
    for rows in ([], [0]):
        try:
            return isinstance(reward(np.array(rows, dtype=np.int64)), int | float | np.number)
        except (InputError, ValueError, TypeError, IndexError, AttributeError, ZeroDivisionError):
            continue
    return False


def _set_function(reward: Any, n: int, k: int) -> Reward:
    """Return a function of row numbers as a reward; warns if it is called very often."""
    if n * k > MANY_CALLS:
        warnings.warn(f"The reward is a plain function: about {n * k:,} calls of it follow.", stacklevel=4)
    return Function(lambda problem, items: reward(np.array(items, dtype=np.int64)), submodular=False)


def _fold_maker(wish: SelectionSpec, source: Source, tools: Tools) -> Callable[[], SelectionFold]:
    """Return a function that starts the fold of a reward that is measured by blocks."""
    if isinstance(wish.reward, Reward):
        return partial(RewardFold, wish.reward, int(source.table.shape[0]))
    if wish.reward == "feature_based":
        return partial(RewardFold, _feature_based(wish, source), int(source.table.shape[0]))
    if wish.reward == "log_det":
        return partial(LogDetFold, make_vectors(source.table, wish.metric), wish.scale)
    if wish.reward == "facility_location":
        similarity = make_similarity(wish, source, ready=tools is CPU)
        return partial(FacilityFold, similarity, _weights(wish.weights, similarity.n_targets), tools.board)
    similarity = _similarity(wish, source, tools)
    weights = _weights(wish.weights, similarity.n_targets)
    if wish.reward == "graph_cut":
        if not (wish.redundancy >= 0 and np.isfinite(wish.redundancy)):
            raise InputError(f"redundancy must be 0 or more. Got {wish.redundancy!r}.")
        return partial(GraphCutFold, similarity, weights, wish.redundancy)
    return partial(SaturatedFold, similarity, weights, wish.alpha)


def _similarity(wish: SelectionSpec, source: Source, tools: Tools) -> Any:
    """Return the similarities on the device."""
    return tools.similarity(make_similarity(wish, source, ready=tools is CPU))


def _mixture(wish: SelectionSpec, source: Source, tools: Tools) -> Objective:
    """Return a weighted sum of rewards, given as a dictionary from rewards to weights."""
    bad = [part for part in wish.reward if not isinstance(part, Reward) and part not in MIXED]
    if bad or not wish.reward:
        raise InputError(f"A mixture has rewards among {', '.join(MIXED)}, or of listwright.rewards. Got {bad!r}.")
    if wish.engine is not None or wish.options() - {"targets", "weights"}:
        raise InputError("A mixture takes neither neighbors=, sample= nor engine='ray'.")
    parts = [(_fold_maker(wish._replace(reward=part), source, tools), float(w)) for part, w in wish.reward.items()]
    if min(weight for _, weight in parts) < 0:
        raise InputError("The weights of a mixture must be 0 or more.")
    monotone = "graph_cut" not in wish.reward or wish.redundancy <= 0.5
    return FoldObjective(lambda: MixtureFold([(make(), weight) for make, weight in parts]), monotone, tools.name)


def _facility_location(wish: SelectionSpec, source: Source, rng: np.random.Generator, tools: Tools) -> Objective:
    """Return facility location: exact, on a sample, on nearest neighbours or on stored similarities."""
    if wish.neighbors is not None and wish.sample is not None:
        raise InputError("neighbors= and sample= are alternatives. Pass only one of them.")
    if wish.metric == "precomputed" and (sparse.issparse(source.table) or wish.sample is None):
        graph = _stored_similarities(wish, source)
        return Graph(graph, _weights(wish.weights, graph.shape[1]))
    similarity = make_similarity(wish, source, ready=tools is CPU)
    weights = _weights(wish.weights, similarity.n_targets)
    if wish.neighbors is not None:
        return NearestNeighbors(similarity, weights, _neighbors(wish, similarity), tools.graph, tools.name)
    if wish.sample is None or _sample_size(wish) >= similarity.n_targets:
        return _dealt(wish, FacilityObjective(similarity, weights, tools.board, tools.name, tools.exchange), rng)
    sampled = np.sort(rng.choice(similarity.n_targets, _sample_size(wish), replace=False))
    share = weights[sampled] * (len(weights) / len(sampled))
    on_sample = _dealt(wish, FacilityObjective(similarity.only(sampled), share, tools.board), rng)
    return Sampled(on_sample, similarity, weights, len(sampled), tools.curve, tools.name)


def make_similarity(wish: SelectionSpec, source: Source, *, ready: bool = True) -> SimilarityMatrix:
    """Return the similarities of the rows to the targets, or to each other if there are none."""
    if wish.metric == "precomputed":
        if wish.targets is not None or wish.neighbors is not None:
            raise InputError(
                "metric='precomputed' takes neither targets= nor neighbors=: the matrix has all similarities."
            )
        return Given(_matrix(source.table))
    if wish.targets is None:
        rows = make_vectors(source.table, wish.metric)
        rows = rows.prepare() if ready else rows
        return _between(wish, rows, rows)
    table = read_vectors(wish.targets, "targets").table
    if table.shape[1] != source.table.shape[1]:
        raise InputError(f"targets must have {source.table.shape[1]} columns, as vectors. Got {table.shape[1]}.")
    targets = make_vectors(table, wish.metric, "targets")
    rows = make_vectors(source.table, wish.metric, centre=targets.centre)
    return _between(wish, rows.prepare(), targets.prepare()) if ready else _between(wish, rows, targets)


def _between(wish: SelectionSpec, rows: Vectors, targets: Vectors) -> SimilarityMatrix:
    """Return the similarity of the metric between rows and targets."""
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


def _matrix(table: Any) -> Any:
    """Return a matrix of similarities, or raise if one is not finite or if it looks like a table of vectors."""
    for low in range(0, table.shape[0], 512):
        if not np.isfinite(table[low : low + 512]).all():
            row = low + int(np.argmax(~np.isfinite(table[low : low + 512]).all(axis=1)))
            raise InputError(f"Row {row} of the similarities is not finite.")
    if table.shape[0] != table.shape[1] and (table[:BLOCK] < 0).any():
        raise InputError(
            f"metric='precomputed' takes similarities, one row and one column per item. Got shape {table.shape} with "
            "negative numbers, which look like vectors: leave metric= out, or name a metric."
        )
    return table


def _stored_similarities(wish: SelectionSpec, source: Source) -> Any:
    """Return a checked matrix of similarities, CSR or dense; negative entries count as 0."""
    if wish.options() - {"weights"}:
        raise InputError(
            "metric='precomputed' takes neither targets=, sample= nor neighbors=: it has all similarities."
        )
    if not sparse.issparse(source.table):
        table = _matrix(source.table)
        return np.ascontiguousarray(table, dtype=None if table.dtype in (np.float32, np.float64) else np.float32)
    bad = first_bad(~np.isfinite(source.table.data))
    if bad is not None:
        row = int(np.searchsorted(source.table.indptr, bad, side="right")) - 1
        raise InputError(f"Row {row} of the similarities is not finite.")
    return source.table if source.table.dtype.kind == "f" else source.table.astype(np.float64)


def _weights(weights: Any, n: int, what: str = "row to represent") -> Floats:
    """Return one weight per target or column, or raise if one is negative; 1 each for None."""
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
    """Return the number of neighbours, or raise if it exceeds the rows or if the graph would not fit into memory."""
    at_least_one("neighbors", wish.neighbors)
    neighbors = int(wish.neighbors or 0)
    if neighbors > similarity.n:
        raise InputError(f"neighbors={neighbors}, but there are only {similarity.n} rows.")
    size = similarity.n_targets * neighbors * 44
    must_fit(size, f"The graph of {neighbors} neighbours of {similarity.n_targets:,} rows", "Ask for fewer neighbours.")
    return neighbors


def _sample_size(wish: SelectionSpec) -> int:
    """Return the sample size, or raise if it is below 1."""
    at_least_one("sample", wish.sample)
    return int(wish.sample or 0)


def _dealt(wish: SelectionSpec, objective: FacilityObjective | LogDetObjective, rng: np.random.Generator) -> Objective:
    """Return the objective for this machine, or for the Ray cluster if there is one."""
    if wish.engine is None:
        return objective
    from listwright.selection.cluster import DistributedGreedy

    return DistributedGreedy(objective, wish.engine, rng)


def _log_det(wish: SelectionSpec, source: Source, k: int, tools: Tools) -> LogDetObjective:
    """Return log det of vectors, or raise if the metric or the scale is not supported or memory would not suffice."""
    if wish.metric not in ("cosine", "dot", "rbf"):
        raise InputError(f"reward='log_det' needs metric cosine, dot or rbf. Got {wish.metric!r}.")
    if not (wish.scale > 0 and np.isfinite(wish.scale)):
        raise InputError(f"scale must be above 0. Got {wish.scale!r}.")
    n, d = source.table.shape
    size = 4 * n * k if wish.metric == "rbf" else 8 * k * d
    must_fit(size, f"log_det of {k:,} picks", "Ask for fewer rows, or use metric='cosine'.")
    rows = make_vectors(source.table, wish.metric)
    return LogDetObjective(
        rows, gamma_of(wish, rows) if wish.metric == "rbf" else 0.0, wish.scale, tools.volume, tools.name
    )


def _saturated_coverage(wish: SelectionSpec, source: Source, tools: Tools) -> Objective:
    """Return saturated coverage: exact, on nearest neighbours or on stored similarities."""
    if not 0 < wish.alpha <= 1:
        raise InputError(f"alpha must be above 0 and at most 1. Got {wish.alpha!r}.")
    if wish.metric == "precomputed" and sparse.issparse(source.table):
        graph = _stored_similarities(wish, source)
        return _on_graph(graph, _weights(wish.weights, graph.shape[1]), wish.alpha)
    if wish.neighbors is None:
        return FoldObjective(_fold_maker(wish, source, tools), device=tools.name)
    similarity = make_similarity(wish, source, ready=tools is CPU)
    weights = _weights(wish.weights, similarity.n_targets)
    graph = tools.graph(similarity, _neighbors(wish, similarity), silent)
    return _on_graph(graph, weights, wish.alpha)


def _on_graph(graph: Any, weights: Floats, alpha: float) -> Objective:
    """Return saturated coverage on a graph: every target is a topic, covered up to its cap."""
    caps = alpha * np.asarray(graph.sum(axis=0), dtype=np.float64).reshape(-1)
    reward = ConcaveCoverage(graph, "cap", caps, weights, normalize=False)
    return FoldObjective(partial(RewardFold, reward, int(graph.shape[0])))


def _feature_based(wish: SelectionSpec, source: Source) -> Reward:
    """Return the reward that sums the square root of each column."""
    n, d = source.table.shape
    stored = source.table.nnz if sparse.issparse(source.table) else n * d
    must_fit(40 * stored, "feature_based", "Pass fewer rows, or a sparse matrix.")
    make_vectors(source.table, "dot")  # raises for numbers that are not finite
    weights = _weights(wish.weights, d, "column") if wish.weights is not None else None
    return ConcaveCoverage(source.table, "sqrt", weights=weights, normalize=False)
