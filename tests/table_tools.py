"""What the tests of tables share: writing one table in every format, and telling whether problems are the same."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

import listwright as lw

FORMATS = ["parquet", "csv", "csv.gz", "csv.zst", "tsv", "jsonl", "jsonl.gz", "ndjson.zst"]


def write(table: pa.Table, folder: Path, ending: str, name: str = "table") -> Path:
    """The table in a file of the kind that the ending says."""
    path = folder / f"{name}.{ending}"
    if ending == "parquet":
        parquet.write_table(table, path)
        return path
    data = _lines(table) if "json" in ending else _csv(table, "\t" if "tsv" in ending else ",")
    if ending.endswith(".gz"):
        data = gzip.compress(data)
    elif ending.endswith(".zst"):
        data = pa.compress(data, codec="zstd", asbytes=True)
    path.write_bytes(data)
    return path


def _lines(table: pa.Table) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table.to_pylist()).encode()


def _csv(table: pa.Table, delimiter: str) -> bytes:
    """Lists are written as JSON, as CSV has none."""
    columns = {
        name: pa.array([json.dumps(entry) for entry in table[name].to_pylist()])
        if pa.types.is_list(table[name].type)
        else table[name]
        for name in table.column_names
    }
    sink = pa.BufferOutputStream()
    arrow_csv.write_csv(pa.table(columns), sink, arrow_csv.WriteOptions(delimiter=delimiter))
    return sink.getvalue().to_pybytes()


def assert_same(one: lw.Problems, other: lw.Problems, *, length: int = 3) -> None:
    """The same problems: ids as text, all arrays, and the same greedy lists with the same gains."""
    assert one.feature_names == other.feature_names
    assert [str(name) for name in one.problem_ids] == [str(name) for name in other.problem_ids]
    assert (one.item_ids is None) == (other.item_ids is None)
    if one.item_ids is not None and other.item_ids is not None:
        assert [str(name) for name in one.item_ids] == [str(name) for name in other.item_ids]
    for field in ("features", "offsets", "context", "catalogue", "sizes", "vectors"):
        _same_array(getattr(one, field), getattr(other, field))
    assert (one.reward is None) == (other.reward is None)
    if one.reward is not None:
        mine, theirs = lw.greedy(one, length=length), lw.greedy(other, length=length)
        np.testing.assert_array_equal(mine.rows, theirs.rows)
        np.testing.assert_allclose(mine.picked_gains, theirs.picked_gains, atol=1e-12)


def _same_array(one: Any, other: Any) -> None:
    assert (one is None) == (other is None)
    if one is not None:
        one, other = (value.toarray() if hasattr(value, "toarray") else value for value in (one, other))
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
