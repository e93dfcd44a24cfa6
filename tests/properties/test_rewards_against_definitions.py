"""Every reward against its definition in one line, on whatever hypothesis comes up with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

import listwright as lw
from listwright.rewards import Reward

Definition = Callable[[slice, list[int]], float]  # (rows of the problem, positions in the list) -> value
SHARES = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.01, 1.0))
COUNTS = st.lists(st.integers(1, 5), min_size=1, max_size=3)
TOKENS = st.lists(st.sampled_from("abcd"), max_size=6)
SHAPES: dict[str, Callable[[Any, Any], Any]] = {
    "sqrt": lambda x, cap: np.sqrt(x),
    "log": lambda x, cap: np.log(1 + x),
    "cap": lambda x, cap: np.minimum(x, cap),
}
many = settings(max_examples=60, deadline=None, derandomize=True)


def table(draw: Any, counts: list[int], width: int, elements: Any = SHARES) -> Any:
    return draw(arrays(np.float64, (sum(counts), width), elements=elements))


def either_kind(draw: Any, matrix: Any) -> Any:
    """The matrix itself, or as CSR, with or without stored zeros."""
    kind = draw(st.sampled_from(["dense", "sparse", "stored zeros"]))
    if kind == "stored zeros":
        n, width = matrix.shape
        return sparse.csr_array((matrix.ravel(), np.tile(np.arange(width), n), np.arange(n + 1) * width), matrix.shape)
    return matrix if kind == "dense" else sparse.csr_matrix(matrix)


def share(value: float, total: float, normalize: bool) -> float:
    return float(min(1.0, value / (total or 1.0)) if normalize else value)


def check(draw: Any, reward: Reward, counts: list[int], definition: Definition) -> None:
    """Folds drawn lists, repeats among them, and compares values and all gains with the definition."""
    offsets = np.concatenate([[0], np.cumsum(counts)])
    problems = lw.Problems.from_arrays(np.zeros((offsets[-1], 1)), offsets=offsets, reward=reward)
    lists = [draw(st.lists(st.integers(0, n - 1), max_size=5)) for n in counts]
    reward = problems.reward
    state = reward.start(problems)
    for i in range(max(map(len, lists))):
        picks = [offsets[j] + items[i] if i < len(items) else -1 for j, items in enumerate(lists)]
        state = reward.add(state, np.array(picks))
    rows = [slice(start, end) for start, end in pairwise(offsets.tolist())]
    values = [definition(mine, items) for mine, items in zip(rows, lists, strict=True)]
    after = [[definition(rows[i], [*lists[i], new]) for new in range(n)] for i, n in enumerate(counts)]
    np.testing.assert_allclose(reward.value(state), values, rtol=1e-9, atol=1e-9)
    gains = np.concatenate([np.array(one) - value for one, value in zip(after, values, strict=True)])
    np.testing.assert_allclose(reward.gains(state), gains, rtol=1e-9, atol=1e-9)
    some = np.arange(offsets[-1])[::2].copy()
    np.testing.assert_array_equal(reward.gains_of(state, some), reward.gains(state)[some])


@many
@given(st.data(), COUNTS)
def test_any_success(data: Any, counts: list[int]) -> None:
    success = table(data.draw, counts, 1).ravel()
    check(data.draw, lw.rewards.AnySuccess(success), counts, lambda mine, L: 1 - np.prod(1 - success[mine][L]))


@many
@given(st.data(), COUNTS, st.booleans())
def test_coverage(data: Any, counts: list[int], normalize: bool) -> None:
    covers = table(data.draw, counts, 4, st.sampled_from([0.0, 1.0]))
    w = data.draw(arrays(np.float64, 4, elements=SHARES))
    reward = lw.rewards.Coverage(either_kind(data.draw, covers), w, normalize=normalize)

    def definition(mine: slice, L: list[int]) -> float:
        return share(w[covers[mine][L].any(axis=0)].sum(), w[covers[mine].any(axis=0)].sum(), normalize)

    check(data.draw, reward, counts, definition)


@many
@given(st.data(), COUNTS, st.booleans())
def test_probabilistic_coverage(data: Any, counts: list[int], normalize: bool) -> None:
    p, w = table(data.draw, counts, 3), data.draw(arrays(np.float64, 3, elements=SHARES))
    reward = lw.rewards.ProbabilisticCoverage(either_kind(data.draw, p), w, normalize=normalize)

    def definition(mine: slice, L: list[int]) -> float:
        return share(w @ (1 - np.prod(1 - p[mine][L], axis=0)), w[p[mine].any(axis=0)].sum(), normalize)

    check(data.draw, reward, counts, definition)


@many
@given(st.data(), COUNTS, st.sampled_from(sorted(SHAPES)), st.booleans())
def test_concave_coverage(data: Any, counts: list[int], shape: str, normalize: bool) -> None:
    covers = table(data.draw, counts, 3, st.one_of(st.just(0.0), st.floats(0.01, 9.0)))
    w, caps = data.draw(arrays(np.float64, (2, 3), elements=SHARES))
    reward = lw.rewards.ConcaveCoverage(
        either_kind(data.draw, covers), shape, caps if shape == "cap" else None, w, normalize=normalize
    )

    def definition(mine: slice, L: list[int]) -> float:
        bent = SHAPES[shape]
        return share(w @ bent(covers[mine][L].sum(axis=0), caps), w @ bent(covers[mine].sum(axis=0), caps), normalize)

    check(data.draw, reward, counts, definition)


@many
@given(st.data(), COUNTS, st.booleans(), st.sampled_from([np.float32, np.float64, "sparse"]))
def test_facility_location(data: Any, counts: list[int], normalize: bool, kind: Any) -> None:
    elements = st.one_of(st.just(0.0), st.floats(-1.0, 1.0, width=16))
    S = [data.draw(arrays(np.float64, (n, n), elements=elements)) for n in counts]
    given_as = (
        sparse.block_diag([sparse.csr_array(block) for block in S], format="csr")
        if kind == "sparse"
        else [block.astype(kind) for block in S]
    )
    starts = np.cumsum([0, *counts]).tolist()

    def definition(mine: slice, L: list[int]) -> float:
        block = S[starts.index(mine.start)]
        return share(block[L].max(axis=0, initial=0).sum(), block.max(axis=0, initial=0).sum(), normalize)

    check(data.draw, lw.rewards.FacilityLocation(given_as, normalize=normalize), counts, definition)


@many
@given(st.data(), COUNTS, st.sampled_from([0.1, 1.0, 7.0]), st.booleans())
def test_log_det(data: Any, counts: list[int], scale: float, normalize: bool) -> None:
    V = table(data.draw, counts, 3, st.one_of(st.just(0.0), st.floats(0.01, 2.0), st.floats(-2.0, -0.01)))

    def log_det(v: Any) -> float:
        return float(np.linalg.slogdet(np.eye(len(v)) + scale * v @ v.T)[1])

    def definition(mine: slice, L: list[int]) -> float:
        return share(log_det(V[mine][L]), log_det(V[mine]), normalize)

    check(data.draw, lw.rewards.LogDet(V, scale, normalize=normalize), counts, definition)


@many
@given(st.data(), COUNTS, st.integers(1, 3), st.booleans(), st.integers(1, 3))
def test_rouge(data: Any, counts: list[int], n: int, best: bool, n_references: int) -> None:
    texts = [data.draw(TOKENS) for _ in range(sum(counts))]
    references = [[["a", *data.draw(TOKENS)] for _ in range(n_references)] for _ in counts]
    starts = np.cumsum([0, *counts]).tolist()

    def grams(text: list[str]) -> Counter[tuple[str, ...]]:
        return Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1))

    def recall(mine: slice, L: list[int], reference: list[str]) -> float:
        listed = sum((grams(texts[mine][i]) for i in L), Counter())
        return (listed & grams(reference)).total() / max(grams(reference).total(), 1)

    def definition(mine: slice, L: list[int]) -> float:
        return float((np.max if best else np.mean)([recall(mine, L, r) for r in references[starts.index(mine.start)]]))

    check(data.draw, lw.rewards.Rouge(texts, references, n, best=best), counts, definition)


@many
@given(st.data(), COUNTS, st.booleans())
def test_mixture_and_function(data: Any, counts: list[int], normalize: bool) -> None:
    success = table(data.draw, counts, 1).ravel()
    a, b = data.draw(st.floats(0.1, 5.0)), data.draw(st.floats(0.1, 5.0))
    parts = [lw.rewards.AnySuccess(success), lw.rewards.Function(lambda problem, items: len(set(items)) / 5)]
    reward = lw.rewards.WeightedSum(parts, [a, b], normalize=normalize)

    def definition(mine: slice, L: list[int]) -> float:
        total = a * (1 - np.prod(1 - success[mine][L])) + b * len(set(L)) / 5
        return float(total / (a + b) if normalize else total)

    check(data.draw, reward, counts, definition)
