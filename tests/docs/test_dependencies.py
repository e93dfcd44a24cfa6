"""The overview names every dependency and every extra."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = ("rivals", "docs", "test", "dev")  # for work on listwright itself: named, but not taken apart


def test_the_overview_names_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf8").partition("## Install")[2].partition("\n## ")[0]
    extras = project["optional-dependencies"]
    needed = [
        *project["dependencies"],
        *(package for name, those in extras.items() if name not in OURS for package in those),
    ]
    names = {name[0] for package in needed if (name := re.match(r"[\w-]+", package)) and name[0] != "listwright"}
    assert [name for name in sorted(names) if not re.search(rf"(?<![\w-]){name}(?![\w-])", page)] == []
    assert [name for name in extras if f"`{name}`" not in page] == []
