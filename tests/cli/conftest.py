"""A folder of tables with a model, and a way to run commands in it."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import listwright as lw
from listwright.cli import main
from listwright.storage import save
from listwright.tables import read_with_columns
from tests.cli.readers import table

KNOWN = {"problem": ["r1", "r1"], "item": ["a1", "a2"], "kind": ["old", "older"]}
LEVELS = {"categorical": ["kind"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """past.csv, held_out.csv, new.csv and a model.listwright, made by the command itself."""
    where = tmp_path_factory.mktemp("tables")
    (where / "past.csv").write_text(table(60))
    (where / "held_out.csv").write_text(table(30, seed=1, start=60))
    (where / "new.csv").write_text(table(5, seed=2, start=90, clicks=False))
    with pytest.raises(SystemExit) as ended:
        main(
            [
                "fit",
                str(where / "past.csv"),
                "--reward",
                "any:clicked",
                "--length",
                "2",
                "--effort",
                "fast",
                "-o",
                str(where / "m.listwright"),
            ]
        )
    assert not ended.value.code
    return where


@pytest.fixture
def call(capsys, monkeypatch, folder):
    """`call("fit", "past.csv", ...)` in the folder gives (exit code, standard output, standard error)."""
    monkeypatch.chdir(folder)

    def run(*arguments: str, stdin: bytes | None = None) -> tuple[int, str, str]:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        code = ended.value.code
        return (0 if code is None else code, *capsys.readouterr())

    return run


@pytest.fixture
def wrong_files(folder) -> set[str]:
    """Tables with flaws; gives the names of all files."""
    rows = (folder / "past.csv").read_text().splitlines()
    (folder / "text.csv").write_text("\n".join([*rows[:4], re.sub(r"0\.\d+", "much", rows[4]), *rows[5:]]) + "\n")
    (folder / "empty.csv").write_text(rows[0] + "\n")
    (folder / "narrow.csv").write_text("problem,item,sport,music,size\nr1,a1,1,0,1\n")
    (folder / "unsized.csv").write_text("problem,item,sport,music,quality\nr1,a1,1,0,0.5\n")
    (folder / "fails.py").write_text("def worth(problem, items):\n    return 1 / 0\n")
    (folder / "twice.csv").write_text("problem,item,sport,music,quality\n" + "r1,a1,1,0,0.5\n" * 2)
    (folder / "levels.csv").write_text("problem,item,kind,clicked\nr1,a1,new,0\nr1,a2,newer,1\n")
    for name, options in {"plain": {"features": ["sport"], "size": None}, "level": LEVELS}.items():
        source = folder / "past.csv" if name == "plain" else pa.table({**KNOWN, "clicked": [0, 1]})
        problems, columns = read_with_columns(source, reward="any:clicked", **options)
        model = lw.SCP(1, effort="fast", random_state=0).fit(problems)
        model.columns_, model.reward_spec_ = columns, "any:clicked"
        save(model, folder / f"{name}.listwright")
    return {path.name for path in folder.iterdir()}
