"""The code on the pages is the code that runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["README.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def python_blocks(page: Path) -> list[str]:
    """The page's Python blocks, each moved down by blank lines so that a traceback names the page's own line."""
    text = page.read_text(encoding="utf8")
    return ["\n" * text.count("\n", 0, match.start(1)) + match[1] for match in BLOCK.finditer(text)]


@pytest.mark.parametrize("name", PAGES)
def test_python_blocks_run_in_order(name: str) -> None:
    blocks = python_blocks(ROOT / name)
    assert blocks, f"{name} has no Python block"
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, name, "exec"), namespace)
