"""The README of the packages: links to files of the repository become absolute, because PyPI shows the page alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?!https?:|#)(?P<path>[^)\s]+)\)")


class AbsoluteLinks(MetadataHookInterface):
    """Fills in the dynamic field `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Adds the text of README.md to the metadata, with links to the address named `Source`."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, metadata["urls"]["Source"])}


def absolute(text: str, source: str) -> str:
    """`text` with its relative links and images under `source`, the address of a GitHub repository."""
    raw = source.replace("https://github.com/", "https://raw.githubusercontent.com/")

    def replaced(link: re.Match[str]) -> str:
        folder = f"{raw}/main" if link["image"] else f"{source}/blob/main"
        return f"{link['image']}[{link['text']}]({folder}/{link['path']})"

    return LINK.sub(replaced, text)
