"""The notebook of the examples runs, and every value that it ends a cell with can be shown."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "looking.ipynb"


def test_every_cell_runs_and_shows_something() -> None:
    altair = pytest.importorskip("altair")
    names: dict[str, object] = {}
    shown = 0
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        *before, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(before, []), NOTEBOOK.name, "exec"), names)
        assert isinstance(last, ast.Expr)
        value = eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)
        if isinstance(value, altair.TopLevelMixin):
            assert value.to_dict()["$schema"]
        else:
            page = value._repr_html_()
            assert page.startswith("<div")
            assert "<script" not in page
        shown += 1
    assert shown == 13
