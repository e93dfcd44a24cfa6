"""Pages that are made from the code. `python docs/pages.py` writes them anew; a test says when that is due."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa

import listwright as lw
from listwright.evaluation.values import list_values
from listwright.frames.reward_text import KINDS, OWN, RewardKind
from listwright.lists import Lists

DOCS = Path(__file__).parent
ENTRY = re.compile(
    r"(<!-- ::: (\S+)[^>]*? -->\n)(?:[^\n]+\n)*"
)  # of the reference; docs/repository_links.py reads it too
SHOWN = 4  # parameters of a signature
CANDIDATES: dict[str, list[Any]] = {
    "problem": ["q1"] * 4,
    "item": ["a", "b", "c", "d"],
    "age": [1, 4, 2, 3],
    "clicked": [1, 1, 0, 1],
    "chance": [0.5, 0.5, 0.0, 0.8],
    "grade": [2, 2, 0, 3],
    "price": [3, 1, 4, 2],
    "topics": [["sport", "music"], ["sport"], ["food"], ["music"]],
    "weight": [[2.0, 1.0], [2.0], [1.0], [1.0]],
    "is_sport": [1, 1, 0, 0],
    "is_music": [1, 0, 0, 1],
    "about_x": [0.9, 0.8, 0.0, 0.1],
    "about_y": [0.2, 0.0, 0.5, 0.7],
    "text": ["a red fox ran", "a red fox slept", "the dog barked", "the dog ran"],
}
LISTS = {"a": [0], "a, b": [0, 1], "a, c": [0, 2], "all four": [0, 1, 2, 3]}
REFERENCES = {"q1": ["a red fox ran and the dog barked"]}
JUDGEMENTS = "q1 1 a 1\nq1 1 b 1\nq1 2 c 1\n"
FUNCTION = "def worth(problem, items):\n    return len(set(items)) / 4\n"


def rewards() -> str:
    """Every reward that can be written in one line, with what some lists are worth by it."""
    lines = [
        "# Rewards by name",
        "",
        "A line of text says what a list is worth, in the same form everywhere: `fit(frame, reward=...)`,",
        '`Problems.from_frame(frame, reward=...)`, and `--reward` on the command line. `"any:clicked"` names a kind',
        "of reward and the columns that it reads; these columns are then not used as features. Rewards for arrays",
        "are in the [reference](reference/rewards.md), and [your own reward](how-to/own-reward.md) may be any",
        "function.",
        "",
        "The tables below give the value of the list named at the top of each column, for this problem of four",
        "candidates:",
        "",
        *_table(
            list(CANDIDATES)[1:], zip(*[map(_cell, values) for values in list(CANDIDATES.values())[1:]], strict=True)
        ),
        "",
    ]
    with tempfile.TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            Path("judgements.txt").write_text(JUDGEMENTS, encoding="utf8")
            Path("own.py").write_text(FUNCTION, encoding="utf8")
            for kind in (*KINDS.values(), OWN):
                lines += _kind(kind)
        finally:
            os.chdir(before)
    return "\n".join([*lines, *WORDS])


WORDS = [
    "## Failure",
    "",
    "`evaluate` and `compare` also report the *failure* of lists: the share that are worth nothing. Where items",
    "succeed with a probability (`any`, `graded`), it is the expected share, 1 - value.",
    "",
]


def _kind(kind: RewardKind) -> list[str]:
    name = kind.form.partition(":")[0] if kind is not OWN else "Your own function"
    rows = [[f"`{text}`", *(_number(_worth(text, rows)) for rows in LISTS.values())] for text in kind.examples]
    meaning, more = f"`{kind.form}`: {_escaped(kind.meaning)}.", _escaped(kind.more)
    return [f"## {name}", "", meaning, "", *([more, ""] if more else []), *_table(["reward", *LISTS], rows), ""]


def _worth(reward: str, rows: list[int]) -> float:
    references = REFERENCES if reward.startswith("rouge") else None
    problems = lw.Problems.from_frame(pa.table(CANDIDATES), features=["age"], reward=reward, references=references)
    return float(list_values(Lists(problems.without_reward(), np.array([rows])), problems)[0])


def commands() -> str:
    """Every command with its arguments and options."""
    from typer.main import get_command

    from listwright.cli.app import app

    known: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
    lines = [
        "# Command line",
        "",
        "```sh",
        'pip install "listwright[cli]"',
        "```",
        "",
        "Or `make demo` from a checkout, which installs it into `.venv`. `python -m listwright` is the same command.",
        "",
        "Tables have one row per candidate: Parquet, CSV (also with semicolons or tabs), JSON lines or SVMlight.",
        "[Rewards by name](rewards.md) lists what `--reward` takes, [pandas and polars](how-to/pandas-and-polars.md)",
        "has the same in Python. `-` is standard input or output, `--json` prints JSON, and files are written",
        "whole or not at all. Exit codes: 0 success, 1 wrong input, 2 a wrong command line, 141 a closed pipe.",
        "",
        *_table(
            ["command", "what it does"],
            [[f"[{name}](#{name})", _first(command.help)] for name, command in known.items()],
        ),
    ]
    for name, command in known.items():
        lines += ["", f"## {name}", "", _one_line(command.help), "", "```sh"]
        lines += [command.epilog.removeprefix("Example: "), "```", ""]
        lines += _table(["argument or option", "default", "what it is for"], map(_parameter, command.params))
    return "\n".join(lines) + "\n"


def _parameter(option: Any) -> list[str]:
    flags = [*option.opts, *option.secondary_opts]
    is_option = flags[0].startswith("-")
    names = ", ".join(f"`{flag}`" for flag in flags) if is_option else f"`{option.metavar or flags[0].upper()}`"
    unset = option.default is None or option.default is False or option.default == ()
    described = isinstance(option.show_default, str)  # where the default depends on the machine
    default = (
        "required" if option.required else "" if unset else option.show_default if described else f"`{option.default}`"
    )
    return [names, default, _escaped(_one_line(option.help))]


def _first(text: str) -> str:
    """The first sentence."""
    return _escaped(_one_line(text).partition(". ")[0].rstrip(".") + ".")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def _table(heads: list[str], rows: Any) -> list[str]:
    return [_row(heads), _row(["---"] * len(heads)), *map(_row, rows)]


def _row(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: Any) -> str:
    return (
        ", ".join(map(_cell, value))
        if isinstance(value, list)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def reference(path: Path) -> str:
    """A page of the reference, with a line for each name; the site has the whole docstring in its place."""

    def with_line(entry: re.Match[str]) -> str:
        module, _, name = entry[2].rpartition(".")
        try:
            value = getattr(importlib.import_module(module), name)
        except ImportError:  # an extra is missing here: the line stays
            return entry[0]
        return f"{entry[1]}{_summary(name, value)}\n"

    return ENTRY.sub(with_line, path.read_text(encoding="utf8"))


def _summary(name: str, value: Any) -> str:
    """What a name is called with, the first paragraph of its docstring, and its file."""
    file = Path(inspect.getsourcefile(value) or "").relative_to(DOCS.parent)
    about = _one_line((inspect.getdoc(value) or "").partition("\n\n")[0])
    return f"**`{name}{_parameters(value)}`**: {about} ([{file.name}](../../{file.as_posix()}))"


def _parameters(value: Any) -> str:
    if isinstance(value, ModuleType) or (inspect.isclass(value) and issubclass(value, Exception)):
        return ""
    names = [name for name in inspect.signature(value).parameters if name not in ("args", "kwargs", "data")]
    return f"({', '.join([*names[:SHOWN], *(['...'] if len(names) > SHOWN else [])])})"


PAGES: dict[str, Callable[[], str]] = {"rewards.md": rewards, "command-line.md": commands} | {
    f"reference/{path.name}": partial(reference, path)
    for path in sorted((DOCS / "reference").glob("*.md"))
    if path.name != "index.md"
}


def write_pages() -> Iterator[Path]:
    """Write all pages."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf8")
        yield DOCS / name


if __name__ == "__main__":
    for page in write_pages():
        print(page.name)
