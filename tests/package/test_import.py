"""`import listwright` is quick: it pulls in no optional package, and nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import listwright as lw
from listwright.tables import read

HEAVY = {"altair", "lightgbm", "nltk", "numba", "pandas", "polars", "pyarrow", "rich", "scipy", "sklearn", "typer"}
OPTIONAL = {"altair", "starlette", "lightgbm", "nltk", "pandas", "polars", "ray", "rich", "sqlalchemy", "typer"}


def imported_by(code: str, *, whole: bool = False) -> set[str]:
    """Modules that a fresh interpreter holds after running `code`: those at the top level, or all by their names."""
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    names = run.stdout.split("\n")[-2].split()
    return set(names) if whole else {name.partition(".")[0] for name in names}


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


def test_predicting_from_a_file_needs_no_heavy_package(tmp_path: Path) -> None:
    # so few that the policy is linear: scikit-learn's trees need scikit-learn
    rows = [f"{q},{i},{0.1 * (q * i % 7)},{int(q * i % 3 == 1)}" for q in range(4) for i in range(4)]
    (tmp_path / "past.csv").write_text("\n".join(["problem,item,price,clicked", *rows]))
    command = "from listwright.cli import main\ntry: main([{}])\nexcept SystemExit as end: assert not end.code"
    for effort in ("fast", "auto"):
        model = str(tmp_path / f"{effort}.listwright")
        lw.SCP(2, effort=effort, random_state=0).fit(read(tmp_path / "past.csv", reward="any:clicked")).save(model)
        predict = ["predict", model, str(tmp_path / "past.csv"), "-o", str(tmp_path / "lists.csv")]
        modules = imported_by(command.format(", ".join(map(repr, predict))), whole=True)
        assert "pyarrow" in modules
        assert not modules & {"sklearn", "pandas", "polars", "scipy.stats", "scipy.optimize", "skops", "altair"}


@pytest.mark.parametrize("missing", ["starlette", "uvicorn", "sqlalchemy"])
def test_serving_says_what_to_install(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from listwright.serve import serve"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stderr.rstrip().endswith(f'Serving needs {missing}. Run: pip install "listwright[serve]"')


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        lw.nonsense  # noqa: B018


def test_every_public_name_is_there() -> None:
    assert dir(lw) == sorted(lw.__all__)
    assert all(getattr(lw, name) is not None for name in lw.__all__)
