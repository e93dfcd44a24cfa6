"""Read SVMlight and LETOR files, with lines such as `2 qid:7 1:0.3 2:0.8  # docid = d12`.

scikit-learn parses the file; line numbers and document ids are collected here. When parsing fails, the lines are
checked one by one to find the first that is wrong.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy import sparse

from listwright._internal.arrays import first_bad
from listwright.errors import InputError
from listwright.tables.streams import content
from listwright.tables.table import Part, Table

HIGHEST = 2**31 - 2  # feature number that still has an index in sparse matrices
_LINE = re.compile(r"\s*(?P<label>\S+)\s+qid:(?P<qid>\S+)(?P<features>(\s+\S+:\S+)*)\s*")
_DOCUMENT = re.compile(rb"docid\s*=\s*(\S+)")


def read_svmlight(path: Path, *, problem: str, item: str | None) -> Table:
    """Read an SVMlight file to a table with a sparse feature matrix."""
    data = content(path)
    lines = [number for number, line in enumerate(data.split(b"\n"), start=1) if line.partition(b"#")[0].strip()]
    matrix, labels, queries = _loaded(data, path, len(lines))
    part = Part(str(path), len(lines), lambda row: lines[row], is_text=True)
    columns = {problem: pa.chunked_array([pa.array(queries)]), "label": pa.chunked_array([pa.array(labels)])}
    documents = _documents(data)
    if item is not None and len(documents) == len(lines):
        columns[item] = pa.chunked_array([pa.array(documents)])
    table = Table(columns, (part,), matrix=matrix)
    _finite(table)
    return table


def _loaded(data: bytes, path: Path, n_lines: int) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """Parse the bytes to (features, labels, query ids); feature numbers are kept as column indices."""
    from sklearn.datasets import load_svmlight_file  # here: it takes a second to import

    if not n_lines:
        raise InputError(f"{path} is empty. It must have lines such as: 1 qid:7 1:0.3 2:0.8")
    try:
        matrix, labels, queries = load_svmlight_file(io.BytesIO(data), zero_based=True, query_id=True)
    except (ValueError, OverflowError, IndexError, MemoryError) as error:
        _explain(data, path)
        raise InputError(f"{path} is not a valid SVMlight file: {error}") from None
    if not len(labels) == len(queries) == n_lines:
        _explain(data, path)
        raise InputError(f"{path}: {n_lines} lines, but {len(labels)} labels and {len(queries)} queries (qid).")
    return sparse.csr_array(matrix), labels, queries


def _finite(table: Table) -> None:
    """Raise `InputError` for the first feature value that is not finite in float32."""
    matrix = table.matrix
    bad = first_bad(~(np.abs(matrix.data) <= np.finfo(np.float32).max))
    if bad is not None:
        row = int(np.searchsorted(matrix.indptr, bad, side="right")) - 1
        problem = f"{matrix.data[bad]:g} is not finite in float32"
        raise table.error(row, f"feature {matrix.indices[bad]}", problem, "Put a number there, or leave the entry out.")


def _explain(data: bytes, path: Path) -> None:
    """Raise `InputError` for the first malformed line; return if there is none."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        text = line.partition(b"#")[0].decode("utf-8", errors="replace")
        if not text.strip():
            continue
        problem = _problem(text)
        if problem:
            raise InputError(f"{path}, line {number}: {problem}. Lines are such as: 1 qid:7 1:0.3 2:0.8")


def _problem(text: str) -> str:
    """Return what is wrong with a line (without its comment), or an empty string."""
    found = _LINE.fullmatch(text)
    if found is None:
        return "expected a label, qid:NUMBER and features NUMBER:VALUE"
    if not _is(float, found["label"]):
        return f"the label must be a number. Got {found['label']!r:.40}"
    if not _is(int, found["qid"]):
        return f"qid must be a whole number. Got {found['qid']!r:.40}"
    last = -1
    for entry in found["features"].split():
        index, _, value = entry.partition(":")
        if not _is(int, index) or not last < int(index) <= HIGHEST:
            return f"features must be numbered upwards, each once. Got {entry!r:.40} after {last}"
        if not _is(float, value):
            return f"the value of feature {index} must be a number. Got {value!r:.40}"
        last = int(index)
    return ""


def _is(kind: type[int] | type[float], text: str) -> bool:
    """Return whether `kind` (int or float) accepts the text."""
    try:
        kind(text)
    except ValueError:
        return False
    return True


def _documents(data: bytes) -> list[str]:
    """Document ids from the comments of all lines with features; shorter than the number of lines if some have none."""
    found = []
    for line in data.split(b"\n"):
        features, _, comment = line.partition(b"#")
        match = _DOCUMENT.search(comment)
        if features.strip() and match:
            found.append(match[1].decode("utf-8", errors="replace"))
    return found
