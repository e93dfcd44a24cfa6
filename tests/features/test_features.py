"""Every feature against a slow, plain definition, over growing lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import listwright as lw
from listwright.errors import InputError
from listwright.features import Candidate, Distance, Features, Identity, Position, Sum, Volume
from listwright.features.auto import auto_features, paper_features
from tests.problem_tools import ragged_problems

COUNTS = (3, 1, 5, 4)


def make_problems(seed: int = 0, *, d: int = 3, v: int = 0, whole: bool = False, csr: bool = False) -> lw.Problems:
    rng, counts = np.random.default_rng(seed), (5,) * 4 if whole else COUNTS
    table = rng.normal(2.0, 3.0, size=(sum(counts), d)).astype(np.float32)
    return ragged_problems(counts, table, rng, csr=csr, vectors=rng.random((sum(counts), v)) if v else None)


def grown(features: Features, problems: lw.Problems, lists: list[list[int]]) -> Any:
    """What is seen after the lists (by problem, of rows within it) were built item by item."""
    seen = features.start(problems)
    for position in range(max(map(len, lists))):
        picks = [
            problems.offsets[i] + items[position] if position < len(items) else -1 for i, items in enumerate(lists)
        ]
        seen = features.add(seen, np.array(picks))
    return seen


LISTS = [[0, 2, 0], [], [4, 1], [3]]


def by_problem(table: np.ndarray, problems: lw.Problems) -> list[np.ndarray]:
    return np.split(table, problems.offsets[1:-1])


def standardized(problems: lw.Problems) -> np.ndarray:
    x = np.asarray(problems.features, dtype=np.float64)
    return (x - x.mean(axis=0)) / x.std(axis=0)


# Candidate


def test_candidate_is_standardized_by_the_training_rows_and_has_the_context() -> None:
    train, new = make_problems(0), make_problems(1)
    fitted = Candidate().fit(train)
    x, c = np.asarray(train.features, np.float64), np.asarray(train.context, np.float64)
    expected = np.concatenate(
        [
            (new.features - x.mean(axis=0)) / x.std(axis=0),
            ((new.context - c.mean(axis=0)) / c.std(axis=0))[new.owners],
        ],
        axis=1,
    )
    np.testing.assert_allclose(fitted.columns(fitted.start(new)), expected, rtol=1e-4, atol=1e-5)
    assert fitted.names() == ["feature 0", "feature 1", "feature 2", "context 0", "context 1"]


def test_candidate_as_it_is() -> None:
    problems = make_problems()
    fitted = Candidate(standardize=False).fit(problems)
    np.testing.assert_array_equal(fitted.columns(fitted.start(problems))[:, :3], problems.features)


@pytest.mark.parametrize("value", [0.0, 1e-20, 7.5, 3e6, -1e4])
def test_a_constant_column_becomes_zero_and_never_blows_up(value: float) -> None:
    x = np.full((2, 3, 2), value)
    x[..., 1] = np.arange(6).reshape(2, 3)
    problems = lw.Problems.from_arrays(x)
    fitted = Candidate().fit(problems)
    columns = fitted.columns(fitted.start(problems))
    assert np.abs(columns[:, 0]).max() <= 1e-6 * max(1.0, abs(value))
    np.testing.assert_allclose(columns[:, 1].std(), 1.0, rtol=1e-5)


def test_large_offsets_do_not_spoil_the_scale() -> None:
    spread = np.random.default_rng(0).integers(-3, 4, size=(20, 5, 1)).astype(float)
    problems = lw.Problems.from_arrays(100_000.0 + spread)
    fitted = Candidate().fit(problems)
    expected = (spread - spread.mean()) / spread.std()
    np.testing.assert_allclose(fitted.columns(fitted.start(problems)).ravel(), expected.ravel(), atol=0.01)


# Distance


@pytest.mark.parametrize("standardize", [True, False])
def test_distance_is_the_minimum_and_the_mean_over_the_list(standardize: bool) -> None:
    problems = make_problems()
    fitted = Distance(standardize=standardize).fit(problems)
    columns = fitted.columns(grown(fitted, problems, LISTS))
    tables = by_problem(standardized(problems) if standardize else problems.features, problems)
    for items, table, mine in zip(LISTS, tables, by_problem(columns, problems), strict=True):
        gaps = [np.abs(table - table[item]) for item in items] or [np.zeros_like(table)]
        np.testing.assert_allclose(mine[:, :3], np.min(gaps, axis=0), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(mine[:, 3:], np.mean(gaps, axis=0), rtol=1e-4, atol=1e-5)


def test_distance_can_give_one_of_the_two() -> None:
    problems = make_problems()
    both = Distance().fit(problems)
    smallest, mean = Distance(mean=False).fit(problems), Distance(minimum=False).fit(problems)
    parts = [one.columns(grown(one, problems, LISTS)) for one in (smallest, mean)]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), both.columns(grown(both, problems, LISTS)))
    assert smallest.names() + mean.names() == both.names()
    with pytest.raises(InputError, match="has no columns"):
        Distance(minimum=False, mean=False).fit(problems)


# Position


def test_position_is_a_bias_and_a_flag_for_empty_lists() -> None:
    problems = make_problems()
    columns = Position().columns(grown(Position(), problems, LISTS))
    assert (columns[:, 0] == 1).all()
    empty = np.array([not items for items in LISTS])
    np.testing.assert_array_equal(columns[:, 1], empty[problems.owners])


# Identity


def test_identity_crosses_the_context_and_the_list() -> None:
    problems = make_problems(whole=True)
    fitted = Identity(("context", "list")).fit(problems)
    lists = [[0, 2, 0], [], [4, 1], [3]]
    crossed = fitted.cross_columns(grown(fitted, problems, lists))
    context = (problems.context - problems.context.mean(axis=0)) / problems.context.std(axis=0)
    context /= np.sqrt(problems.context.shape[1])  # the columns together have a variance of 1
    held = np.zeros((4, 5))
    for i, items in enumerate(lists):
        held[i, problems.catalogue[problems.offsets[i] + np.array(items, dtype=int)]] = 1
    expected = np.concatenate([np.ones((4, 1)), context, held], axis=1)
    np.testing.assert_allclose(crossed.states, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(crossed.items, problems.catalogue)
    assert crossed.n_items == 5


@pytest.mark.parametrize("csr", [False, True])
def test_identity_crosses_all_candidates_in_catalogue_order(csr: bool) -> None:
    problems = make_problems(whole=True, csr=csr)
    fitted = Identity(("candidates",), standardize=False).fit(problems)
    states = fitted.cross_columns(fitted.start(problems)).states
    for i, row in enumerate(states):
        mine = problems[i]
        table = mine.features.toarray() if csr else mine.features
        np.testing.assert_array_equal(row[1:], table[np.argsort(mine.catalogue)].ravel())


def test_identity_says_what_it_needs() -> None:
    problems = make_problems(whole=True)
    for cross, given, message in (
        (("size",), problems, "cross must be some of context, list, candidates. Got 'size'"),
        ((), lw.Problems.from_arrays(np.zeros((1, 2, 1))), "need a catalogue"),
        (("context",), lw.Problems.from_arrays(np.zeros((1, 2, 1)), catalogue=[0, 1]), "have none"),
        (("candidates",), make_problems(), "hold the whole catalogue"),
    ):
        with pytest.raises(InputError, match=message):
            Identity(cross).fit(given)


def test_items_that_training_did_not_have_have_no_columns() -> None:
    fitted = Identity().fit(lw.Problems.from_arrays(np.zeros((2, 3, 1)), catalogue=[0, 1, 2]))
    rows = fitted.rows(fitted.start(lw.Problems.from_arrays(np.zeros((2, 3, 1)), catalogue=[1, 2, 3])))
    np.testing.assert_array_equal(rows.written_out()[:3, 1:], [[0, 1, 0], [0, 0, 1], [0, 0, 0]])


# Volume


def gram_determinant(vectors: np.ndarray, items: list[int]) -> float:
    unit = vectors[items] / np.linalg.norm(vectors[items], axis=1, keepdims=True)
    return float(np.linalg.det(unit @ unit.T))


@pytest.mark.parametrize("csr", [False, True])
@pytest.mark.parametrize("own_vectors", [False, True])
def test_volume_is_the_determinant_of_the_gram_matrix(csr: bool, own_vectors: bool) -> None:
    rng = np.random.default_rng(1)
    x, vectors = rng.normal(size=(12, 9)), rng.normal(size=(12, 10)).astype(np.float32)
    given: Any = sparse.csr_array(vectors) if csr else vectors
    if own_vectors:
        problems = lw.Problems.from_arrays(x, offsets=[0, 12], vectors=given)
    else:
        problems = lw.Problems.from_arrays(given, offsets=[0, 12])
    fitted = Volume(times_features=False).fit(problems)
    items: list[int] = []
    seen = fitted.start(problems)
    for item in rng.permutation(12)[:8].tolist():
        expected = [gram_determinant(vectors.astype(np.float64), [*items, row]) for row in range(12)]
        np.testing.assert_allclose(fitted.columns(seen).ravel(), expected, rtol=1e-5, atol=1e-7)
        seen = fitted.add(seen, np.array([item]))
        items.append(item)


def test_volume_times_the_features_is_scaled_by_the_training_rows() -> None:
    problems = make_problems(v=6)
    plain, times = Volume(times_features=False).fit(problems), Volume().fit(problems)
    volume = plain.columns(grown(plain, problems, LISTS))
    expected = np.concatenate([volume, volume * standardized(problems)], axis=1)
    np.testing.assert_allclose(times.columns(grown(times, problems, LISTS)), expected, rtol=1e-4, atol=1e-5)
    assert times.names() == ["volume", *(f"volume x feature {i}" for i in range(3))]


def test_relative_volume_is_the_share_outside_the_span() -> None:
    problems = make_problems(v=6)
    fitted = Volume(times_features=False, relative=True).fit(problems)
    columns = by_problem(fitted.columns(grown(fitted, problems, LISTS)), problems)
    for items, mine, vectors in zip(LISTS, columns, by_problem(problems.vectors, problems), strict=True):
        unit = vectors.astype(np.float64) / np.linalg.norm(vectors, axis=1, keepdims=True)
        inside = np.linalg.pinv(unit[items]) @ unit[items] if items else np.zeros((6, 6))
        np.testing.assert_allclose(mine.ravel(), 1 - np.einsum("ij,jk,ik->i", unit, inside, unit), atol=1e-6)


@pytest.mark.parametrize("relative", [False, True])
def test_volume_is_sane_for_fifty_items_with_duplicates_and_zeros(relative: bool) -> None:
    rng = np.random.default_rng(2)
    vectors = rng.random((60, 25))  # fifty items cannot be independent in 25 dimensions
    vectors[10:20], vectors[20:25], vectors[25] = vectors[:10], 3.0 * vectors[:5], 0.0
    vectors[26] = vectors[0] + 1e-6 * vectors[1]
    problems = lw.Problems.from_arrays(np.ones((1, 60, 1)), vectors=vectors[None])
    fitted = Volume(relative=relative).fit(problems)
    seen, before = fitted.start(problems), np.full(60, np.inf)
    taken: list[int] = []
    for item in rng.permutation(60)[:50].tolist():
        seen, taken = fitted.add(seen, np.array([item])), [*taken, item]
        columns = fitted.columns(seen)
        assert np.isfinite(columns).all()
        assert (columns[:, 0] >= 0).all()
        assert (columns[:, 0] <= before + 1e-6).all()  # a longer list leaves less room
        assert np.abs(columns[taken, 0]).max() <= 1e-6  # what is in the list spans nothing new
        before = columns[:, 0]
    assert before.max() <= 1e-6


def test_the_volume_of_fifty_independent_items_keeps_its_digits() -> None:
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(52, 80)).astype(np.float32)
    problems = lw.Problems.from_arrays(np.ones((1, 52, 1)), vectors=vectors[None])
    fitted = Volume(times_features=False, relative=True).fit(problems)
    seen = grown(fitted, problems, [list(range(50))])
    unit = vectors / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    total = np.linalg.slogdet(unit[:50] @ unit[:50].T)[1]
    np.testing.assert_allclose(seen.log_volume, total, rtol=1e-9)
    for row in (50, 51):
        items = [*range(50), row]
        expected = np.exp(np.linalg.slogdet(unit[items] @ unit[items].T)[1] - total)
        np.testing.assert_allclose(fitted.columns(seen)[row, 0], expected, rtol=1e-5)


def test_volume_without_products_leaves_wide_sparse_features_alone() -> None:
    rows = np.arange(2500)
    wide = sparse.csr_array((np.ones(2500, np.float32), (rows, rows * 399)), shape=(2500, 1_000_000))
    problems = lw.Problems.from_arrays(wide, offsets=[0, 2500])
    fitted = Volume(times_features=False).fit(problems)
    seen = fitted.add(fitted.start(problems), np.array([7]))
    np.testing.assert_array_equal(fitted.columns(seen).ravel(), rows != 7)


# Sums


def test_a_sum_is_its_parts_side_by_side() -> None:
    problems = make_problems()
    parts = [Candidate(), Distance(), Position(), Identity()]
    total = Sum(parts).fit(problems)
    fitted = [part.fit(problems) for part in parts]
    expected = [part.columns(grown(part, problems, LISTS)) for part in fitted]
    np.testing.assert_array_equal(
        total.columns(grown(total, problems, LISTS)), np.concatenate(expected, axis=1, dtype=np.float32)
    )
    assert total.names() == [name for part in fitted for name in part.names()]


def test_adding_up_is_flat_and_leaves_the_terms_alone() -> None:
    a, b = Candidate() + Position(), Distance()
    assert [type(part) for part in (a + b).parts] == [Candidate, Position, Distance]
    assert [type(part) for part in (b + a).parts] == [Distance, Candidate, Position]
    assert len(a.parts) == 2
    (a + b).fit(make_problems())
    assert not hasattr(a.parts[0], "scale_")


def test_two_crossed_parts_are_refused_instead_of_dropped() -> None:
    problems = make_problems()
    fitted = (Identity() + Identity(("list",))).fit(problems)
    with pytest.raises(InputError, match="Only one part"):
        fitted.rows(fitted.start(problems))


def test_rows_written_out_have_all_columns() -> None:
    problems = make_problems(whole=True)
    fitted = (Candidate() + Identity(("context",))).fit(problems)
    rows = fitted.rows(fitted.start(problems))
    table = rows.written_out()
    assert table.shape == (20, 5 + 3 + 5)
    np.testing.assert_array_equal(table[:, 8:].argmax(axis=1), problems.catalogue)
    np.testing.assert_array_equal(table[:, 5:8], rows.crossed.states[problems.owners])


@pytest.mark.parametrize("feature", [Candidate(), Distance(), Volume()])
def test_sparse_features_give_the_same_columns_as_dense(feature: Features) -> None:
    dense, csr = make_problems(), make_problems(csr=True)
    one, other = feature.fit(dense), type(feature)().fit(csr)
    np.testing.assert_allclose(
        one.columns(grown(one, dense, LISTS)), other.columns(grown(other, csr, LISTS)), rtol=1e-6, atol=1e-6
    )


def test_sparse_features_that_are_too_wide_are_refused() -> None:
    wide = sparse.csr_array((np.ones(1, np.float32), ([0], [0])), shape=(3, 2 * 10**9))
    with pytest.raises(InputError, match=r"too large.*TruncatedSVD"):
        Candidate().fit(lw.Problems.from_arrays(wide, offsets=[0, 3]))


# What suits the problems


def kinds(features: Features) -> list[str]:
    assert isinstance(features, Sum)
    return [type(part).__name__ for part in features.parts]


def test_auto_follows_what_the_problems_have() -> None:
    x, catalogue = np.zeros((2, 3, 1)), [0, 1, 2]
    plain = auto_features(lw.Problems.from_arrays(x))
    assert kinds(plain) == ["Candidate", "Distance", "Position"]
    vectors = auto_features(lw.Problems.from_arrays(x, vectors=np.ones((2, 3, 4))))
    assert kinds(vectors) == ["Candidate", "Position", "Links", "Volume"]
    linked = auto_features(lw.Problems.from_arrays(x, links={"cites": np.zeros((2, 3, 3))}))
    assert kinds(linked) == ["Candidate", "Position", "Links"]
    recurring = auto_features(lw.Problems.from_arrays(x, catalogue=catalogue, context=np.zeros((2, 1))))
    assert kinds(recurring) == ["Candidate", "Distance", "Position", "Identity"]
    assert "context" in recurring.parts[-1].cross
    context_only = auto_features(lw.Problems.from_arrays(x[..., :0], catalogue=catalogue, context=np.zeros((2, 1))))
    assert kinds(context_only) == ["Position", "Identity"]
    assert set(context_only.parts[-1].cross) == {"context", "list"}


def test_the_papers_features_are_four_for_each_feature_less_one_and_two_more() -> None:
    problems = lw.Problems.from_arrays(np.random.default_rng(0).random((4, 30, 17)))
    fitted = paper_features().fit(problems)
    assert fitted.columns(fitted.start(problems)).shape == (120, 17 * 3 + 2)
