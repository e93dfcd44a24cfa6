"""Writes code and its output into the pages: `python docs/run_snippets.py [FILE...]` runs files of docs/snippets.

A page names what it shows in comments, which no reader sees. The block that follows a comment is written anew:

    <!-- code: packing.py pack -->       the part `pack` of docs/snippets/packing.py (without a name: all of it)
    <!-- code: serving.py client+request -->   two parts in one block
    <!-- output: packing.py 1-2 -->      lines 1 and 2 of what that file prints (without numbers: all lines)
    <!-- table: certificates.md -->      docs/snippets/certificates.md, up to the comment <!-- end of table -->

Each block can be copied alone: it begins with the earlier lines of its file that it needs. Pages that are read from the
top (IN_ORDER) are spared these; each of their blocks continues the one before.
"""

from __future__ import annotations

import ast
import builtins
import io
import os
import re
import runpy
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from pathlib import Path
from textwrap import dedent

DOCS = Path(__file__).parent
SNIPPETS = DOCS / "snippets"
CODE = re.compile(r"(<!-- code: (\S+)(?: ([\w+]+))? -->\n+```python\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE)
OUTPUT = re.compile(r"(<!-- output: (\S+)(?: (\d+)-(\d+))? -->\n+```text\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE)
TABLE = re.compile(r"(<!-- table: (\S+) -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)
MARK = re.compile(r"^\s*# \[(?:start|end):\w+\]\n", re.MULTILINE)
DECIMAL = re.compile(r"\d+\.\d+")
IN_ORDER = ("tutorial.py", "algorithm.py", "capped_sum.py")
LAST_DIGIT = 0.0051  # machines may differ in the last digit shown


def snippets() -> list[Path]:
    """All files, in order."""
    return sorted(SNIPPETS.glob("*.py"))


def pages() -> list[Path]:
    """All pages, and those at the root of the repository."""
    return [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def run(snippet: Path) -> str:
    """Return what a file prints, run in an empty folder."""
    before, out = Path.cwd(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(out):
        os.chdir(folder)
        try:
            runpy.run_path(str(snippet), run_name="__main__")
        finally:
            os.chdir(before)
    return out.getvalue()


def part_of(snippet: str, name: str | None) -> str:
    """Return a part of a file, between the comments `[start:name]` and `[end:name]`, or all of it."""
    text = (SNIPPETS / snippet).read_text(encoding="utf8")
    if name and "+" in name:
        return "\n".join(part_of(snippet, each) for each in name.split("+"))
    if name is None:
        return MARK.sub("", text)
    inside = re.search(rf"^ *# \[start:{name}\]\n(.*?)^ *# \[end:{name}\]$", text, re.DOTALL | re.MULTILINE)
    if inside is None:
        raise ValueError(f"{snippet} has no part {name}.")
    part = dedent(MARK.sub("", inside[1])).strip("\n") + "\n"
    within = inside[0].startswith(" ")  # a program that stands around it
    return part if snippet in IN_ORDER or within else needed_before(text[: inside.start()], part) + part


def needed_before(text: str, part: str) -> str:
    """Return the statements of a text that define what a part uses, and what they use in turn."""
    wanted, kept = _missing(ast.parse(part).body), []
    for statement in reversed(ast.parse(text).body):
        if names := _defined(statement) & wanted:
            wanted = wanted - names | _missing([statement])
            kept.append((statement, names))
    code, end, lines = "", 0, text.splitlines()
    for statement, names in reversed(kept):
        gap = "\n" if code and "" in lines[end : statement.lineno - 1] else ""
        code += ("\n\n" if _is_definition(statement) and code else gap) + _source(statement, names, lines)
        code += "\n" if _is_definition(statement) else ""
        end = statement.end_lineno or 0
    apart = "\n\n" if part.startswith(("def ", "class ")) else "\n"
    return f"{code}{apart}" if code else ""


def _source(statement: ast.stmt, names: set[str], lines: list[str]) -> str:
    """The lines of a statement; of an import only the names that are needed."""
    if isinstance(statement, ast.ImportFrom):
        kept = [alias.name for alias in statement.names if alias.name in names]
        return f"from {statement.module} import {', '.join(kept)}\n"
    return "\n".join(lines[statement.lineno - 1 : statement.end_lineno]) + "\n"


def _is_definition(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef | ast.ClassDef)


def _defined(statement: ast.stmt) -> set[str]:
    """Names that a statement gives a value."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    changed = {node.value for node in ast.walk(statement) if isinstance(node, ast.Subscript) and _is_stored(node)}
    return _names([statement], ast.Store) | _names(changed, ast.Load)


def _is_stored(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store)


def _missing(statements: list[ast.stmt]) -> set[str]:
    """Names that statements use before they define them."""
    known, missing = set(dir(builtins)), set()
    for statement in statements:
        nodes = list(ast.walk(statement))
        local = {node.arg for node in nodes if isinstance(node, ast.arg)}
        local |= _names([node.target for node in nodes if isinstance(node, ast.comprehension)], ast.Store)
        local |= set() if isinstance(statement, ast.Assign | ast.AugAssign) else _names([statement], ast.Store)
        missing |= _names([statement], ast.Load) - known - local
        known |= _defined(statement)
    return missing


def _names(nodes: Iterable[ast.AST], context: type[ast.expr_context]) -> set[str]:
    nested = (node for tree in nodes for node in ast.walk(tree))
    return {node.id for node in nested if isinstance(node, ast.Name) and isinstance(node.ctx, context)}


def lines_of(text: str, first: str | None, last: str | None) -> str:
    """Return some lines of an output, counted from 1."""
    lines = text.splitlines(keepends=True)
    if last is not None and int(last) > len(lines):
        raise ValueError(f"There is no line {last} in an output of {len(lines)} lines.")
    return "".join(lines if first is None else lines[int(first) - 1 : int(last or first)])


def with_code(page: str) -> str:
    """Return a page with the code and the tables that its comments name."""
    page = CODE.sub(lambda match: f"{match[1]}{part_of(match[2], match[3])}{match[5]}", page)
    return TABLE.sub(lambda match: f"{match[1]}\n{_table(match[2])}\n\n{match[4]}", page)


def with_output(page: str, snippet: str, printed: str) -> str:
    """Return a page with what a file printed, where that is more than another last digit."""

    def block(match: re.Match[str]) -> str:
        if match[2] != snippet:
            return match[0]
        new = lines_of(printed, match[3], match[4])
        return match[0] if agree(match[5], new) else f"{match[1]}{new}{match[6]}"

    return OUTPUT.sub(block, page)


def agree(shown: str, printed: str) -> bool:
    """Return whether two outputs are the same but for the last digits of decimals."""
    if DECIMAL.sub("0.0", shown) != DECIMAL.sub("0.0", printed):
        return False
    pairs = zip(DECIMAL.findall(shown), DECIMAL.findall(printed), strict=True)
    return all(abs(float(mine) - float(other)) <= LAST_DIGIT for mine, other in pairs)


def _table(name: str) -> str:
    return (SNIPPETS / name).read_text(encoding="utf8").strip("\n")


def _rewrite(change: Callable[[str], str]) -> None:
    for page in pages():
        old = page.read_text(encoding="utf8")
        if (new := change(old)) != old:
            page.write_text(new, encoding="utf8")
            print(f"wrote {page.relative_to(DOCS.parent)}")


def main(names: list[str]) -> None:
    """Write the code of all pages, and the output of some or all files."""
    _rewrite(with_code)
    for snippet in [SNIPPETS / Path(name).name for name in names] or snippets():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of other people's code
                printed = run(snippet)
        except ImportError as error:
            print(f"{snippet.name} is left as it is: {error}")
            continue
        _rewrite(lambda page, name=snippet.name, text=printed: with_output(page, name, text))  # type: ignore[misc]


if __name__ == "__main__":
    main(sys.argv[1:])
