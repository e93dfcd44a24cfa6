"""Fixtures that every test may use."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# No test depends on how fast the machine is. CI draws the same examples every time: it judges a change by the change.
settings.register_profile("any machine", deadline=None, derandomize="LISTWRIGHT_CI" in os.environ)
settings.load_profile("any machine")
ROOT = Path(__file__).parents[1]
BESIDE = ROOT.parent / "shared" / "data"
if BESIDE.is_dir():  # data sets beside the checkout are used without a word
    os.environ.setdefault("LISTWRIGHT_DATA", str(BESIDE))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder that LISTWRIGHT_DATA names; the test is skipped without it."""
    folder = os.environ.get("LISTWRIGHT_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs a folder of published data sets, named by LISTWRIGHT_DATA")
    return Path(folder)


@pytest.fixture(scope="session")
def needs() -> Callable[[str], str]:
    """`needs("psql")` gives the path of a system tool. Without it, the test skips; under LISTWRIGHT_CI it fails."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            missing = pytest.fail if os.environ.get("LISTWRIGHT_CI") else pytest.skip
            missing(f"needs the system tool {name!r}, which is not installed")
        return path

    return find


@pytest.fixture(scope="session")
def benchmarks() -> None:
    """Skips tests of `benchmarks` where they are missing: they are not part of the source package."""
    if not (ROOT / "benchmarks").is_dir():
        pytest.skip("needs benchmarks, which are not part of the source package")
