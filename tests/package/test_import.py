"""`import listwright` is quick: it pulls in no optional package, and nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"altair", "lightgbm", "nltk", "numba", "pandas", "polars", "pyarrow", "rich", "scipy", "sklearn", "typer"}
OPTIONAL = {"altair", "fastapi", "lightgbm", "nltk", "pandas", "polars", "ray", "rich", "sqlalchemy", "typer"}


def imported_by(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after running `code`."""
    script = f"{code}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_import_is_light() -> None:
    modules = imported_by("import listwright")
    assert "listwright" in modules
    assert not modules & HEAVY


def test_greedy_needs_no_optional_package() -> None:
    modules = imported_by(
        "import numpy as np, listwright as lw\n"
        "reward = lw.rewards.Rouge([['a'], ['b']], [['a']])\n"
        "lw.greedy(lw.Problems.from_arrays(np.zeros((1, 2, 1)), reward=reward), length=1)"
    )
    assert "scipy" in modules
    assert not modules & (OPTIONAL | {"sklearn", "pyarrow"})


@pytest.mark.parametrize("missing", ["fastapi", "uvicorn", "sqlalchemy"])
def test_serving_says_what_to_install(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; import listwright.apps.serve"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stderr.rstrip().endswith(f'Serving needs {missing}. Run: pip install "listwright[serve]"')


def test_unknown_names_are_attribute_errors() -> None:
    import listwright

    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        listwright.nonsense  # noqa: B018


def test_every_public_name_is_there() -> None:
    import listwright

    assert dir(listwright) == sorted(listwright.__all__)
    assert all(getattr(listwright, name) is not None for name in listwright.__all__)
