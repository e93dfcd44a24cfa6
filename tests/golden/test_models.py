"""Model files written by Python 3.11 and numpy 2.4 load everywhere and give the same lists."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import listwright as lw
from listwright._internal.saved import CLASSES
from tests.golden.make_models import MODELS, new_problems

HERE = Path(__file__).parent
ONLY_BEFORE_LEARNING = {"policies.Uniform"}  # no fitted model holds it

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning"),
    pytest.mark.filterwarnings("ignore::listwright.errors.Notice"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("golden")
    with zipfile.ZipFile(HERE / "models.zip") as packed:
        packed.extractall(path)
    return path


@pytest.mark.parametrize("name", MODELS)
def test_a_golden_model_gives_its_lists(name: str, folder: Path) -> None:
    expected = json.loads((HERE / "lists.json").read_text())[name]
    assert lw.load(folder / name).predict(new_problems(name)).rows.tolist() == expected


def test_every_class_that_files_may_hold_is_in_one(folder: Path) -> None:
    held = {name for path in folder.iterdir() for name in _classes(_tree(path))}
    assert {name for name in CLASSES if not name.startswith("tests")} - held == ONLY_BEFORE_LEARNING


@pytest.mark.parametrize("name", ["ridge", "tree"])
def test_a_golden_model_learns_on(name: str, folder: Path) -> None:
    assert lw.load(folder / name).partial_fit(new_problems(name)).n_rounds_ > 30


def _tree(path: Path) -> Any:
    with zipfile.ZipFile(path) as file:
        return json.loads(file.read("manifest.json"))["model"]


def _classes(node: Any) -> Iterator[str]:
    """Yield the names of all classes in a tree of nodes."""
    if isinstance(node, dict):
        if isinstance(node.get("class"), str):
            yield node["class"]
        node = list(node.values())
    for entry in node if isinstance(node, list) else ():
        yield from _classes(entry)
