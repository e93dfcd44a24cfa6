"""Phrases that read as if translated stay out of pages, docstrings, messages and command help."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
THINGS = "candidate|column|cost|feature|fold|item|list|pick|position|problem|query|question|row|shard|state|step|word"
PHRASES = {
    'use "per"': rf"\b(?:one|two|once|numbers?|bytes|µs|ms|learner|row|entry|column) an? (?:{THINGS})\b",
    'use "per" ': rf"\d an? (?:{THINGS})\b(?! of)",
    'use "except"': r"\b[Ss]ave (?:for|in|the last|those|that)\b",
    'use "predict"': r"\bforet(?:ell|old|ells)\b",
    'use "learns of" or "receives"': r"\bhears? of\b",
    'use "available"': r"\bat hand\b",
    "name what it is": r"\bwho and what\b",
    'use "for the versions named"': r"\bread off the versions\b",
    'use "decided" or "determined"': r"\bsettled\b",
    'use "requested"': r"\basked of it\b",
    "name who it is": r"\bwhatever she\b",
    'use "is not"': r"\bis no (?:JSON|TOML|listwright|number|list|dictionary|option)\b",
    'use "separated by commas"': r"(?<!separated )(?<!joined )\bby commas\b",
}


def texts_of(source: str) -> Iterator[tuple[int, str]]:
    """(line, text) of every string of a Python file: docstrings, messages and help."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def faults(text: str) -> list[str]:
    plain = " ".join(text.split())
    return [
        f"{match[0]!r}: {advice.strip()}"
        for advice, pattern in PHRASES.items()
        for match in re.finditer(pattern, plain)
    ]


def test_the_phrases_are_found() -> None:
    assert faults("There is one row\na candidate, save for the last.") == [
        "'row a candidate': use \"per\"",
        "'save for': use \"except\"",
    ]
    assert faults("One row per candidate. A list is worth 1.") == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_such_phrase_on_a_page(page: Path) -> None:
    assert faults(page.read_text(encoding="utf8")) == []


def test_no_such_phrase_in_the_code() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {fault}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for line, text in texts_of(path.read_text(encoding="utf8"))
        for fault in faults(text)
    ]
    assert wrong == []
