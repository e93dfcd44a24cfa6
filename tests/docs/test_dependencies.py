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
    needed = [*project["dependencies"], *(one for name, those in extras.items() if name not in OURS for one in those)]
    names = {found[0] for one in needed if (found := re.match(r"[\w-]+", one)) and found[0] != "listwright"}
    assert [name for name in sorted(names) if not re.search(rf"(?<![\w-]){name}(?![\w-])", page)] == []
    assert [name for name in extras if f"`{name}`" not in page] == []
