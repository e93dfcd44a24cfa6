"""Links from pages to files of the repository, such as notebooks: the site gets a copy of each (a hook of mkdocs)."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

LINK = re.compile(r"\]\(((?:\.\./)+[^)#\s]+)\)")
FOLDER = "repository"  # of the site


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Return a page whose links to files outside of docs lead to their copies."""
    docs = Path(config.docs_dir)
    here = (docs / page.file.src_uri).parent

    def link(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(here / match[1]))
        is_page = target.is_relative_to(docs) and not target.is_relative_to(docs / "snippets")
        if is_page or not target.is_file():
            return match[0]  # mkdocs says if there is no such page
        name = f"{FOLDER}/{target.relative_to(docs.parent).as_posix()}"
        if files.get_file_from_path(name) is None:
            files.append(File.generated(config, name, abs_src_path=str(target)))
        return f"]({os.path.relpath(docs / name, here)})"

    return LINK.sub(link, markdown)
