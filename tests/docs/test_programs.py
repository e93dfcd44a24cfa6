"""The programs in examples/: they are cells, and each runs on data that it makes up."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.system,
    pytest.mark.filterwarnings("error::listwright.errors.DataWarning"),  # pages and programs make no mistakes
]
EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = ("from_a_dataframe", "rag", "rollout")  # which draw nothing
PROGRAMS = sorted(path for path in EXAMPLES.glob("*.py") if path.stem not in SHORT)
COMPARING = [program for program in PROGRAMS if program.stem not in ("clicks", "representatives")]
SIZES = {
    "clicks": {"= 3000, 2000, 30": "= 600, 500, 30"},
    "context_packing": {"made_up(90)": "made_up(45)", "folds=5": "folds=3"},
}  # by program: numbers, and what tests put in their place
notebooks = runpy.run_path(str(EXAMPLES.parent / "docs" / "notebooks.py"), run_name="notebooks")
CELL = re.compile(r"^# %%(?: \[markdown\])?$")


def code_of(notebook: Path) -> str:
    """All code of a notebook."""
    parts = json.loads(notebook.read_text(encoding="utf8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in parts if cell["cell_type"] == "code")


@pytest.mark.parametrize("program", notebooks["programs"](), ids=lambda path: path.stem)
def test_every_program_has_a_notebook_that_is_current(program: Path) -> None:
    shown = notebooks["path_of"](program).read_text(encoding="utf8")
    assert shown == notebooks["notebook"](program), "write it anew with: python docs/notebooks.py"


def cells(program: Path) -> list[tuple[str, str]]:
    """(head, body) of every cell."""
    parts = re.split(r"^(# %%.*)$", program.read_text(encoding="utf8"), flags=re.MULTILINE)
    assert parts[0] == "", "a program begins with a cell"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def smaller(name: str, folder: Path) -> Path:
    """The code of a notebook with smaller numbers: what it shows needs fewer data than its picture does."""
    text = code_of(notebooks["path_of"](EXAMPLES / f"{name}.py"))
    for old, new in SIZES.get(name, {}).items():
        assert text.count(old) == 1, f"{name}.py has no {old!r} any more"
        text = text.replace(old, new)
    copy = folder / f"{name}.py"
    copy.write_text(text, encoding="utf8")
    return copy


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_is_cells_of_text_and_code(program: Path) -> None:
    parts = cells(program)
    assert len(parts) >= 6
    assert parts[0][0].endswith("[markdown]")
    assert parts[0][1].startswith("\n# # ")
    for head, body in parts:
        assert CELL.match(head)
        lines = [line for line in body.splitlines() if line.strip()]
        assert lines, f"an empty cell in {program.name}"
        if head.endswith("[markdown]"):
            assert all(line.startswith("#") for line in lines)
        else:
            compile(body, program.name, "exec")


@pytest.mark.parametrize("program", COMPARING, ids=lambda path: path.stem)
def test_a_program_runs_and_draws(program: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LISTWRIGHT_DATA", raising=False)
    names = runpy.run_path(str(smaller(program.stem, tmp_path)))
    table = names["comparison"].table()
    rows = {method: list(table.where(method=method)["value"]) for method in names["methods"]}
    assert sum(rows["SCP" if "SCP" in rows else next(iter(rows))]) > sum(rows[list(rows)[-1]]), (
        "no better than the last"
    )
    assert (tmp_path / f"{program.stem}.png").read_bytes().startswith(b"\x89PNG")
    assert "Comparison: mean value" in capsys.readouterr().out


def test_from_a_log_to_a_service_and_back(tmp_path: Path, monkeypatch, capsys) -> None:
    for name in ("altair", "vl_convert", "starlette", "uvicorn"):
        pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(smaller("clicks", tmp_path)))
    assert len(names["visits"]) == 500
    assert names["ahead"].low > 0
    printed = capsys.readouterr().out
    assert "Log: 500 lists, 500 with an outcome" in printed
    assert "the second is ahead by" in printed
    assert (tmp_path / "clicks.png").read_bytes().startswith(b"\x89PNG")


def test_rows_represent_all_others(tmp_path: Path, monkeypatch, capsys) -> None:
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(smaller("representatives", tmp_path)))
    assert len(set(names["group"][names["selection"].rows])) == 8 > names["random_groups"]
    assert "all 8 groups\nrandom: " in capsys.readouterr().out
    assert (tmp_path / "representatives.png").read_bytes().startswith(b"\x89PNG")


def test_a_rollout_keeps_its_rules(tmp_path: Path, capsys) -> None:
    runpy.run_path(str(smaller("rollout", tmp_path)))
    printed = capsys.readouterr().out
    assert "Roll out first" in printed
    assert printed.endswith("none has the one that is out of stock.\n")


def test_every_program_has_its_picture_and_is_named() -> None:
    page = (EXAMPLES / "README.md").read_text(encoding="utf8")
    assert PROGRAMS
    for program in PROGRAMS:
        assert f"({program.name})" in page
        picture = EXAMPLES.parent / "docs" / "images" / f"{program.stem}.png"
        assert picture.stat().st_size < 150_000
        assert f"(../docs/images/{picture.name})" in page


def test_a_prompt_is_packed_with_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    program = EXAMPLES / "rag.py"
    assert f"({program.name})" in (EXAMPLES / "README.md").read_text(encoding="utf8")
    packed = runpy.run_path(str(program))["packed"]
    assert set(packed.positions) >= {0, 3}
    printed = capsys.readouterr().out
    assert "linked by 'Ridley Scott'" in printed
    assert printed.rstrip().endswith("born?")


def test_a_frame_becomes_explained_and_certified_lists_in_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    program = EXAMPLES / "from_a_dataframe.py"
    text = program.read_text(encoding="utf8")
    assert len(text.splitlines()) < 15
    assert f"({program.name})" in (EXAMPLES / "README.md").read_text(encoding="utf8")
    names = runpy.run_path(str(program))
    assert len(names["lists"]) == 100
    printed = capsys.readouterr().out
    assert "Problem 200: 3 items" in printed
    assert "ahead of" in printed
    assert "with 95 % confidence in all of it: lists are worth at least" in printed
