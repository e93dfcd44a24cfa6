"""`listwright select`: rows out of a file of vectors, its estimate of memory, and its picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import listwright as lw
from listwright.cli import main
from tests.selection import plain

pytest.importorskip("typer")
X = plain.clustered(120, 6, 0)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    column = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 6)
    table = pa.table({"source": np.arange(120) % 3, "price": np.ones(120), "embedding": column})
    parquet.write_table(table, tmp_path / "x.parquet")
    np.save(tmp_path / "x.npy", X)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["select", *arguments])
        return (ended.value.code or 0, *capsys.readouterr())  # type: ignore[return-value]

    return run


@pytest.mark.parametrize("name", ["x.parquet", "x.npy"])
def test_rows_go_to_a_file_after_an_estimate_of_memory(call: Any, name: str) -> None:
    code, out, told = call(name, "-k", "7", "-o", "rows.csv")
    assert (code, out) == (0, "")
    assert told.startswith("120 rows of 6 numbers: about ")
    assert "Selection: 7 rows worth" in told
    found = csv.read_csv("rows.csv")
    assert found["row"].to_pylist() == lw.select(X, 7).rows.tolist()
    assert found.column_names == ["position", "row", "gain", "value"]


def test_rules_and_json(call: Any) -> None:
    code, out, _ = call("x.parquet", "-k", "6", "--groups", "source", "--per-group", "2", "--json")
    found = json.loads(out)
    assert code == 0
    assert np.bincount(np.array(found["rows"]) % 3).tolist() == [2, 2, 2]
    assert found["device"] == "cpu"
    for quotas, counts in (("1=3:3,2=0", [3, 3, 0]), ("2:2", [2, 2, 2])):
        _, out, _ = call("x.parquet", "-k", "6", "--groups", "source", "--per-group", quotas, "--json")
        assert np.bincount(np.array(json.loads(out)["rows"]) % 3, minlength=3).tolist() == counts
    assert "together" in call("x.parquet", "-k", "6", "--per-group", "1=3")[2]
    _, out, _ = call("x.parquet", "--costs", "price", "--budget", "4", "--json")
    assert len(json.loads(out)["rows"]) == 4


@pytest.mark.parametrize("ending", ["png", "svg", "html"])
def test_a_picture(call: Any, ending: str) -> None:
    pytest.importorskip("vl_convert")
    code, _, _ = call("x.parquet", "-k", "5", "-o", "rows.csv", "--picture", f"p.{ending}")
    assert code == 0
    start = Path(f"p.{ending}").read_bytes()[:20]
    assert {"png": b"\x89PNG", "svg": b"<svg", "html": b"<!doctype html>"}[ending] in start


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.parquet", "-k", "3"), "There is no file nowhere.parquet"),
        (("x.parquet", "-k", "300"), "there are only 120 rows"),
        (("x.parquet",), "select needs k"),
        (("x.parquet", "-k", "3", "--picture", "p.gif"), "ends in .png, .svg, .html"),
        (("x.parquet", "-k", "3", "--groups", "nothing", "--per-group", "1"), "has no column 'nothing'"),
        (("x.npy", "-k", "3", "--costs", "price", "--budget", "3"), "can be read from a Parquet file"),
        (("x.parquet", "-k", "9", "--groups", "source", "--per-group", "2"), "let at most 6 rows be picked"),
    ],
)
def test_wrong_input_is_told_in_one_message(call: Any, arguments: tuple[str, ...], message: str) -> None:
    code, out, told = call(*arguments)
    assert (code, out) == (1, "")
    assert message in told
    assert "Traceback" not in told
