"""Problems: what comes in, what is refused, and what a selection keeps."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import listwright as lw
from listwright.errors import InputError

OFFSETS = [0, 2, 3, 6]


def build(**changes: Any) -> lw.Problems:
    """Three problems of 2, 1 and 3 candidates with everything that problems may have."""
    arrays: dict[str, Any] = {
        "features": np.arange(12, dtype=np.float32).reshape(6, 2),
        "offsets": OFFSETS,
        "context": np.arange(3.0)[:, None],
        "catalogue": [0, 1, 0, 2, 1, 0],
        "sizes": [1, 2, 3, 4, 5, 6],
        "reward": lw.rewards.AnySuccess([0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        "problem_ids": ["a", "b", "c"],
        "item_ids": ["u", "v", "u", "w", "v", "u"],
    }
    arrays |= changes
    return lw.Problems.from_arrays(arrays.pop("features"), **arrays)


def first_gains(problems: lw.Problems) -> list[float]:
    return problems.reward.gains(problems.reward.start(problems)).tolist()


def test_rows_and_offsets() -> None:
    problems = build()
    assert len(problems) == 3
    assert problems.n_rows == 6
    assert problems.n_features == 2
    assert problems.counts.tolist() == [2, 1, 3]
    assert problems.owners.tolist() == [0, 0, 1, 2, 2, 2]
    assert problems.name_of(4) == "item v of problem c"


def test_the_number_of_items_is_as_far_as_the_problems_show() -> None:
    problems = lw.Problems.from_arrays(np.zeros((3, 1)), offsets=[0, 2, 3], catalogue=[1, 4, 0])
    assert (problems.n_items, problems[1:].n_items) == (5, 1)
    assert lw.Problems.from_arrays(np.zeros((3, 1)), offsets=[0, 2, 3]).n_items == 0


def test_float32_in_rows_is_not_copied() -> None:
    table = np.zeros((6, 2), dtype=np.float32)
    assert np.shares_memory(build(features=table).features, table)
    cube = np.zeros((3, 2, 4), dtype=np.float32)
    assert np.shares_memory(lw.Problems.from_arrays(cube).features, cube)


@pytest.mark.parametrize("table", [np.zeros((6, 2)), np.zeros((2, 6), dtype=np.float32).T, [[1, 2]] * 6])
def test_other_tables_become_float32_rows(table: Any) -> None:
    features = build(features=table).features
    assert features.dtype == np.float32
    assert features.flags.c_contiguous


def test_a_cube_is_problems_of_equal_size() -> None:
    problems = lw.Problems.from_arrays(np.arange(12).reshape(2, 3, 2), catalogue=[0, 1, 2], sizes=[[1, 2, 3]] * 2)
    assert problems.offsets.tolist() == [0, 3, 6]
    assert problems.features[3].tolist() == [6, 7]
    assert problems.catalogue is not None
    assert problems.catalogue.tolist() == [0, 1, 2, 0, 1, 2]
    assert problems.sizes is not None
    assert problems.sizes.tolist() == [1, 2, 3, 1, 2, 3]


def test_equal_problems_with_offsets_take_arrays_by_problem() -> None:
    problems = lw.Problems.from_arrays(np.zeros((4, 1)), offsets=[0, 2, 4], sizes=[[1, 2], [3, 4]])
    assert problems.sizes is not None
    assert problems.sizes.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array])
def test_sparse_features(kind: Any) -> None:
    problems = build(features=kind(np.eye(6)))
    assert sparse.issparse(problems.features)
    assert problems.features.dtype == np.float32
    assert problems[[2, 0]].features.toarray().argmax(axis=1).tolist() == [3, 4, 5, 0, 1]
    assert problems[1:].features.toarray().argmax(axis=1).tolist() == [2, 3, 4, 5]
    assert "6 features (sparse)" in repr(problems)


@pytest.mark.parametrize("known", [{"context": np.ones((3, 1))}, {"catalogue": [0, 1, 0, 2, 1, 0]}])
def test_features_may_have_no_columns(known: dict[str, Any]) -> None:
    assert lw.Problems.from_arrays(np.zeros((6, 0)), offsets=OFFSETS, **known).n_features == 0
    assert lw.Problems.from_arrays(sparse.csr_array((6, 0)), offsets=OFFSETS, **known).n_features == 0


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (0, [0]),
        (-1, [2]),
        (np.int64(1), [1]),
        (slice(1, None), [1, 2]),
        (slice(None, None, -1), [2, 1, 0]),
        ([2, 0], [2, 0]),
        ([-1, 0], [2, 0]),
        ([1, 1], [1, 1]),
        (np.array([True, False, True]), [0, 2]),
        ([False, True, False], [1]),
        (slice(None), [0, 1, 2]),
    ],
    ids=str,
)
def test_selection_takes_everything_along(key: Any, expected: list[int]) -> None:
    whole, part = build(), build()[key]
    rows = [row for i in expected for row in range(OFFSETS[i], OFFSETS[i + 1])]
    assert part.problem_ids.tolist() == [whole.problem_ids[i] for i in expected]
    assert part.counts.tolist() == [whole.counts[i] for i in expected]
    assert part.features.tolist() == whole.features[rows].tolist()
    for name in ("catalogue", "sizes", "item_ids"):
        assert getattr(part, name).tolist() == getattr(whole, name)[rows].tolist()
    assert part.context is not None
    assert part.context.ravel().tolist() == expected
    assert first_gains(part) == [first_gains(whole)[row] for row in rows]


def test_neighbours_share_memory() -> None:
    problems = build()
    assert np.shares_memory(problems[1:].features, problems.features)


def test_iteration_gives_each_problem() -> None:
    assert [one.problem_ids.tolist() for one in build()] == [["a"], ["b"], ["c"]]


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (3, IndexError, "There are 3 problems. Got index 3"),
        ([0, 7], IndexError, "There are 3 problems. Got indices 0 to 7"),
        ([True, False], IndexError, "one entry per problem"),
        ([], InputError, "at least one problem"),
        (slice(3, None), InputError, "at least one problem"),
        ([0.5], InputError, "by index or mask"),
        (True, IndexError, "A mask needs one entry per problem"),
        ([False, False, False], InputError, "at least one problem"),
    ],
    ids=str,
)
def test_a_bad_selection_is_refused(key: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build()[key]


def test_batches_hold_every_problem_once() -> None:
    problems = build()
    in_order = [batch.problem_ids.tolist() for batch in problems.batches(2)]
    assert in_order == [["a", "b"], ["c"]]
    shuffled = [batch.problem_ids.tolist() for batch in problems.batches(2, np.random.default_rng(1))]
    again = [batch.problem_ids.tolist() for batch in problems.batches(2, np.random.default_rng(1))]
    assert shuffled == again
    assert sorted(chain.from_iterable(shuffled)) == ["a", "b", "c"]
    with pytest.raises(InputError, match=r"at least 1 problem\. Got size=0"):
        problems.batches(0)


def test_concat_puts_selections_together_again() -> None:
    whole = build()
    again = lw.Problems.concat([whole[0], whole[1:]])
    assert again.offsets.tolist() == OFFSETS
    for name in ("features", "context", "catalogue", "sizes", "problem_ids", "item_ids"):
        assert getattr(again, name).tolist() == getattr(whole, name).tolist()
    assert first_gains(again) == first_gains(whole)


def test_concat_of_dense_and_sparse_is_sparse() -> None:
    dense = lw.Problems.from_arrays(np.ones((1, 2, 3)))
    thin = lw.Problems.from_arrays(sparse.csr_matrix(np.eye(3)), offsets=[0, 3])
    both = lw.Problems.concat([dense, thin])
    assert both.features.toarray().tolist() == [[1, 1, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_concat_numbers_anew_only_what_nobody_named() -> None:
    plain = lw.Problems.from_arrays(np.zeros((2, 1, 1)))
    assert lw.Problems.concat([plain, plain]).problem_ids.tolist() == [0, 1, 2, 3]
    assert lw.Problems.concat([plain[1], plain[0]]).problem_ids.tolist() == [1, 0]
    with pytest.raises(InputError, match="Problem a is in two of the parts"):
        lw.Problems.concat([build(), build()])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": np.zeros((6, 3))}, "of 2 and 3 features"),
        ({"feature_names": ["x", "y"]}, r"features named None and \('x', 'y'\)"),
        ({"sizes": None}, "with and without sizes"),
        ({"reward": None}, "with and without reward"),
        ({"context": np.zeros((3, 2))}, "contexts of 1 and 2 columns"),
        ({"reward": lw.rewards.Coverage(np.eye(6))}, "Cannot join AnySuccess"),
    ],
)
def test_concat_refuses_what_differs(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        lw.Problems.concat([build(), build(problem_ids=["d", "e", "f"], **changes)])


def test_concat_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match=r"at least one Problems\. Got none"):
        lw.Problems.concat([])


def test_rewards_come_and_go() -> None:
    problems = build()
    assert problems.without_reward().reward is None
    other = problems.with_reward(lw.rewards.AnySuccess(np.ones(6)))
    assert first_gains(other) == [1.0] * 6
    assert first_gains(problems)[0] == 0.0


@pytest.mark.parametrize(
    ("problems", "text"),
    [
        (
            build(),
            "Problems: 3 problems, 6 candidates (1 to 3 each), 2 features, context of 1, catalogue of 3, sizes 1 to 6, "
            "reward AnySuccess",
        ),
        (
            lw.Problems.from_arrays(np.zeros((1, 2000, 1))),
            "Problems: 1 problem, 2,000 candidates (2000 each), 1 feature, no reward",
        ),
    ],
)
def test_repr_tells_what_is_in_it(problems: lw.Problems, text: str) -> None:
    assert repr(problems) == text


def with_bad(row: int, value: float) -> Any:
    table = np.zeros((6, 2))
    table[row, 1] = value
    return table


BAD: list[tuple[dict[str, Any], str]] = [
    ({"features": with_bad(4, np.nan)}, "Feature 1 of item v of problem c is nan"),
    ({"features": with_bad(2, -np.inf)}, "Feature 1 of item u of problem b is -inf"),
    ({"features": with_bad(2, 1e300)}, "Feature 1 of item u of problem b is inf. .* float32"),
    ({"features": with_bad(4, np.nan), "item_ids": None}, "Feature 1 of item 1 of problem c is nan"),
    ({"features": sparse.csr_array(with_bad(4, np.nan))}, "Feature 1 of item v of problem c is nan"),
    ({"features": sparse.csr_array(with_bad(4, 1e300))}, "Feature 1 of item v of problem c is inf"),
    ({"features": np.zeros(6)}, r"\(rows, d\) with offsets"),
    ({"features": [["x", "y"]] * 6}, "features must be an array of numbers"),
    ({"features": [[1, 2], [3]]}, "features must be one array"),
    ({"vectors": [None, *[[1.0, 2.0]] * 5]}, r"vectors must be an array of numbers. Row 0 \(from 0\) is None"),
    ({"features": []}, "features must be"),
    ({"features": np.zeros((0, 2)), "offsets": [0]}, "There are no problems"),
    ({"features": np.zeros((0, 4, 2)), "offsets": None}, "There are no candidates"),
    ({"features": np.zeros((6, 0)), "context": None, "catalogue": None}, "features has no columns"),
    ({"offsets": None}, r"offsets=\[0, number of rows\]"),
    ({"offsets": [0, 2, 3, 5]}, "from 0 to the number of rows, 6. Got 0 to 5"),
    ({"offsets": [1, 2, 3, 6]}, "Got 1 to 6"),
    ({"offsets": [0, 4, 3, 6]}, "must not fall. Got 4 and then 3 at position 2"),
    ({"offsets": [0, 2, 2, 6]}, "Problem b has no candidates"),
    ({"offsets": [0, 1.5, 3, 6]}, "whole numbers. Got 1.5"),
    ({"offsets": [0, 2, 3, np.inf]}, "whole numbers. Got inf"),
    ({"offsets": [0, 2, 3, np.nan]}, "whole numbers. Got nan"),
    ({"offsets": 6}, "There are no problems"),
    ({"context": np.zeros((2, 1))}, r"one row per problem: \(3, c\). Got shape \(2, 1\)"),
    ({"context": [[0], [np.inf], [0]]}, "Context 0 of problem b is inf"),
    ({"catalogue": [0, 1, 0, 2, 1, -1]}, "catalogue of item u of problem c is -1"),
    ({"catalogue": [0, 1, 0, 2, 2, 0]}, "Problem c has catalogue item 2 twice"),
    ({"catalogue": [0, 1]}, r"catalogue must have one entry per row \(6\). Got shape \(2,\)"),
    ({"sizes": [1, 2, 0, 4, 5, 6]}, "The size of item u of problem b is 0.0. Sizes must be above 0"),
    ({"sizes": [1, 2, 3, 4, -5, 6]}, "The size of item v of problem c is -5.0"),
    ({"sizes": [1, 2, 3, 4, np.nan, 6]}, "The size of item v of problem c is nan"),
    ({"sizes": [1, 2]}, "sizes must have one entry per row"),
    ({"problem_ids": ["a", "b", "a"]}, "Problem id a occurs 2 times"),
    ({"problem_ids": np.array([[1], [2, 3], [4]], dtype=object)}, r"Ids must be strings, numbers .* Got \[1\]"),
    ({"problem_ids": ["a", "b"]}, r"one id per problem \(3\)"),
    ({"item_ids": ["u", "v", "u", "w", "v", "v"]}, "Problem c has item id v twice"),
    ({"item_ids": ["u"]}, "item_ids must have one entry per row"),
    ({"reward": lw.rewards.AnySuccess([0, 1])}, r"success must have one entry per row \(6\). Got shape \(2,\)"),
    ({"reward": "clicks"}, "reward must come from listwright.rewards. Got str"),
    ({"feature_names": ["x"]}, r"one name per column \(2\). Got 1"),
]


@pytest.mark.parametrize(("changes", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_bad_input_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build(**changes)


def test_ids_keep_their_kind() -> None:
    problems = build(problem_ids=[1, "1", 2.5], item_ids=[1, "1", 7, 1, "1", 2])
    assert problems.problem_ids.tolist() == [1, "1", 2.5]
    assert problems[[1]].problem_ids.tolist() == ["1"]
    with pytest.raises(InputError, match="Problem c has item id 1 twice"):
        build(problem_ids=["a", "b", "c"], item_ids=[1, "1", 7, 1, "1", 1])


def test_problems_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        build().sizes = None  # type: ignore[misc]


def linked() -> lw.Problems:
    """Two problems of two and three candidates; entry (row, j) links a row to the j-th candidate of its problem."""
    cites = [[0, 1, 0], [2, 0, 0], [0, 0, 3], [4, 0, 0], [0, 5, 0]]
    return lw.Problems.from_arrays(np.zeros((5, 1)), offsets=[0, 2, 5], links={"cites": cites})


def test_links_follow_a_selection_and_are_joined() -> None:
    problems = linked()
    assert problems.links is not None
    assert "links by cites" in repr(problems)
    last = problems[[1]].links
    assert last is not None
    assert last["cites"].toarray().tolist() == [[0, 0, 3], [4, 0, 0], [0, 5, 0]]
    other = lw.Problems.from_arrays(np.zeros((1, 1)), offsets=[0, 1], links={"cites": [[0]]}, problem_ids=["one"])
    joined = lw.Problems.concat([other, problems[[1]]]).links
    assert joined is not None
    assert joined["cites"].toarray().tolist() == [[0, 0, 0], [0, 0, 3], [4, 0, 0], [0, 5, 0]]


def test_links_of_equal_problems_come_in_three_dimensions() -> None:
    blocks = np.arange(8.0).reshape(2, 2, 2)
    problems = lw.Problems.from_arrays(np.zeros((2, 2, 1)), links={"cites": blocks})
    assert problems.links is not None
    np.testing.assert_array_equal(problems.links["cites"].toarray(), blocks.reshape(4, 2))


@pytest.mark.parametrize(
    ("links", "message"),
    [
        (np.zeros((5, 3)), "links must be a dictionary of tables by name. Got ndarray"),
        ({"cites": np.zeros((4, 3))}, r"links\['cites'\] must have one row per candidate \(5\). Got shape \(4, 3\)"),
        ({"cites": np.full((5, 2), np.nan)}, "must hold finite numbers"),
        ({"cites": [[0, 0, 1], *[[0, 0, 0]] * 4]}, "links item 0 of problem 0 to candidate 2, but its problem has 2"),
    ],
)
def test_bad_links_are_named(links: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        lw.Problems.from_arrays(np.zeros((5, 1)), offsets=[0, 2, 5], links=links)  # type: ignore[arg-type]


def test_problems_with_other_links_are_not_joined() -> None:
    other = lw.Problems.from_arrays(np.zeros((1, 1)), offsets=[0, 1], links={"likes": [[0]]}, problem_ids=["one"])
    with pytest.raises(InputError, match="Cannot concat links named cites and likes"):
        lw.Problems.concat([linked(), other])
    with pytest.raises(InputError, match="with and without links"):
        lw.Problems.concat([linked(), lw.Problems.from_arrays(np.zeros((1, 1)), offsets=[0, 1])])


def test_a_list_of_tables_of_different_sizes_is_told_of_offsets() -> None:
    tables = [np.zeros((2, 3)), np.zeros((4, 3))]
    with pytest.raises(InputError, match=r"features must be one array.*2 to 4 entries.*pass `offsets`"):
        lw.Problems.from_arrays(tables)


def test_vectors_may_come_as_a_column_of_lists() -> None:
    rows = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    column = np.empty(2, dtype=object)
    column[:] = rows
    problems = lw.Problems.from_arrays(np.zeros((1, 2, 1)), vectors=column)
    np.testing.assert_array_equal(problems.vectors, rows)
