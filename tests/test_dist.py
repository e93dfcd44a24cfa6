"""The wheel and the sdist: what is in them, that they work without extras, and what they say where one is missing.

The wheel is installed into a virtual environment of its own. What it depends on is taken from the environment that runs
the tests, package by package, so that an extra is there only where a test asks for it, and nothing is downloaded.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PYTHON = Path("Scripts" if os.name == "nt" else "bin") / "python"

FIT = """
import numpy as np, listwright as lw
x = np.random.default_rng(0).random((40, 6, 2))
problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.8))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both, the wheel made from the sdist."""
    for tool in ("build", "hatchling"):
        pytest.importorskip(tool)
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "-q", "--no-isolation", "-o", str(folder), str(ROOT)], check=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


def needed(name: str, extras: tuple[str, ...], found: dict[str, Distribution]) -> None:
    """Adds what a package needs to `found`, and what that needs."""
    wanted = {"extra": ""}, *({"extra": extra} for extra in extras)
    for line in distribution(name).requires or []:
        requirement = Requirement(line)
        marked = requirement.marker is None or any(requirement.marker.evaluate(one) for one in wanted)
        key = canonicalize_name(requirement.name)
        if marked and key not in found:
            try:
                found[key] = distribution(requirement.name)
            except PackageNotFoundError:
                continue  # where an extra is not installed, its test says so
            needed(requirement.name, tuple(requirement.extras), found)


@pytest.fixture(scope="module")
def run(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`run(code)` in a fresh environment with the wheel; with `extras`, these packages are there too."""
    home = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home / "venv")], check=True)
    python = home / "venv" / PYTHON
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*pip, str(wheel)], check=True)

    def packages(extras: tuple[str, ...]) -> Path:
        folder = home / "-".join(["with", *extras])
        if not folder.exists():
            folder.mkdir()
            found: dict[str, Distribution] = {}
            needed("listwright", extras, found)
            for one in found.values():
                for top in {file.parts[0] for file in one.files or []} - {"..", "__pycache__"}:
                    (folder / top).symlink_to(Path(str(one.locate_file(top))))
        return folder

    def call(*words: str, extras: tuple[str, ...] = (), **settings: str) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment = clean | {"PYTHONPATH": str(packages(extras))} | settings
        command = (
            [str(python), "-c", *words] if "\n" in words[0] or " " in words[0] else [str(python.parent / words[0])]
        )
        command += list(words[1:]) if len(command) == 1 else []
        return subprocess.run(command, capture_output=True, text=True, cwd=home, env=environment)

    return call


def test_the_wheel_holds_the_package_and_its_data(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert all(name.startswith(("listwright/", "listwright-")) for name in names)
    inside = {name.removeprefix("listwright/") for name in names}
    tracked = {path.relative_to(ROOT / "src/listwright").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert tracked <= inside
    assert {"py.typed", "summaries/reports.listwright", "simulate/data/trajectory.npz"} <= inside
    assert not [name for name in names if name.endswith((".nbi", ".nbc", ".pyc"))]


def test_the_sdist_holds_what_makes_it(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"pyproject.toml", "README.md", "LICENSE", "Makefile", "constraints.txt", "mkdocs.yml"}
    assert wanted <= names
    assert {"tests/test_dist.py", "docs/index.md", "docs/snippets/readers.py", "examples/summaries.py"} <= names
    assert not [
        name
        for name in names
        if "__pycache__" in name or name.startswith((".venv", "build", "benchmarks/quality/cache"))
    ]


def test_fit_and_predict_work_without_extras(run) -> None:
    ended = run(FIT + "model = lw.SCP(2, random_state=0).fit(problems[:30])\nprint(model.predict(problems[30:]))")
    assert ended.stderr == ""
    assert ended.stdout == "Lists: 10 lists of 2 items\n"


def test_extras_are_absent(run) -> None:
    code = """
from importlib.util import find_spec
absent = "altair fastapi lightgbm nltk pandas psycopg ray rich sqlalchemy typer uvicorn vl_convert"
print([name for name in absent.split() if find_spec(name)])
"""
    assert run(code).stdout == "[]\n"


HINTS = {
    "plots": "lw.compare({'a': lw.baselines.Random(2)}, problems, folds=2, lengths=[2]).picture()",
    "text": "lw.text.tokens('running dogs', stem=True)",
}


@pytest.mark.parametrize("extra", ["plots", "text"])
def test_a_missing_extra_is_named(run, extra: str) -> None:
    ended = run(FIT + HINTS[extra], NUMBA_DISABLE_JIT="1")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].endswith(f'Run: pip install "listwright[{extra}]"')


def test_ray_is_named(run) -> None:
    code = """
import pyarrow as pa, pyarrow.parquet as parquet, listwright as lw
from listwright.simulate import readers
from listwright.tables import scan
parquet.write_table(pa.table(readers.table(20, random_state=0)), "past.parquet")
lw.SCP(2, engine="ray").fit(scan("past.parquet", reward="any:clicked"))
"""
    ended = run(code, NUMBA_DISABLE_JIT="1")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].endswith('Run: pip install "listwright[ray]"')


def test_boost_is_named(run, tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    import numpy as np

    import listwright as lw

    x = np.random.default_rng(0).random((40, 6, 2))
    problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.8))
    learner = lightgbm.LGBMRegressor(n_estimators=3, verbose=-1)
    lw.SCP(2, learner=learner, n_passes=1, random_state=0).fit(problems).save(tmp_path / "boosted.listwright")
    ended = run(f"import listwright as lw\nlw.load({str(tmp_path / 'boosted.listwright')!r})", NUMBA_DISABLE_JIT="1")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].endswith('Run: pip install "listwright[boost]"')


def test_the_command_line_is_named(run) -> None:
    ended = run("listwright", "demo")
    assert ended.returncode == 1
    assert ended.stderr.endswith('Run: pip install "listwright[cli]"\n')


def test_serving_is_named(run) -> None:
    pytest.importorskip("typer")
    ended = run("listwright", "serve", "model.listwright", extras=("cli",))
    assert ended.returncode == 1
    assert ended.stderr.endswith('Run: pip install "listwright[serve]"\n')


def test_postgres_is_named(run) -> None:
    for name in ("typer", "fastapi", "uvicorn", "sqlalchemy"):
        pytest.importorskip(name)
    words = ["serve", "model.listwright", "--store", "postgresql://nobody@127.0.0.1:1/none"]
    ended = run("listwright", *words, extras=("cli", "serve"), NUMBA_DISABLE_JIT="1")
    assert ended.returncode == 1
    assert 'Run: pip install "listwright[postgres]"' in ended.stderr
