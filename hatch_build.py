"""The project's home in the packages: `home` under `[tool.listwright]` in pyproject.toml, read when they are built.

PyPI shows the README alone, so its links to files of the repository become addresses under the home. While the home is
not set, the metadata name no address, and these links are plain text.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?!https?:|#)(?P<path>[^)\s]+)\)")


class Home(MetadataHookInterface):
    """Fills in the dynamic fields `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the text of README.md to the metadata, and the addresses of the project if it has a home."""
        root = Path(self.root)
        settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf8"))
        home = settings["tool"]["listwright"]["home"].rstrip("/")
        text = (root / "README.md").read_text(encoding="utf8")
        metadata["readme"] = {"content-type": "text/markdown", "text": with_home(text, home)}
        metadata["urls"] = addresses(home)


def addresses(home: str) -> dict[str, str]:
    """Return the project's addresses by name; none without a home."""
    if not home:
        return {}
    pages = {"Documentation": "docs/index.md", "Changelog": "CHANGELOG.md"}
    return {"Source": home} | {name: f"{home}/blob/main/{path}" for name, path in pages.items()}


def with_home(text: str, home: str) -> str:
    """Return `text` with its relative links and images under a GitHub repository, or without them."""
    raw = home.replace("https://github.com/", "https://raw.githubusercontent.com/")

    def replace(link: re.Match[str]) -> str:
        if not home:
            return "" if link["image"] else link["text"]
        folder = f"{raw}/main" if link["image"] else f"{home}/blob/main"
        return f"{link['image']}[{link['text']}]({folder}/{link['path']})"

    return LINK.sub(replace, text)
