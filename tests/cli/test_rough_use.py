"""Commands in the hands of people and shells: closed streams, pipes that end, files both read and written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from listwright.loading import load
from listwright.storage import save
from tests.cli.readers import commands, records, table

pytest.importorskip("typer")
SHELL = f"{sys.executable} -m listwright"


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command in a shell, `listwright` being the one that is tested."""
    said = line.replace("listwright ", f"{SHELL} ", 1)
    run = subprocess.run(["sh", "-c", said], cwd=folder, capture_output=True, text=True, check=False)
    run.stderr = re.sub(r"^Compiling once.*\n", "", run.stderr, flags=re.MULTILINE)  # where nothing is compiled yet
    return run


@pytest.mark.parametrize("line", ["predict m.listwright new.csv", "evaluate m.listwright held_out.csv", "--help"])
def test_a_closed_standard_output_is_no_error(folder: Path, line: str) -> None:
    run = shell(f"listwright {line} >&-", folder)
    assert (run.returncode, run.stderr) == (0, "")


def test_a_closed_standard_input_is_told(folder: Path) -> None:
    run = shell("listwright predict m.listwright - <&-", folder)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == "Error: Standard input is closed, so there is nothing to read. Name a file.\n"
    assert shell("listwright predict m.listwright new.csv <&- 2>&-", folder).returncode == 0


def test_who_reads_no_further_hears_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "many.csv").write_text(table(3000, clicks=False))
    for unbuffered in ("", "1"):
        monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
        for options in ("", "--json"):
            run = shell(f"{{ listwright predict m.listwright many.csv {options}; echo $? >&2; }} | head -n 1", folder)
            assert run.stderr == "141\n"  # as any program that a closed pipe ends, and nothing else
            assert run.stdout.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("predict", "m.listwright", "new.csv", "-o", "new.csv"),
        ("predict", "m.listwright", "n*.csv", "-o", "./new.csv"),
        ("predict", "m.listwright", "new.csv", "-o", "link.csv"),
        ("predict", "m.listwright", "inside", "-o", "inside/more.csv"),
        ("fit", "new.csv", "--reward", "any:sport", "--length", "2", "-o", "new.csv"),
        ("fit", "new.csv", "--reward", "rouge:item", "--references", "new.csv", "--length", "2", "-o", "new.csv"),
    ],
)
def test_nothing_is_written_over_what_is_read(call, folder: Path, arguments: tuple[str, ...]) -> None:
    before = (folder / "new.csv").read_text()
    (folder / "inside").mkdir(exist_ok=True)
    (folder / "inside" / "more.csv").write_text(before)
    (folder / "link.csv").unlink(missing_ok=True)
    (folder / "link.csv").symlink_to("new.csv")
    code, _, err = call(*arguments)
    (folder / "link.csv").unlink()
    assert code == 1
    assert err.endswith("is an input file and cannot also be the output. Name another file to write.\n")
    assert (folder / "new.csv").read_text() == (folder / "inside" / "more.csv").read_text() == before


def test_files_keep_their_modes(call, folder: Path) -> None:
    (folder / "private.csv").write_text("")
    (folder / "private.csv").chmod(0o600)
    for name in ("private.csv", "fresh.csv"):
        assert call("predict", "m.listwright", "new.csv", "-o", name)[0] == 0
    umask = os.umask(0)
    os.umask(umask)
    assert (folder / "private.csv").stat().st_mode & 0o777 == 0o600
    assert (folder / "fresh.csv").stat().st_mode & 0o777 == 0o666 & ~umask


def test_ids_that_a_spreadsheet_would_run_are_written_as_text(call, folder: Path) -> None:
    ids = ['=HYPERLINK("http://x","y")', "@SUM(1)", "-1+cmd|' /C calc'!A0", "@name", "-7x", "plain"]
    rows = [f'r1,"{one.replace(chr(34), 2 * chr(34))}",1,0,0.{i}' for i, one in enumerate(ids)]
    (folder / "formulas.csv").write_text("\n".join(["problem,item,sport,music,quality", *rows]) + "\n")
    code, _, err = call("predict", "m.listwright", "formulas.csv", "--length", "6", "-o", "safe.csv")
    assert code == 0
    assert "Note: some values of 'item' begin like a formula." in err
    assert {row["item"] for row in records(folder / "safe.csv")} == {*(f"'{one}" for one in ids[:3]), *ids[3:]}
    assert call("predict", "m.listwright", "formulas.csv", "--length", "6", "-o", "safe.jsonl")[2].count("Note") == 0
    told = {json.loads(line)["item"] for line in (folder / "safe.jsonl").read_text().splitlines()}
    assert told == set(ids)


def test_deeply_nested_lines_are_named(folder: Path) -> None:
    """In a process of its own: it used to end in a crash."""
    deep = '{"problem": "r1", "item": "a", "sport": 1, "music": 0, "quality": ' + "[" * 20_000 + "]" * 20_000 + "}\n"
    (folder / "deep.jsonl").write_text(deep)
    run = shell("listwright predict m.listwright deep.jsonl", folder)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == (
        "Error: deep.jsonl, line 1: nested more than 64 levels deep. Write numbers, text and lists of these.\n"
    )


def test_a_table_without_the_usual_names_is_told_without_an_option_that_is_not_there(call, folder: Path) -> None:
    model = load(folder / "m.listwright")
    del model.columns_
    save(model, folder / "bare.listwright")
    (folder / "renamed.csv").write_text((folder / "new.csv").read_text().replace("problem,", "reader,", 1))
    for command in ("predict", "evaluate", "explain"):
        more = {"explain": ("--problem", "r90"), "evaluate": ("--reward", "any:sport")}.get(command, ())
        code, _, err = call(command, "bare.listwright", "renamed.csv", *more)
        assert code == 1
        assert "has no column 'problem'" in err
        assert "--problem-column" not in err
        flags = {flag for option in commands()[command].params for flag in option.opts}
        assert not {word.strip(".,") for word in err.split() if word.startswith("--")} - flags


def test_semicolons_tabs_and_decimal_commas_are_read(call, folder: Path) -> None:
    expected = call("predict", "m.listwright", "new.csv")[1]
    text = (folder / "new.csv").read_text()
    (folder / "semicolons.csv").write_text(text.replace(",", ";").replace(".", ","))
    (folder / "tabs.csv").write_text(text.replace(",", "\t"))
    for name in ("semicolons.csv", "tabs.csv"):
        assert call("predict", "m.listwright", name)[:2] == (0, expected)
        assert call("predict", "m.listwright", "-", stdin=(folder / name).read_bytes())[:2] == (0, expected)


def test_a_comparison_under_a_budget_names_the_budget(call, folder: Path) -> None:
    arguments = ("--methods", "top-k,random", "--folds", "2", "-o", "budgeted", "--budget", "7.5")
    code, out, _ = call("compare", "past.csv", "--reward", "any:clicked", *arguments)
    assert code == 0
    assert "top-k" in out
    assert " 7.5 " in out
    assert "7.500" not in out
    assert "length" not in out
    figure = (folder / "budgeted" / "figures" / "values.svg").read_text()
    assert "budget 7.5" in figure
    assert "random" in figure


def test_an_empty_file_of_questions_is_told(call, folder: Path) -> None:
    (folder / "none.jsonl").write_text("\n")
    code, _, err = call("pack", "none.jsonl")
    assert (code, err.startswith("Error: none.jsonl is empty.")) == (1, True)
    (folder / "deep_questions.jsonl").write_text("[" * 20_000 + "\n")
    code, _, err = call("pack", "deep_questions.jsonl")
    assert (code, err.startswith("Error: Line 1 of deep_questions.jsonl is not valid JSON")) == (1, True)
