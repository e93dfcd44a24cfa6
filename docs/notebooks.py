"""Notebooks of the programs: `python docs/notebooks.py` writes examples/notebooks; a test says when that is due."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"
CELL = re.compile(r"^# %%( \[markdown\])?$", re.MULTILINE)


def programs() -> list[Path]:
    """Programs that consist of cells."""
    return [path for path in sorted(EXAMPLES.glob("*.py")) if path.read_text(encoding="utf8").startswith("# %%")]


def notebook(program: Path) -> str:
    """The cells of a program as a notebook, below its picture."""
    _, *parts = CELL.split(program.read_text(encoding="utf8"))
    cells = [_cell(body, bool(mark)) for mark, body in zip(parts[::2], parts[1::2], strict=True)]
    if (EXAMPLES.parent / "docs" / "images" / f"{program.stem}.png").is_file():
        cells.insert(1, _cell(f"# ![What the program draws](../../docs/images/{program.stem}.png)", markdown=True))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _cell(body: str, markdown: bool) -> dict[str, Any]:
    """One cell; the lines of a text cell lose their comment marks."""
    text = body.strip("\n")
    if markdown:
        text = re.sub(r"^# ?", "", text, flags=re.MULTILINE)
    source = text.splitlines(keepends=True)
    if markdown:
        return {"cell_type": "markdown", "metadata": {}, "source": source}
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}


def path_of(program: Path) -> Path:
    """Where the notebook of a program is."""
    return EXAMPLES / "notebooks" / f"{program.stem}.ipynb"


if __name__ == "__main__":
    for program in programs():
        path_of(program).parent.mkdir(exist_ok=True)
        path_of(program).write_text(notebook(program), encoding="utf8")
        print(path_of(program).name)
