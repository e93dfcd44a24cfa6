"""Fixtures that every test may use."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets beside the project; the test is skipped where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("needs the data sets in ../shared/data, which is absent")
    return folder


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


@pytest.fixture(scope="module")
def benchmarks() -> Iterator[None]:
    """Makes `benchmarks`, which is no part of the package, importable."""
    if not (ROOT / "benchmarks" / "quality").is_dir():
        pytest.skip("needs benchmarks/quality, which is not part of the source package")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield
