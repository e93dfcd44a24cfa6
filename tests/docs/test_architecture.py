"""The page on the architecture names files, classes and functions that there are, and all subpackages."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "listwright"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_path_exists() -> None:
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:\.py|/))`", PAGE)
    assert len(set(named)) > 50
    missing = [path for path in named if not (PACKAGE / path).exists() and path != "listwright/__init__.py"]
    assert missing == []


def test_every_subpackage_is_named() -> None:
    packages = [path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()]
    assert [name for name in packages if f"`{name}/" not in PAGE] == []
    modules = [path.name for path in PACKAGE.glob("*.py") if not path.name.startswith("__")]
    assert [module for module in modules if f"`{module}`" not in PAGE] == []


def test_what_the_page_finds_in_a_file_is_defined_there() -> None:
    """A name in brackets after a file, or before "in" and a file."""
    pairs = [
        (file, name)
        for file, names in re.findall(r"`([a-z_/]+\.py)` \(((?:`\w+`(?:, )?)+)\)", PAGE)
        for name in re.findall(r"`(\w+)`", names)
    ]
    pairs += [(file, name) for name, file in re.findall(r"`(?:\w+\.)?(\w+)` in `([a-z_/]+\.py)`", PAGE)]
    assert len(pairs) >= 16
    missing = [pair for pair in pairs if not defines((PACKAGE / pair[0]).read_text(encoding="utf-8"), pair[1])]
    assert missing == []


def defines(source: str, name: str) -> bool:
    return re.search(rf"^\s*(?:(?:def|class) {name}\b|{name}(?:: [^=]+)? =)", source, re.MULTILINE) is not None


def test_people_are_led_to_it() -> None:
    for name in ("README.md", "CONTRIBUTING.md"):
        assert "docs/architecture.md" in (ROOT / name).read_text(encoding="utf-8")
