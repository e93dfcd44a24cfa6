"""What the site has in place of what the repository shows (a hook of mkdocs).

Links to files of the repository, such as notebooks, lead to copies; the reference has whole docstrings.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

LINK = re.compile(r"\]\(((?:\.\./)+[^)#\s]+)\)")
ENTRY = re.compile(r"<!-- (::: [^>]*?) -->\n(?:[^\n]+(?:\n|$))*")  # a name of the reference, and the line for it
FOLDER = "repository"  # of the site


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Return a page with docstrings, whose links to files outside of docs lead to their copies."""
    markdown = ENTRY.sub(r"\1\n", markdown)
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
