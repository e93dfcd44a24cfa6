"""The pages: their code runs and prints what they show, their commands exist, and their links lead somewhere."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
import shlex
import subprocess
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("error::listwright.errors.DataWarning")  # pages and programs make no mistakes
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITTEN_BY_COMMANDS = {"gpu.md", "performance.md", "results.md"}  # by `make bench` and `listwright reproduce`
MADE = runpy.run_path(str(DOCS / "pages.py"), run_name="pages")["PAGES"]  # from the code
PAGES = sorted(page for page in DOCS.rglob("*.md") if page.name not in WRITTEN_BY_COMMANDS)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NEEDS = {  # beside what every test needs
    "from_apricot": "apricot",
    "from_pyversity": "pyversity",
    "packing_haystack": "haystack",
    "packing_langchain": "langchain_core",
    "packing_llama_index": "llama_index",
    "serving": "uvicorn",
}
OTHERS = ("from_apricot", "from_pyversity", "packing_haystack", "packing_langchain", "packing_llama_index")  # may warn

runner = runpy.run_path(str(DOCS / "run_snippets.py"), run_name="run_snippets")
SNIPPETS: list[Path] = runner["snippets"]()


def blocks(page: Path, *kinds: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf8")) if kind in kinds]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda path: path.stem)
def test_a_snippet_is_not_called_like_a_module(snippet: Path) -> None:
    # Run as a file, it would be imported in the place of that module, by itself and by all others of the folder.
    assert importlib.util.find_spec(snippet.stem) is None


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda path: path.stem)
@pytest.mark.system
def test_pages_show_what_a_snippet_prints(snippet: Path) -> None:
    if snippet.stem in NEEDS:
        pytest.importorskip(NEEDS[snippet.stem], reason=f"docs/snippets/{snippet.name} needs {NEEDS[snippet.stem]}")
    with warnings.catch_warnings():
        if snippet.stem in OTHERS:
            warnings.simplefilter("ignore")  # other people's code
        printed = runner["run"](snippet)
    shown: set[int] = set()
    for page in runner["pages"]():
        text = page.read_text(encoding="utf8")
        again = f"{page.name} is out of date: python docs/run_snippets.py {snippet.name}"
        assert runner["with_output"](text, snippet.name, printed) == text, again
        for _, name, first, last, *_ in runner["OUTPUT"].findall(text):
            if name == snippet.name:
                shown |= set(range(int(first or 1), int(last or 100_000) + 1))
    lines = range(1, len(printed.splitlines()) + 1)
    assert not shown or shown.issuperset(lines), f"lines that {snippet.name} prints are on no page"


@pytest.mark.parametrize("page", runner["pages"](), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_code_and_tables_of_a_page_are_those_of_its_files(page: Path) -> None:
    text = page.read_text(encoding="utf8")
    assert runner["with_code"](text) == text, f"{page.name} is out of date: python docs/run_snippets.py"
    assert "--8<--" not in text
    assert not re.search(r"^:::", text, re.MULTILINE), "a name of the reference is a comment, with a line below it"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_code_and_output_on_a_page_come_from_a_file_that_runs(page: Path) -> None:
    text = page.read_text(encoding="utf8")
    assert len(blocks(page, "python")) == len(runner["CODE"].findall(text)), f"{page.name}: code of no file"
    assert len(blocks(page, "text")) == len(runner["OUTPUT"].findall(text)), f"{page.name}: output of no file"


@pytest.mark.parametrize("page", runner["pages"](), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_block_defines_what_it_uses(page: Path) -> None:
    """Each can be copied alone. On pages that are read from the top, each continues the ones before it."""
    ruff = pytest.importorskip("ruff", reason="needs the extra docs").find_ruff_bin()
    code = blocks(page, "python")
    if {name for _, name, *_ in runner["CODE"].findall(page.read_text(encoding="utf8"))} & {*runner["IN_ORDER"]}:
        code = ["\n".join(code)]
    command = [ruff, "check", "--isolated", "--quiet", "--select", "F821", "--output-format", "concise", "-"]
    for block in code:
        assert subprocess.run(command, input=block, capture_output=True, text=True, check=False).stdout == "", block


def test_a_part_of_a_file_begins_with_what_it_needs_of_the_lines_before() -> None:
    before = """
import numpy as np
from math import cos, sin

a = np.array([1, 2])
b = 5  # not needed


def f(x):
    return sin(x)


a[0] = 3
print(b)
"""
    needed = """import numpy as np
from math import sin

a = np.array([1, 2])


def f(x):
    return sin(x)


a[0] = 3

"""
    assert runner["needed_before"](before, "print(f(a))\n") == needed
    assert runner["needed_before"](before, "print([i for i in range(3)])\n") == ""


@pytest.mark.parametrize("name", MADE)
def test_pages_made_from_the_code_are_current(name: str) -> None:
    pytest.importorskip("typer")
    assert (DOCS / name).read_text(encoding="utf8") == MADE[name](), "write it anew with: python docs/pages.py"


def test_every_reward_is_on_its_page_and_in_the_help() -> None:
    from listwright.cli.options import REWARDS
    from listwright.frames.reward_text import KINDS, OWN
    from listwright.frames.rewards import _BUILDERS

    page = (DOCS / "rewards.md").read_text(encoding="utf8")
    assert set(KINDS) | {"python"} == set(_BUILDERS)
    for kind in (*KINDS.values(), OWN):
        assert f"`{kind.form}`" in page
        assert kind.form in REWARDS
        assert all(f"`{example}`" in page for example in kind.examples)


def commands_on(page: Path) -> list[list[str]]:
    lines = [line for block in blocks(page, "sh") for line in block.splitlines() if line.strip()]
    return [shlex.split(line, comments=True) for line in lines]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_on_a_page_exist(page: Path) -> None:
    typer_main = pytest.importorskip("typer.main")
    from listwright.cli.app import app

    known: dict[str, Any] = typer_main.get_command(app).commands
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf8"), re.MULTILINE)
    for words in commands_on(page):
        if words[0] == "listwright":
            known[words[1]].make_context(words[1], words[2:]).close()
        elif words[0] == "make":
            assert words[1] in targets
        elif words[0] == "python":
            assert words[1] == "-m" or (ROOT / words[1]).is_file(), words
        elif words[0] == "curl":
            assert json.loads(words[-1]), words  # tests/docs/test_readme.py sends the one of the front page
        else:
            assert words[:2] in (["pip", "install"], [".", ".venv/bin/activate"]), f"{page.name}: what is {words}?"


@pytest.mark.usefixtures("benchmarks")
def test_figures_of_pages_are_those_of_the_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("altair")
    from benchmarks import results_charts, results_page

    drawn: dict[str, str] = {}
    monkeypatch.setattr(
        results_page,
        "save",
        lambda name, chart: drawn.update({name: results_charts.fingerprint(chart)}) or f"{name}.png",
    )
    quoted = 0
    for name in results_page.PAGES:
        text = (ROOT / name).read_text(encoding="utf8")
        quoted += len(results_page.BLOCK.findall(text))
        assert results_page.with_results(text) == text, f"{name} is out of date: python -m benchmarks.results_page"
    assert quoted == len(results_page.BLOCKS)
    assert len(drawn) == 16
    assert len(set(drawn.values())) == 16
    stored = {name: results_charts.fingerprint_in(DOCS / "images" / f"{name}.png") for name in drawn}
    assert stored == drawn, "pictures are out of date: python -m benchmarks.results_page"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "examples/README.md"])
def test_links_to_files_lead_somewhere(name: str) -> None:
    page = ROOT / name
    links = re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf8"))
    assert [link for link in links if "://" not in link and not (page.parent / link.partition("#")[0]).exists()] == []


def test_every_room_is_in_the_reference() -> None:
    import listwright as lw

    reference = "\n".join(page.read_text(encoding="utf8") for page in (DOCS / "reference").glob("*.md"))
    missing = []
    for name in lw.__all__:
        value = getattr(lw, name)
        names = [name] if not hasattr(value, "__path__") else [f"listwright.{name}"]
        missing += [each for each in names if each not in reference and each != "explain"]
    assert not missing


def test_what_the_reference_names_is_there() -> None:
    for page in (DOCS / "reference").glob("*.md"):
        for name in re.findall(r"^<!-- ::: (\S+)", page.read_text(encoding="utf8"), re.MULTILINE):
            module, _, last = name.rpartition(".")
            assert importlib.util.find_spec(name.rpartition(".")[0]), name
            with suppress(ImportError):  # an extra may be missing here
                assert hasattr(importlib.import_module(module), last), name


@pytest.mark.system
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    commands = pytest.importorskip("mkdocs.commands.build", reason="needs the extra docs")
    from mkdocs.config import load_config

    config = load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tools
        commands.build(config)
    pages = {
        path.relative_to(tmp_path).as_posix(): path.read_text(encoding="utf8") for path in tmp_path.rglob("*.html")
    }
    outside = {
        (name, link)
        for name, text in pages.items()
        for link in re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)"', text)
    }
    assert not outside, "pages load something from elsewhere"
    assert 'id="listwright.estimators.scp.SCP"' in pages["reference/estimators.html"]
    assert "src/listwright/estimators" not in pages["reference/estimators.html"], "a line for the repository's readers"
