"""The page on the architecture names rooms and files that there are, and all rooms."""

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


def test_every_room_is_named() -> None:
    rooms = [path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()]
    assert [room for room in rooms if f"`{room}/" not in PAGE] == []
    modules = [path.name for path in PACKAGE.glob("*.py") if not path.name.startswith("__")]
    assert [module for module in modules if f"`{module}`" not in PAGE] == []


def test_people_are_led_to_it() -> None:
    for name in ("README.md", "CONTRIBUTING.md"):
        assert "docs/architecture.md" in (ROOT / name).read_text(encoding="utf-8")
