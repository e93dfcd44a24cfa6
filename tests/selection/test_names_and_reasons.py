"""Names of rows, which pick represents which row, explanations and pictures of a selection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import listwright as lw
from listwright.errors import InputError

X = np.random.default_rng(0).random((30, 4)).astype(np.float32)
NAMES = np.array([f"n{i}" for i in range(30)])
ROWS = lw.select(X, 4).rows


def written(path: Path) -> Path:
    pq.write_table(pa.table({"id": NAMES, "vector": X.tolist()}), path)
    return path


def of_pandas(path: Path) -> Path:
    """A Parquet file of columns of numbers whose names are the index of a pandas frame."""
    pd.DataFrame(X, index=NAMES, columns=list("abcd")).to_parquet(path)
    return path


@pytest.mark.parametrize(
    "made",
    [
        lambda path: pd.DataFrame(X, index=NAMES),
        lambda path: pd.DataFrame({"id": NAMES, "vector": list(X)}),
        lambda path: pd.Series(list(X), index=NAMES),
        lambda path: pl.DataFrame({"id": NAMES, "vector": X}),
        lambda path: pl.DataFrame({"id": NAMES} | {f"x{j}": X[:, j] for j in range(4)}),
        lambda path: pa.table({"id": NAMES, "vector": X.tolist()}),
        lambda path: pa.record_batch({"id": NAMES, "vector": X.tolist()}),
        lambda path: pl.DataFrame({"id": NAMES, "vector": X}).lazy(),
        lambda path: pl.DataFrame({"doc_id": NAMES, "vector": X}),
        lambda path: written(path / "rows.parquet"),
        lambda path: of_pandas(path / "index.parquet"),
    ],
)
def test_names_are_kept(made: Any, tmp_path: Path) -> None:
    selection = lw.select(made(tmp_path), 4)
    assert selection.rows.tolist() == ROWS.tolist()
    assert selection.ids.tolist() == NAMES[ROWS].tolist()
    assert selection.to_frame("pandas")["item"].tolist() == NAMES[ROWS].tolist()


def test_an_index_that_only_counts_the_rows_is_no_name() -> None:
    frame = pd.DataFrame(X)
    assert lw.select(frame, 4).ids is None
    part = frame[10:]
    assert lw.select(part, 4).ids.tolist() == [part.index[row] for row in lw.select(part, 4).rows]


def test_names_may_be_passed_or_named(tmp_path: Path) -> None:
    assert lw.select(X, 4, ids=NAMES).ids.tolist() == NAMES[ROWS].tolist()
    frame = pl.DataFrame({"key": NAMES, "vector": X})
    assert lw.select(frame, 4, ids="key").ids.tolist() == NAMES[ROWS].tolist()
    with pytest.raises(InputError, match="has no column 'name'"):
        lw.select(frame, 4, ids="name")
    with pytest.raises(InputError, match="one name per row"):
        lw.select(X, 4, ids=["a"])


def test_every_row_has_the_most_similar_pick() -> None:
    selection = lw.select(X, 4)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    similar = unit @ unit[selection.rows].T
    frame = selection.assign("pandas")
    assert list(frame.columns) == ["row", "pick", "similarity"]
    assert frame["pick"].tolist() == selection.rows[similar.argmax(axis=1)].tolist()
    np.testing.assert_allclose(frame["similarity"], similar.max(axis=1), rtol=1e-5)
    assert frame["similarity"].sum() == pytest.approx(selection.value, rel=1e-5)
    told = [selection.explain(i) for i in range(4)]
    assert sum(one["represents"] for one in told) == 30
    assert sum(one["share"] for one in told) == pytest.approx(1.0)
    assert [one["examples"][0] for one in told] == selection.rows.tolist()
    for position in (4, -1, "a", 1.5, None):
        with pytest.raises(InputError, match="4 picks, from 0 to 3"):
            selection.explain(position)
    beside = lw.select(X, 4, given=[0])
    assert beside.assign("pandas")["pick"][0] == 0
    assert beside.assign("pandas")["similarity"].sum() == pytest.approx(beside.value, rel=1e-5)


def test_shares_are_told_where_they_mean_something() -> None:
    for reward in ("max_min", "disparity_min", "dispersion", "disparity_sum"):
        assert "share" not in lw.select(X, 4, reward=reward, metric="euclidean").explain(1)
    assert "share" not in lw.select(X, 20, reward="graph_cut", redundancy=3.0).explain(0)
    assert "share" in lw.select(X, 4, reward="graph_cut").explain(3)


def test_rows_are_given_and_excluded_by_name() -> None:
    first, without = NAMES[ROWS[0]], lw.select(X, 4, exclude=ROWS[:1]).rows.tolist()
    for names in ([first], {first}, np.array([first], dtype=object)):
        assert lw.select(X, 4, ids=NAMES, exclude=names).rows.tolist() == without
    assert lw.select(X, 4, ids=NAMES, given=first).rows.tolist() == lw.select(X, 4, given=ROWS[:1]).rows.tolist()
    with pytest.raises(InputError, match="exclude has 'nobody', and no row has that name"):
        lw.select(X, 4, ids=NAMES, exclude=[first, "nobody"])
    with pytest.raises(InputError, match="exclude has 'r1', and the rows have no names"):
        lw.select(X, 4, exclude=["r1"])
    with pytest.raises(InputError, match=r"No row fits into budget=\[0.5  0.25\]"):
        lw.select(X, costs=np.ones((30, 2)), budget=list(np.array([0.5, 0.25])))


@pytest.mark.parametrize("lazy", [False, True])
def test_frames_give_frames_of_their_kind(lazy: bool) -> None:
    frame = pl.DataFrame({"id": NAMES} | {f"x{i}": X[:, i] for i in range(X.shape[1])})
    selector = lw.Selector(4)
    picked = selector.fit_transform(frame.lazy() if lazy else frame)
    assert isinstance(picked, pl.DataFrame)
    assert picked["id"].to_list() == [NAMES[row] for row in sorted(selector.rows_)]
    assert sorted(selector.ids_) == sorted(picked["id"])
    for table, kind in ((frame.lazy() if lazy else frame, pl.DataFrame), (frame.to_arrow(), pa.Table)):
        selection = lw.select(table, 4)
        assert isinstance(selection.assign(), kind)
        assert isinstance(selection.to_frame(), kind)
        assert isinstance(selection.assign("pyarrow"), pa.Table)


def test_an_array_has_no_column_of_names() -> None:
    with pytest.raises(InputError, match="ids= by the name of a column is for frames and Parquet files"):
        lw.select(X, 4, ids="name")


def test_notebooks_show_a_table_and_pictures() -> None:
    selection = lw.select(X, 4, ids=NAMES)
    assert f"<td>{NAMES[ROWS[0]]}</td>" in selection._repr_html_()
    assert selection.plot().to_dict()["hconcat"]
    assert selection.plot("values").to_dict()["layer"]
    with pytest.raises(InputError, match="what must be both, rows or values"):
        selection.plot("all")


def test_picks_that_add_nothing_are_reported() -> None:
    with pytest.warns(UserWarning, match="2 of 4 picks add nothing"):
        lw.select(np.repeat(np.eye(2, dtype=np.float32), 5, axis=0), 4)


def test_one_row_and_tables_of_many_columns_can_be_drawn() -> None:
    pytest.importorskip("altair")
    rng = np.random.default_rng(0)
    for table in (np.ones((1, 3)), rng.random((4, 1)), np.ones((3, 2)), rng.random((40, 5))):
        assert lw.select(table, 1).plot().to_dict()["hconcat"]
    # Two clusters in 200,000 columns are apart in the first component. All directions would take 320 GB.
    first = sparse.random_array((30, 200_000), density=1e-4, rng=rng, format="csr")
    table = sparse.vstack([first, first + sparse.csr_array(([9.0], ([0], [199_999])), shape=(30, 200_000))[[0] * 30]])
    points = lw.select(sparse.csr_array(table), 2).plot("rows").to_dict()["data"]["values"]
    side = {point["row"]: point["x"] > 0 for point in points}
    assert len({side[row] for row in range(30)}) == 1
    assert side[0] != side[30]
