"""What `listwright fit` says before a mistake: the warnings of the library, in the words of the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.readers import commands, table

pytest.importorskip("typer")
FIT = ("--reward", "any:clicked", "--effort", "fast", "-o", "mistaken.listwright")


def with_column(name: str, values: str) -> str:
    """The usual table with one more column: "label", "place", or a date."""
    header, *lines = table(40).splitlines()
    more = {
        "label": lambda i, line: line.rpartition(",")[2],
        "place": lambda i, line: str(i % 6 + 1),
        "date": lambda i, line: f"2026-01-{i % 28 + 1:02d}",
        "kind": lambda i, line: ("new", "old")[i % 2],
    }[values]
    return "\n".join([f"{header},{name}", *(f"{line},{more(i, line)}" for i, line in enumerate(lines))]) + "\n"


def nothing_but_context() -> str:
    lines = [",".join(line.split(",")[i] for i in (0, 1, 6)) for line in table(40).splitlines()]
    return "\n".join([f"{lines[0]},price", *(f"{line},{i // 6}" for i, line in enumerate(lines[1:]))]) + "\n"


MISTAKES = {
    "the label beside the reward": (
        with_column("told", "label"),
        2,
        "computed from told. .* leave it out with --ignore",
    ),
    "all candidates in every list": (table(40), 6, "exactly 6 candidates.*listwright fit --log"),
    "the position shown": (with_column("slot", "place"), 2, "Column slot counts the candidates.* --ignore"),
    "nothing but context": (nothing_but_context(), 2, "context, with one value per problem: 'price'"),
    "a date": (with_column("day", "date"), 2, "left out: 'day'.*--ignore"),
    "a category": (with_column("kind", "kind"), 2, "left out: 'kind'.*--categorical"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_noted_and_the_model_written(call, folder: Path, name: str) -> None:
    text, length, told = MISTAKES[name]
    (folder / "mistaken.csv").write_text(text)
    code, out, err = call("fit", "mistaken.csv", *FIT, "--length", str(length))
    assert code == 0
    assert out.endswith("s of learning.\n")
    notes = [line for line in err.splitlines() if line.startswith("Note: ")]
    assert any(re.search(told, note) for note in notes), err
    flags = {flag for option in commands()["fit"].params for flag in option.opts}
    assert set(re.findall(r"--[a-z][a-z-]*", err)) <= flags
    assert not re.search(r"\b[a-z_]+=", err), "a parameter of Python is named"


def test_nothing_is_noted_of_good_data_and_of_the_rank_by_a_score(call, folder: Path) -> None:
    (folder / "mistaken.csv").write_text(with_column("bm25_rank", "place"))
    code, _, err = call("fit", "mistaken.csv", *FIT, "--length", "2")
    assert (code, err) == (0, "")


def test_a_policy_that_does_not_beat_sorting_is_said_to(call, folder: Path) -> None:
    rows = [f"p{i},{j},{(7 * i + 11 * j) % 13},{int((7 * i + 11 * j) % 13 > 9)}" for i in range(60) for j in range(6)]
    (folder / "plain.csv").write_text("\n".join(["problem,item,grade,clicked", *rows]) + "\n")
    out = " ".join(call("fit", "plain.csv", *FIT, "--length", "2")[1].split())
    assert "No clear difference to sorting by the best column" in out
