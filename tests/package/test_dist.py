"""The wheel and the sdist: what is in them, that they work without extras, and what they say where one is missing.

The wheel is installed into a virtual environment of its own. What it depends on is taken from the environment that runs
the tests, package by package, so that an extra is there only where a test asks for it, and nothing is downloaded.
"""

from __future__ import annotations

import email
import os
import re
import runpy
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, PathDistribution, distribution
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import listwright as lw
from tests.booster_tools import booster

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
PYTHON = Path("Scripts" if os.name == "nt" else "bin") / "python"

FIT = """
import numpy as np, listwright as lw
rng = np.random.default_rng(0)
x = rng.random((40, 6, 2))
problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] + rng.random((40, 6)) > 1.4))
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


def needed(requires: list[str] | None, extras: tuple[str, ...], found: dict[str, Distribution]) -> None:
    """Adds to `found` what a package requires, and what that requires."""
    wanted = [{"extra": extra} for extra in ("", *extras)]
    for requirement in map(Requirement, requires or []):
        key = canonicalize_name(requirement.name)
        marked = requirement.marker is None or any(requirement.marker.evaluate(one) for one in wanted)
        if marked and key not in found:
            try:
                found[key] = distribution(requirement.name)
            except PackageNotFoundError:
                continue  # where an extra is not installed here, its test says so
            needed(found[key].requires, tuple(requirement.extras), found)


class Clean:
    """A virtual environment with the wheel, and with what it requires; `extras` bring more."""

    def __init__(self, wheel: Path, home: Path) -> None:
        self.home, self.python = home, home / "venv" / PYTHON
        (info,) = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" in name}
        self.requires = PathDistribution(zipfile.Path(wheel, f"{info}/")).requires
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home / "venv")], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "-q", "--no-deps", "--no-index"]
        subprocess.run([*pip, str(wheel)], check=True)

    def run(self, code: str, *, compiled: bool = False) -> subprocess.CompletedProcess[str]:
        """A program; kernels run as plain Python unless `compiled`."""
        return self._call([str(self.python), "-c", code], (), compiled)

    def command(self, *words: str, extras: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        """`listwright ...`."""
        return self._call([str(self.python.with_name("listwright")), *words], extras, False)

    def _call(self, words: list[str], extras: tuple[str, ...], compiled: bool) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA"))}
        settings = {"PYTHONPATH": str(self._packages(extras)), "NUMBA_DISABLE_JIT": "0" if compiled else "1"}
        return subprocess.run(words, capture_output=True, text=True, cwd=self.home, env=kept | settings)

    def _packages(self, extras: tuple[str, ...]) -> Path:
        folder = self.home / "-".join(["packages", *extras])
        if not folder.exists():
            folder.mkdir()
            found: dict[str, Distribution] = {}
            needed(self.requires, extras, found)
            for one in found.values():
                for top in {file.parts[0] for file in one.files or []} - {"..", "__pycache__"}:
                    (folder / top).symlink_to(Path(str(one.locate_file(top))))
        return folder


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Clean:
    return Clean(wheel, tmp_path_factory.mktemp("clean"))


def test_the_wheel_holds_the_package_and_its_data(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert all(name.startswith(("listwright/", "listwright-")) for name in names)
    inside = {name.removeprefix("listwright/") for name in names}
    tracked = {path.relative_to(ROOT / "src/listwright").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert tracked <= inside
    assert {"py.typed", "text/reports.listwright", "simulate/data/trajectory.npz"} <= inside
    assert not [name for name in names if name.endswith((".nbi", ".nbc", ".pyc"))]


def test_the_sdist_holds_what_makes_it(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"pyproject.toml", "README.md", "LICENSE", "Makefile", "constraints.txt", "hatch_build.py", "mkdocs.yml"}
    assert wanted <= names
    assert {"tests/package/test_dist.py", "docs/index.md", "docs/snippets/doors.py", "examples/summaries.py"} <= names
    assert not [
        name
        for name in names
        if "__pycache__" in name or name.startswith((".venv", "build", "benchmarks/quality/cache"))
    ]


def test_the_readme_of_the_wheel_needs_no_other_file(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = email.message_from_bytes(archive.read(name))
    text = metadata.get_payload(decode=True).decode("utf8")
    assert metadata["Description-Content-Type"] == "text/markdown"
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    home = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["tool"]["listwright"]["home"]
    assert bool(metadata.get_all("Project-URL")) == bool(home)
    assert text.count("\n## ") == (ROOT / "README.md").read_text(encoding="utf8").count("\n## ")


def test_links_of_the_readme_lead_to_the_home() -> None:
    pytest.importorskip("hatchling")
    with_home = runpy.run_path(str(ROOT / "hatch_build.py"))["with_home"]
    text = "![A picture](docs/images/a.png) See [here](docs/a.md), [there](https://example.org) and [below](#below)."
    home = "https://github.com/someone/listwright"
    raw = "https://raw.githubusercontent.com/someone/listwright/main/docs/images/a.png"
    told = (
        f"![A picture]({raw}) See [here]({home}/blob/main/docs/a.md), [there](https://example.org) and [below](#below)."
    )
    assert with_home(text, home) == told
    assert with_home(text, "") == " See here, [there](https://example.org) and [below](#below)."


def test_fit_and_predict_work_without_extras(clean: Clean) -> None:
    code = (
        FIT + "model = lw.SCP(2, effort='fast', random_state=0).fit(problems[:30])\nprint(model.predict(problems[30:]))"
    )
    ended = clean.run(code, compiled=True)
    assert not [line for line in ended.stderr.splitlines() if not line.startswith("Compiling once")]
    assert ended.stdout == "Lists: 10 lists of 2 items\n"


def test_extras_are_absent(clean: Clean) -> None:
    code = """
from importlib.util import find_spec
absent = "altair lightgbm nltk pandas psycopg ray rich sqlalchemy starlette typer uvicorn vl_convert"
print([name for name in absent.split() if find_spec(name)])
"""
    assert clean.run(code).stdout == "[]\n"


SCAN = """
import pyarrow as pa, pyarrow.parquet as parquet
from listwright.simulate import readers
from listwright.tables import scan
parquet.write_table(pa.table(readers.table(20, random_state=0)), "past.parquet")
lw.SCP(2, engine="ray", effort="fast").fit(scan("past.parquet", reward="any:clicked"))
"""
USES = {
    "plots": "lw.compare({'a': lw.baselines.Random(2)}, problems, folds=2, lengths=[2]).plot()",
    "text": "lw.text.tokens('running dogs', stem=True)",
    "ray": SCAN,
}


@pytest.mark.parametrize("extra", USES)
def test_a_missing_extra_is_named(clean: Clean, extra: str) -> None:
    ended = clean.run(FIT + USES[extra])
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].endswith(f'Run: pip install "listwright[{extra}]"')


def test_a_model_that_needs_boosting_names_it(clean: Clean, tmp_path: Path) -> None:
    x = np.random.default_rng(0).random((40, 6, 2))
    problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.8))
    learner, file = booster("LGBMRegressor", n_estimators=3), tmp_path / "boosted.listwright"
    lw.SCP(2, learner=learner, n_passes=1, random_state=0).fit(problems).save(file)
    ended = clean.run(f"import listwright as lw\nlw.load({str(file)!r})")
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].endswith('Run: pip install "listwright[boost]"')


COMMANDS = {
    "cli": (["demo"], ()),
    "serve": (["serve", "model.listwright"], ("cli",)),
    "postgres": (["serve", "model.listwright", "--store", "postgresql://nobody@127.0.0.1:1/none"], ("cli", "serve")),
}


@pytest.mark.parametrize("extra", COMMANDS)
def test_a_command_names_its_missing_extra(clean: Clean, extra: str) -> None:
    words, extras = COMMANDS[extra]
    if extras:
        pytest.importorskip("typer")
    if "serve" in extras:
        pytest.importorskip("starlette")
    made = clean.run(FIT + "lw.SCP(2, effort='fast', random_state=0).fit(problems).save('model.listwright')")
    assert made.returncode == 0, made.stderr
    ended = clean.command(*words, extras=extras)
    assert ended.returncode == 1
    assert f'Run: pip install "listwright[{extra}]"' in ended.stderr
