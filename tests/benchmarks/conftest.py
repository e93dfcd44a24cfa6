"""Benchmarks are no part of the package: they are imported from the project's root."""

from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True, scope="module")
def benchmarks() -> Iterator[None]:
    """Makes `benchmarks` importable."""
    if not (ROOT / "benchmarks" / "quality").is_dir():
        pytest.skip("needs benchmarks/quality, which is not part of the source package")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield
