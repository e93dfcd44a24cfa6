"""Runs the code of these pages. `python docs/run_snippets.py` writes what each file prints beside it, for the pages."""

from __future__ import annotations

import io
import os
import runpy
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

SNIPPETS = Path(__file__).parent / "snippets"


def snippets() -> list[Path]:
    """All files, in order."""
    return sorted(SNIPPETS.glob("*.py"))


def printed(snippet: Path) -> str:
    """What a file prints, run in an empty folder."""
    before, out = Path.cwd(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(out):
        os.chdir(folder)
        try:
            runpy.run_path(str(snippet), run_name="__main__")
        finally:
            os.chdir(before)
    return out.getvalue()


if __name__ == "__main__":
    for one in [Path(name).resolve() for name in sys.argv[1:]] or snippets():
        one.with_suffix(".txt").write_text(printed(one), encoding="utf8")
        print(one.name)
