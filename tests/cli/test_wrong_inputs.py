"""Wrong inputs end with one message, the right exit code, no traceback and no file."""

from __future__ import annotations

import re

import numpy as np
import pytest

import listwright as lw
from listwright.storage import save
from tests.cli.readers import FIT, commands, lw_read, records

pytest.importorskip("typer")
WRONG_INPUTS = {
    "missing file": (("fit", "nowhere.csv", *FIT), "There is no file nowhere.csv."),
    "missing folder": (("fit", "past.csv", *FIT[:-1], "nowhere/m.listwright"), "There is no folder nowhere"),
    "wrong column": (("fit", "past.csv", *FIT, "--problem-column", "reader"), "with --problem-column."),
    "wrong feature": (("fit", "past.csv", *FIT, "--features", "qualty"), "qualty"),
    "wrong reward column": (("fit", "past.csv", "--reward", "any:klicked", *FIT[2:]), "klicked"),
    "unknown spec": (("fit", "past.csv", "--reward", "anny:clicked", *FIT[2:]), "Did you mean 'any'?"),
    "not a number": (("fit", "text.csv", *FIT), "quality"),
    "too long": (("fit", "past.csv", *FIT[:3], "9", *FIT[4:]), "Pass --allow-short"),
    "empty table": (("fit", "empty.csv", *FIT), "empty.csv"),
    "unknown kind": (("fit", "m.listwright", *FIT), "unknown kind"),
    "unknown format": (("fit", "past.csv", *FIT, "--format", "xls"), "format must be one of"),
    "no sizes": (("fit", "unsized.csv", "--reward", "any:sport", "--budget", "5", *FIT[4:]), "--budget needs"),
    "no sizes to predict": (("predict", "m.listwright", "unsized.csv", "--budget", "5", "-o", "wrong.csv"), "size"),
    "no sizes to compare": (("compare", "unsized.csv", "--reward", "any:sport", "--budget", "5"), "--size-column."),
    "nothing fits to compare": (("compare", "past.csv", *FIT[:2], "--budgets", "9,0.5"), "No item fits into --budget"),
    "a report on a file": (("compare", "past.csv", *FIT[:2], "-o", "past.csv"), "past.csv is a file"),
    "no model": (("predict", "past.csv", "new.csv", "-o", "wrong.csv"), "past.csv is not a listwright model"),
    "no model file": (("predict", "nowhere.listwright", "new.csv", "-o", "wrong.csv"), "nowhere.listwright"),
    "model and data swapped": (("predict", "new.csv", "m.listwright"), "Is it the data? The model comes first."),
    "a model for data": (("fit", "m.listwright", "past.csv", *FIT), "m.listwright is of an unknown kind"),
    "no length that fits": (("predict", "m.listwright", "new.csv", "--length", "9"), "--length 9. Pass --allow-short"),
    "a model without sizes": (("predict", "plain.listwright", "new.csv", "--budget", "5"), "Fit the model again"),
    "nothing fits": (("predict", "m.listwright", "new.csv", "--budget", "0.5"), "the smallest size is 1."),
    "an unknown level": (("predict", "level.listwright", "levels.csv"), "or pass --new-levels zeros"),
    "an item twice": (("predict", "m.listwright", "twice.csv"), "List an item only once per problem.\n"),
    "text in a reward": (("fit", "levels.csv", "--reward", "any:kind", *FIT[2:]), "another column with --reward."),
    "an empty name": (("predict", "m.listwright", ""), "its name is empty"),
    "files and standard input": (("fit", "past.csv", "-", *FIT), "cannot be read together with files"),
    "no data": (("predict", "m.listwright", "nowhere.csv", "-o", "wrong.csv"), "There is no file nowhere.csv."),
    "missing feature": (("predict", "m.listwright", "narrow.csv", "-o", "wrong.csv"), "quality"),
    "unknown ending": (("predict", "m.listwright", "new.csv", "-o", "wrong.xlsx"), "wrong.xlsx"),
    "a folder": (("predict", "m.listwright", "new.csv", "-o", "."), "is a folder"),
    "no outcomes": (("evaluate", "m.listwright", "new.csv"), "clicked"),
    "not a model to evaluate": (("evaluate", "new.csv", "new.csv"), "not a listwright model"),
    "no such problem": (("explain", "m.listwright", "new.csv", "--problem", "r1"), "There is no problem 'r1'"),
    "not a model to inspect": (("inspect", "new.csv"), "not a listwright model"),
    "nothing to check": (("check", "nowhere.csv", "--reward", "any:clicked"), "There is no file nowhere.csv."),
    "no code": (("check", "past.csv", "--reward", "nowhere.py:f"), "There is no file nowhere.py."),
    "code that fails": (("fit", "past.csv", "--reward", "fails.py:worth", *FIT[2:]), "fails.py"),
    "too many folds": (("compare", "past.csv", "--reward", "any:clicked", "--folds", "99", "-o", "wrong"), "folds"),
    "too few to learn from": (("compare", "past.csv", *FIT[:2], "--train-sizes", "99", "-o", "wrong"), "99"),
}  # fmt: skip
WRONG_COMMANDS = {
    "no limit": ("fit", "past.csv", "--reward", "any:clicked", "-o", "wrong.listwright"),
    "two limits": ("fit", "past.csv", *FIT, "--budget", "3"),
    "no reward": ("fit", "past.csv", "--length", "2", "-o", "wrong.listwright"),
    "length 0": ("fit", "past.csv", *FIT[:3], "0", *FIT[4:]),
    "no out": ("fit", "past.csv", *FIT[:4]),
    "unknown effort": ("fit", "past.csv", *FIT, "--effort", "most"),
    "unknown method": ("compare", "past.csv", "--reward", "any:clicked", "--methods", "scp,magic", "-o", "wrong"),
    "no numbers": ("compare", "past.csv", "--reward", "any:clicked", "--lengths", "one", "-o", "wrong"),
    "no problem": ("explain", "m.listwright", "new.csv"),
    "standard input twice": ("predict", "-", "-"),
    "standard input twice, to evaluate": ("evaluate", "-", "-"),
    "unknown option": ("inspect", "m.listwright", "--verbose"),
}


@pytest.mark.parametrize("name", WRONG_INPUTS)
def test_wrong_inputs_end_with_one_message(call, folder, wrong_files, name: str) -> None:
    arguments, told = WRONG_INPUTS[name]
    code, out, err = call(*arguments)
    assert code == 1
    assert err.startswith("Error: ")
    assert told in err
    flags = {flag for option in commands()[arguments[0]].params for flag in option.opts}
    assert set(re.findall(r"--[a-z][a-z-]*", err)) <= flags
    assert not re.search(r"\b[a-z_]+=", err), "a parameter of Python is named"
    assert "Traceback" not in err
    assert "wrong" not in out
    assert {path.name for path in folder.iterdir()} == wrong_files


def test_a_missing_number_is_filled_and_said(call, folder) -> None:
    rows = (folder / "past.csv").read_text().splitlines()
    rows[4] = re.sub(r"0\.\d+", "nan", rows[4])
    (folder / "gap.csv").write_text("\n".join(rows) + "\n")
    code, _, err = call("fit", "gap.csv", *FIT[:-1], "filled.listwright")
    assert code == 0
    assert "missing values of 'quality' are filled with the median" in " ".join(err.split())


@pytest.mark.parametrize("name", WRONG_COMMANDS)
def test_wrong_commands_are_exit_2(call, folder, wrong_files, name: str) -> None:
    code, out, err = call(*WRONG_COMMANDS[name])
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    assert {path.name for path in folder.iterdir()} == wrong_files


def test_errors_do_not_name_where_standard_input_was_kept(call) -> None:
    code, _, err = call("predict", "m.listwright", "-", stdin=b"problem,item\nr1,a\n")
    assert code == 1
    assert "Standard input" in err
    assert "tmp" not in err


def test_models_without_columns_are_read_by_feature_names(call, folder) -> None:
    problems = lw_read(folder / "past.csv", folder)
    clicked = [row["clicked"] == "1" for row in records(folder / "past.csv")]
    rewarded = problems.with_reward(lw.rewards.AnySuccess(np.array(clicked, dtype=float)))
    save(lw.SCP(2, effort="fast", random_state=0).fit(rewarded), folder / "plain.listwright")
    code, out, _ = call("predict", "plain.listwright", "new.csv", "--json")
    assert code == 0
    assert out == call("predict", "m.listwright", "new.csv", "--json")[1]
    code, _, err = call("evaluate", "plain.listwright", "held_out.csv")
    assert code == 1
    assert "Pass --reward." in err
