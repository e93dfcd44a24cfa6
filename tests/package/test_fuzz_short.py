"""The short form of benchmarks/fuzz/tables_and_models.py: some hundred damaged files of each kind."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.system

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzz" / "tables_and_models.py"


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    if not SCRIPT.is_file():
        pytest.skip("needs benchmarks/fuzz, which is not part of the source package")
    spec = importlib.util.spec_from_file_location("fuzz_tables_and_models", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("kind", "count"), [("tables", 600), ("models", 120)])
def test_damaged_files_are_read_or_refused_and_nothing_else(fuzz: ModuleType, kind: str, count: int) -> None:
    tally = fuzz.run(kind, 1_000_000, count)
    assert tally.failures == []
    assert tally.read + sum(tally.refused.values()) == count
    assert tally.read > 0
    assert len(tally.refused) > 10
