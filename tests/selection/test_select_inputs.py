"""Every kind of vectors gives the same selection; what cannot be used is refused in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

import listwright as lw
from listwright.errors import InputError
from listwright.selection import intake
from tests.selection import plain

X = plain.clustered(80, 6, 0)
ROWS = lw.select(X, 9).rows.tolist()


def written(folder: Path, column: pa.Array, **others: Any) -> Path:
    path = folder / "vectors.parquet"
    parquet.write_table(pa.table({"id": [f"r{i}" for i in range(len(column))], "embedding": column, **others}), path)
    return path


def lists(kind: str) -> pa.Array:
    flat = pa.array(X.ravel())
    if kind == "fixed":
        return pa.FixedSizeListArray.from_arrays(flat, 6)
    large = kind == "large"
    starts = pa.array(range(0, 481, 6), type=pa.int64() if large else pa.int32())
    return (pa.LargeListArray if large else pa.ListArray).from_arrays(starts, flat)


@pytest.mark.parametrize("kind", ["list", "large", "fixed"])
def test_a_parquet_column_of_lists(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path, lists(kind))
    assert lw.select(path, 9).rows.tolist() == ROWS
    assert lw.select(str(path), 9, column="embedding").rows.tolist() == ROWS


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_npy_file_is_mapped_and_not_copied(dtype: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X.astype(dtype))
    expected = lw.select(X.astype(dtype).astype(np.float32), 9).rows.tolist()
    assert lw.select(tmp_path / "x.npy", 9).rows.tolist() == expected
    assert lw.select(np.load(tmp_path / "x.npy", mmap_mode="r"), 9).rows.tolist() == expected


def test_other_kinds(tmp_path: Path) -> None:
    import pandas as pd
    import polars as pl

    kinds: list[Any] = [
        X.tolist(),
        X.astype(np.float64),
        np.asfortranarray(X),
        sparse.csr_matrix(X),
        sparse.coo_array(X),
        lists("list"),
        pa.chunked_array([lists("list")[:30], lists("list")[30:]]),
        pl.Series(X.tolist()),
        pd.Series(list(X)),
        lw.Problems.from_arrays(X, offsets=[0, 80]),
        lw.Problems.from_arrays(np.zeros((80, 1)), offsets=[0, 80], vectors=X),
    ]
    for kind in kinds:
        assert lw.select(kind, 9).rows.tolist() == ROWS, type(kind)
        assert lw.select(X, 3, targets=kind).rows.tolist() == ROWS[:3], type(kind)


def test_wide_sparse_rows_are_multiplied_as_they_are() -> None:
    wide = sparse.random(60, 9000, density=0.01, random_state=0, format="csr", dtype=np.float32)
    for options in ({}, {"metric": "euclidean"}, {"reward": "log_det"}, {"reward": "log_det", "metric": "rbf"}):
        expected = lw.select(wide.toarray(), 7, **options)
        found = lw.select(wide, 7, **options)
        np.testing.assert_array_equal(found.rows, expected.rows)
        np.testing.assert_allclose(found.gains, expected.gains, rtol=1e-3)


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed (extra gpu)")
    for tensor in (torch.from_numpy(X), torch.from_numpy(X).double().requires_grad_()):
        assert lw.select(tensor, 9).rows.tolist() == ROWS
    assert len(lw.select(torch.from_numpy(X).bfloat16(), 9)) == 9
    with pytest.raises(InputError, match="Sparse torch tensors"):
        lw.select(torch.from_numpy(X).to_sparse(), 9)


def test_a_problem_gives_its_names_and_sizes() -> None:
    names = np.array([f"doc{i}" for i in range(80)])
    problem = lw.Problems.from_arrays(X, offsets=[0, 80], item_ids=names, sizes=np.full(80, 2.0))
    selection = lw.select(problem, budget=6.0)
    assert selection.ids is not None
    assert selection.ids.tolist() == names[selection.rows].tolist()
    assert len(selection) == 3
    frame = selection.to_frame("polars")
    assert frame.columns == ["position", "row", "item", "gain", "value"]
    assert frame["value"][-1] == pytest.approx(selection.value)


def test_a_selection_is_its_rows() -> None:
    selection = lw.select(X, 9)
    assert list(selection) == selection.rows.tolist() == np.asarray(selection).tolist()
    assert X[selection.rows].shape == (9, 6)
    assert selection.to_frame("pandas").shape == (9, 4)
    assert 1 <= selection.knee <= 9
    assert repr(selection).startswith("Selection: 9 rows worth ")
    assert (np.diff(selection.gains) <= 1e-6).all()


def spoiled(row: int, column: int, value: float) -> Any:
    table = X.copy()
    table[row, column] = value
    return table


HUGE = X.astype(np.float64) * 1e300


@pytest.mark.parametrize(
    ("vectors", "k", "options", "message"),
    [
        (spoiled(7, 2, np.nan), 3, {}, "Number 2 of row 7 of vectors is nan. Vectors must be finite"),
        (spoiled(7, 2, np.inf), 3, {"metric": "euclidean"}, "Number 2 of row 7 of vectors is inf"),
        (sparse.csr_array(spoiled(7, 2, np.nan)), 3, {}, "row 7 of vectors is nan"),
        (HUGE, 3, {}, "must be finite numbers in float32"),
        (X * (np.arange(80) != 4)[:, None], 3, {}, "Row 4 of vectors is all zeros, so it has no cosine"),
        (X, 81, {}, "k=81, but there are only 80 rows. Ask for at most that many."),
        (X, 79, {"given": [1, 2]}, "k=79, but there are only 78 rows besides the 2 that are given."),
        (X, 0, {}, "k must be at least 1. Got 0."),
        (X, 2.5, {}, "k must be a whole number"),
        (X, None, {}, "select needs k"),
        (
            X,
            9,
            {"groups": np.arange(80) % 4, "per_group": 2},
            "k=9, but the quotas and exclusions let at most 8",
        ),
        (X, 3, {"groups": np.arange(80) % 2, "per_group": {0: 1, 1: 1, 5: 1}}, "no row is in that group"),
        (X, 3, {"groups": np.arange(80) % 2, "per_group": 2, "given": [0, 2, 4]}, "are 1 more than per_group allows"),
        (
            X,
            3,
            {"groups": np.arange(80) // 78, "per_group": {1: (2, 2)}, "exclude": [79]},
            "per_group asks for 2 rows of group 1, and only 1 of them can be picked.",
        ),
        (
            X,
            3,
            {"groups": [np.arange(80) // 40, np.arange(80)], "per_group": [{0: (50, None)}, 1]},
            "per_group asks for 50 rows of group 0, and only 40 of them can be picked.",
        ),
        (
            X,
            3,
            {"groups": np.arange(80) % 2, "per_group": {0: (50, None)}},
            "asks for 50 rows of group 0",
        ),
        (X, 3, {"groups": np.arange(80) % 2}, "go together"),
        (X, 3, {"groups": np.arange(8), "per_group": 1}, "groups must have one label per row (80)"),
        (X, 3, {"given": [80]}, "given must hold row numbers from 0 to 79. Got 80."),
        (X, 3, {"given": np.ones(3, dtype=bool)}, "given as a mask must have one entry per row"),
        (X, 3, {"costs": np.ones(80)}, "costs= needs budget="),
        (X, 3, {"budget": 2.0}, "budget= needs costs="),
        (X, 3, {"costs": np.zeros(80), "budget": 2.0}, "The cost of row 0 is 0. Costs must be above 0."),
        (X, 3, {"costs": np.ones(80), "budget": 0.5}, "No row fits into budget=0.5: the smallest cost is 1."),
        (X, 3, {"costs": np.ones(80), "budget": -1.0}, "budget must be one number above 0"),
        (X, 3, {"metric": "cosinus"}, "metric must be one of cosine, dot"),
        (X, 3, {"reward": "facility"}, "reward must be one of facility_location"),
        (X, 3, {"reward": 5}, "reward must be one of"),
        (X, 3, {"reward": "log_det", "metric": "euclidean"}, "needs metric cosine, dot or rbf"),
        (X, 3, {"reward": "log_det", "neighbors": 3}, "does not use neighbors="),
        (X, 3, {"reward": "log_det", "scale": 0}, "scale must be above 0"),
        (X, 3, {"metric": "rbf", "gamma": -1.0}, "gamma must be above 0"),
        (X, 3, {"reward": "saturated_coverage", "alpha": 2}, "alpha must be above 0"),
        (X, 3, {"reward": "feature_based"}, "covers must be 0 or more"),
        (X, 3, {"neighbors": 81}, "neighbors=81, but there are only 80 rows"),
        (X, 3, {"neighbors": 5, "sample": 5}, "Pass only one of them"),
        (X, 3, {"sample": 0}, "sample must be at least 1"),
        (X, 3, {"weights": np.ones(3)}, "weights must have one entry per row to represent (80)"),
        (X, 3, {"weights": -np.ones(80)}, "weights must be 0 or more"),
        (X, 3, {"targets": X[:, :3]}, "targets must have 6 columns, as vectors. Got 3."),
        (X, 3, {"targets": np.zeros((4, 6))}, "Row 0 of targets is all zeros"),
        (X[0], 1, {}, "must have two dimensions"),
        (X[:0], 1, {}, "at least one row"),
        (None, 1, {}, "vectors must be a numpy array"),
        ("nowhere.npy", 1, {}, "There is no file nowhere.npy"),
        (X, 3, {"progress": "loud"}, "progress must be"),
        (X, 3, {"random_state": "x", "sample": 5}, "random_state must be"),
        (X, 3, {"column": "embedding"}, "column= is for frames and Parquet files"),
        (X @ X.T, 3, {"metric": "precomputed", "targets": X}, "takes neither targets"),
        (
            spoiled(7, 2, np.nan),
            3,
            {"metric": "precomputed", "targets": "columns"},
            "Row 7 of the similarities is not finite",
        ),
        (lw.Problems.from_arrays(np.zeros((2, 3, 1))), 1, {}, "vectors must be one problem. Got 2"),
    ],
)
def test_what_cannot_be_used_is_refused(vectors: Any, k: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        lw.select(vectors, k, **options)
    assert message in str(refused.value)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.asfortranarray, sparse.csr_array])
def test_a_similarity_that_is_not_finite_is_found_wherever_it_is(kind: Any) -> None:
    rng = np.random.default_rng(0)
    for bad in (np.nan, np.inf, -np.inf) * 20:
        table = np.where(rng.random((30, 30)) < 0.5, rng.normal(size=(30, 30)), 1.0)
        row = int(rng.integers(30))
        table[row, rng.integers(30)] = bad
        with pytest.raises(InputError, match=f"^Row {row} of the similarities is not finite"):
            lw.select(kind(table), 3, metric="precomputed", exclude=[row] if rng.random() < 0.5 else None)


def test_similarities_whose_sum_is_too_large_for_a_number_are_not_refused() -> None:
    table = np.diag(np.full(5, 5e307))
    assert lw.select(table, 2, metric="precomputed").rows.tolist() == [0, 1]


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(b"no numbers")
    (tmp_path / "x.parquet").write_bytes(b"no table")
    (tmp_path / "x.csv").write_text("a,b")
    np.save(tmp_path / "objects.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    ragged = tmp_path / "ragged.parquet"
    parquet.write_table(pa.table({"v": [[1.0, 2.0], [3.0]]}), ragged)
    missing = tmp_path / "missing.parquet"
    parquet.write_table(pa.table({"v": [[1.0, 2.0], None]}), missing)
    words = tmp_path / "words.parquet"
    parquet.write_table(pa.table({"v": [["a"], ["b"]]}), words)
    flat = tmp_path / "flat.parquet"
    parquet.write_table(pa.table({"v": ["a", "b"]}), flat)
    two = written(tmp_path, lists("list"), other=lists("list"))
    for path, told in {
        "x.npy": "is not a .npy file of numbers",
        "x.parquet": "as Parquet",
        "x.csv": "can be read from .npy and .parquet files",
        "objects.npy": "is not a .npy file of numbers",
        "ragged.parquet": "row 1 has 1 numbers, and the rows before 2",
        "missing.parquet": "has no vector in row 1",
        "words.parquet": "must hold numbers",
        "flat.parquet": "Column 'v' holds text",
        two.name: "several columns of lists (embedding, other): name one, column=",
    }.items():
        with pytest.raises(InputError) as refused:
            lw.select(tmp_path / path, 1)
        assert told in str(refused.value), path
    with pytest.raises(InputError, match="has no column 'x'"):
        lw.select(two, 1, column="x")
    with pytest.raises(InputError, match="holds string, not lists"):
        lw.select(two, 1, column="id")


def test_too_little_memory_is_told_before_anything_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "available", lambda: 10_000)
    for options in ({"neighbors": 20}, {"reward": "log_det", "metric": "rbf"}, {"reward": "feature_based"}):
        with pytest.raises(InputError, match=r"needs about .* of memory, and 0 MB are free"):
            lw.select(X, 50, **options)


def test_greedy_on_an_array_names_select() -> None:
    with pytest.raises(InputError, match=r"to pick rows out of an array of vectors, use lw.select\(vectors, k\)"):
        lw.greedy(X, length=5)  # type: ignore[arg-type]


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[tuple[str, int, int]] = []
    lw.select(X, 9, progress=lambda *told: heard.append(told))
    assert heard[-1] == ("picking", 9, 9)
    assert heard[0][0] == "measuring rows"
    lw.select(X, 9, neighbors=5, progress=lambda *told: heard.append(told))
    assert any(what == "neighbours" for what, _, _ in heard)
    lw.select(X, 9, progress=True)
    assert capsys.readouterr().err.endswith("picking (9 of 9)\n")
    lw.select(X, 9, progress=False)
    lw.select(X, 9)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("metric", ["euclidean", "rbf"])
@pytest.mark.parametrize("reward", ["facility_location", "saturated_coverage", "max_min", "disparity_sum", "log_det"])
def test_distances_do_not_depend_on_what_all_rows_share(reward: str, metric: str) -> None:
    if (reward, metric) == ("log_det", "euclidean"):
        return
    table = np.random.default_rng(5).normal(size=(150, 4))
    far = table + 1e7
    plain = lw.select(table, 6, reward=reward, metric=metric)
    for moved in (far, far.tolist(), pd.DataFrame(far)):
        again = lw.select(moved, 6, reward=reward, metric=metric)
        assert again.rows.tolist() == plain.rows.tolist()
        assert again.value == pytest.approx(plain.value, rel=1e-5)
    if reward == "facility_location":
        some = {"reward": reward, "metric": metric, "given": [3]}
        assert lw.select(far, 6, targets=far[:50], **some).rows.tolist() == (
            lw.select(table, 6, targets=table[:50], **some).rows.tolist()
        )


def test_numbers_too_large_for_products_are_refused() -> None:
    table = 1e25 * np.random.default_rng(5).normal(size=(40, 4))
    for metric in ("dot", "euclidean", "rbf"):
        with pytest.raises(InputError, match=f"row 0 of vectors are too large for metric='{metric}' in float32"):
            lw.select(table, 3, metric=metric)
    assert lw.select(table, 3).rows.tolist() == lw.select(table / 1e25, 3).rows.tolist()
