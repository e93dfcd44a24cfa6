"""Models with a user's own parts: their classes are made where they are trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

import listwright as lw
from listwright.features import Candidate
from listwright.tables import read_with_columns
from tests.storage.own_parts import Powers

pytest.importorskip("typer")
NAME = "tests.storage.own_parts:Powers"


@pytest.fixture
def own(folder: Path) -> str:
    """A model file with a feature that is not listwright's."""
    problems, columns = read_with_columns(folder / "past.csv", reward="any:clicked")
    model = lw.SCP(2, features=Candidate() + Powers(), random_state=0).fit(problems)
    model.columns_, model.reward_spec_ = columns, "any:clicked"
    model.save(folder / "own.listwright")
    return "own.listwright"


@pytest.mark.parametrize(
    "command",
    [
        ["inspect", "own.listwright"],
        ["predict", "own.listwright", "new.csv"],
        ["evaluate", "own.listwright", "held_out.csv"],
        ["explain", "own.listwright", "new.csv", "--problem", "r90"],
    ],
    ids=lambda command: command[0],
)
def test_the_error_names_the_option_that_helps(call, own: str, command: list[str]) -> None:
    code, out, err = call(*command)
    assert (code, out) == (1, "")
    assert err.endswith(f"If you trust the file and these classes, pass --trust {NAME}\n")
    code, out, err = call(*command, "--trust", f"other.module:Unused, {NAME}")
    assert code == 0, err
    assert out


def test_wrong_names_are_refused(call, own: str) -> None:
    code, _, err = call("inspect", own, "--trust", "Powers")
    assert code == 1
    assert f"pass --trust {NAME}" in err
