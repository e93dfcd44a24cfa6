"""Files, folders and patterns; and errors that name the file and the line."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from listwright.errors import InputError
from listwright.tables import read, read_with_columns
from tests.package.test_import import OPTIONAL, imported_by
from tests.table_tools import assert_same, write

CSV = "problem,item,price,clicked\nq1,a,3,0\nq2,a,1,1\nq1,b,2,1\n"


def put(folder: Path, name: str, text: str | bytes) -> Path:
    """A file with the given content."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def table(problems: list[str]) -> pa.Table:
    return pa.table({"problem": problems, "x": np.arange(len(problems)), "y": [1.0] * len(problems)})


def test_a_folder_a_pattern_and_a_list_of_files_are_the_same(tmp_path: Path) -> None:
    one = write(table(["a", "a", "b"]), tmp_path / "", "csv.gz", "1")
    two = write(table(["c"]), tmp_path, "parquet", "2")
    put(tmp_path, "README.md", "not a table")
    put(tmp_path, ".hidden.csv", "broken")
    expected = read([one, two])
    assert expected.problem_ids.tolist() == ["a", "b", "c"]
    assert_same(expected, read(tmp_path))
    assert_same(expected, read([str(tmp_path / "1*"), str(tmp_path / "*.parquet")]))
    assert_same(expected, read([one, two, one]))


def test_folders_inside_are_read_by_name(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        write(table([name]), tmp_path / name, "jsonl")
    assert read(tmp_path).problem_ids.tolist() == ["a", "b"]


def test_types_may_differ_between_files_where_numbers_are_meant(tmp_path: Path) -> None:
    put(tmp_path, "1.csv", "problem,x\n1,2\n")
    put(tmp_path, "2.csv", "problem,x\nb,0.5\n")
    problems = read(tmp_path)
    assert problems.problem_ids.tolist() == ["1", "b"]
    np.testing.assert_array_equal(problems.features.ravel(), [2.0, 0.5])


def test_a_parquet_file_with_categories_and_partitions_in_its_path(tmp_path: Path) -> None:
    folder = tmp_path / "day=3"
    folder.mkdir()
    kinds = pa.array(["u", "v"]).dictionary_encode()
    parquet.write_table(pa.table({"problem": [1, 1], "x": [1, 2], "kind": kinds}), folder / "part.parquet")
    assert read(folder / "part.parquet", categorical=["kind"]).feature_names == ("x", "kind=u", "kind=v")


def test_texts_with_line_ends_keep_the_count_of_lines(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", 'problem,x,text\n1,2,"two\nlines"\n\n1,,plain\n')
    with pytest.raises(InputError, match=r"t.csv, line 5, column 'x': the value is missing"):
        read(path, missing="error")


def test_references_come_from_a_second_file(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", "problem,x,text\n1,2,the cat\n1,3,a dog\n")
    references = put(
        tmp_path, "r.jsonl", '{"problem": 1, "reference": "the dog"}\n{"problem": 1, "reference": "a dog"}\n'
    )
    problems = read(path, reward="rouge:text", references=references)
    assert problems.reward.gains(problems.reward.start(problems)).tolist() == [0.25, 0.75]
    with pytest.raises(InputError, match="Problem 1 has no reference"):
        read(path, reward="rouge:text", references=put(tmp_path, "s.csv", "problem,text\n2,the dog\n"))


def test_svmlight_reads_queries_labels_and_documents(tmp_path: Path) -> None:
    lines = "2 qid:10 1:0.5 3:1 #docid = x1 inc = 1\n# a comment\n0 qid:10 2:0.25 #docid = x2 inc = 0\n\n"
    lines += "1 qid:11 1:1 #docid = x1\n"
    path = put(tmp_path, "train.txt", lines)
    problems, columns = read_with_columns(path, reward="graded:label")
    assert problems.problem_ids.tolist() == [10, 11]
    assert problems.item_ids is not None
    assert problems.item_ids.tolist() == ["x1", "x2", "x1"]
    assert problems.feature_names == ("feature 1", "feature 2", "feature 3")
    np.testing.assert_array_equal(problems.features, [[0.5, 0, 1], [0, 0.25, 0], [1, 0, 0]])
    assert problems.reward.gains(problems.reward.start(problems)).tolist() == [0.75, 0.0, 0.25]
    short = put(tmp_path, "test.svm", "0 qid:1 1:1 # docid = a\n")
    assert read(short, columns=columns).n_features == 3
    with pytest.raises(InputError, match=r"wide.svm, line 1, column 'feature 4': not there in training"):
        read(put(tmp_path, "wide.svm", "0 qid:1 4:1 # docid = a\n"), columns=columns)


def test_sparse_svmlight_stays_sparse(tmp_path: Path) -> None:
    lines = "".join(f"0 qid:1 {i}:1\n" for i in range(100))
    problems = read(put(tmp_path, "t.svm", lines))
    assert problems.features.shape == (100, 100)
    assert hasattr(problems.features, "indptr")
    assert problems.feature_names is not None
    assert problems.feature_names[0] == "feature 0"


ERRORS: dict[str, tuple[str, str | bytes, dict[str, Any], str]] = {
    "empty csv": ("t.csv", "", {}, "t.csv is empty. It must have a header"),
    "empty jsonl": ("t.jsonl", "\n\n", {}, "t.jsonl has no rows"),
    "empty svmlight": ("t.svm", "# nothing\n", {}, "t.svm is empty"),
    "empty parquet": ("t.parquet", b"", {}, "t.parquet cannot be read"),
    "header alone": ("t.csv", "problem,x\n", {}, "t.csv has no rows"),
    "header without an end": ("t.csv", "problem,x", {}, "t.csv has a header and no rows"),
    "too many fields": ("t.csv", "problem;x\n1;2;3\n", {}, "line 2: expected 2 fields as in the header. Got 3"),
    "two decimal points": ("t.csv", "problem;x\n1;2,5\n1;2.5\n", {"features": ["x"]}, "'2,5' is text where a number"),
    "too deep": ("t.jsonl", '{"problem": ' + "[" * 20_000 + "]" * 20_000 + "}\n", {}, "line 1: nested more than 64"),
    "deep": ("t.jsonl", '{"problem": ' + "[" * 65 + "]" * 65 + "}\n", {}, "line 1: nested more than 64"),
    "half a character": (
        "t.jsonl",
        '{"problem": "\\ud800", "x": 1}\n',
        {},
        "'problem' cannot be used: .* not valid Uni",
    ),
    "no such column": ("t.csv", CSV, {"reward": "any:bought"}, "t.csv has no column 'bought'"),
    "text among numbers": (
        "t.csv",
        CSV.replace("1,1", "cheap,1"),
        {},
        r"line 3, column 'price': 'cheap' is text among",
    ),
    "text as a feature": ("t.csv", CSV, {"features": ["item"]}, r"line 2, column 'item': 'a' is text where"),
    "missing": ("t.csv", CSV.replace("2,1", ",1"), {}, r"line 4, column 'price': the value is missing"),
    "na": ("t.csv", CSV.replace("2,1", "NA,1"), {}, r"line 4, column 'price': the value is missing"),
    "empty id": ("t.csv", CSV.replace("q2", ""), {}, r"line 3, column 'problem': the value is empty"),
    "fields": ("t.csv", CSV + "q1,c\n", {}, "line 5: expected 4 fields as in the header. Got 2"),
    "two columns": ("t.csv", "problem,x,x\n1,2,3\n", {}, "two columns named 'x'"),
    "not utf-8": ("t.csv", CSV.encode() + b"q\xff,a,1,1\n", {}, "line 5: not UTF-8"),
    "twice": ("t.csv", CSV + "q1,a,5,0\n", {}, r"line 5, column 'item': problem q1 has this item already, at .*line 2"),
    "cut gzip": ("t.csv.gz", gzip.compress(CSV.encode())[:-9], {}, "t.csv.gz cannot be read"),
    "no gzip": ("t.csv.gz", CSV, {}, "t.csv.gz cannot be read"),
    "no zstd": ("t.jsonl.zst", CSV, {}, "t.jsonl.zst cannot be read"),
    "no parquet": ("t.parquet", "PAR1 nonsense PAR1", {}, "t.parquet cannot be read"),
    "unknown kind": ("t.xlsx", "x", {}, r"t.xlsx is of an unknown kind. Known endings are .parquet"),
    "unknown text": ("t.txt", "a b c\n", {}, "t.txt is of an unknown kind"),
    "bad json": ("t.jsonl", '{"problem": 1, "x": 2}\n\n{"problem": 1,\n', {}, "line 3: not JSON"),
    "no object": (
        "t.jsonl",
        '{"problem": 1, "x": 2}\n[1]\n',
        {},
        r"line 2: expected a JSON object such as {...}. Got list",
    ),
    "mixed json": (
        "t.jsonl",
        '{"problem": 1, "x": 2}\n{"problem": 1, "x": "a"}\n',
        {},
        r"'x' .* int \(line 1\) and str",
    ),
    "json nan": (
        "t.jsonl",
        '{"problem": 1, "x": 2}\n{"problem": 1, "x": NaN}\n',
        {},
        "line 2, column 'x': the value is miss",
    ),
    "json key": ("t.jsonl", '{"problem": 1, "x": 2}\n{"problem": 1}\n', {}, "line 2, column 'x': the value is missing"),
    "no qid": ("t.svm", "1 qid:1 1:1\n\n0 1:1\n", {}, "line 3: expected a label, qid:NUMBER"),
    "bad qid": ("t.svm", "1 qid:a 1:1\n", {}, "line 1: qid must be a whole number. Got 'a'"),
    "bad label": ("t.svm", "x qid:1 1:1\n", {}, "line 1: the label must be a number"),
    "order": ("t.svm", "1 qid:1 2:1 1:1\n", {}, "line 1: features must be numbered upwards"),
    "bad value": ("t.svm", "1 qid:1 2:x\n", {}, "line 1: the value of feature 2 must be a number"),
    "svm nan": ("t.svm", "1 qid:1 2:1\n1 qid:1 2:nan\n", {}, "line 2, column 'feature 2': nan is not finite"),
    "huge index": ("t.svm", "1 qid:1 99999999999:1\n", {}, "line 1: features must be numbered upwards"),
    "format": ("t.csv", CSV, {"format": "excel"}, "format must be one of parquet, csv, jsonl, svmlight"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_file_and_line(name: str, tmp_path: Path) -> None:
    file, text, options, message = ERRORS[name]
    path = put(tmp_path, file, text)
    with pytest.raises(InputError, match=message) as caught:
        read(path, missing="error", **options)
    assert file in str(caught.value) or "format" in options


def test_reading_and_saving_need_no_optional_package(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", CSV)
    modules = imported_by(
        "import listwright as lw\n"
        "from listwright import tables, evaluation\n"
        f"problems = tables.read({str(path)!r}, reward='any:clicked')\n"
        "model = lw.SCP(1, allow_short=True, effort='fast').fit(problems)\n"
        f"model.save({str(tmp_path / 'model')!r})\n"
        f"print(evaluation.evaluate(lw.load({str(tmp_path / 'model')!r}), problems))"
    )
    assert "pyarrow" in modules
    assert not modules & (OPTIONAL - {"pandas", "rich"})  # scikit-learn imports these two where they are installed


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no file .*nope.csv"):
        read(tmp_path / "nope.csv")
    with pytest.raises(InputError, match=r"No file matches .*\*.csv"):
        read(tmp_path / "*.csv")
    with pytest.raises(InputError, match="holds no table"):
        read(tmp_path)
    with pytest.raises(InputError, match="There are no files to read"):
        read([])


def test_files_must_be_alike_and_share_no_problem(tmp_path: Path) -> None:
    one = put(tmp_path, "1.csv", CSV)
    with pytest.raises(InputError, match=r"Problem q1 is in .*1.csv and in .*2.csv"):
        read([one, put(tmp_path, "2.csv", "problem,item,price,clicked\nq1,z,1,0\n")])
    other = put(tmp_path, "3.csv", "problem,item,price\nq9,z,1\n")
    with pytest.raises(InputError, match=r"3.csv has no column 'clicked', which .*1.csv has"):
        read([one, other])
    assert read([one, other], features=["price"]).n_rows == 4
    with pytest.raises(InputError, match="SVMlight files cannot be mixed"):
        read([one, put(tmp_path, "4.svm", "1 qid:1 1:1\n")])
    with pytest.raises(InputError, match="Column 'price' is of different kinds"):
        read([one, put(tmp_path, "5.jsonl", '{"problem": "z", "item": "a", "price": [1], "clicked": 0}\n')])
