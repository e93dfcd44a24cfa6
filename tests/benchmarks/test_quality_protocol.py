"""Settings are chosen on some data and reported on others, and every look at the latter is written down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.usefixtures("benchmarks")


@pytest.fixture
def protocol() -> Any:
    from benchmarks.quality import protocol

    return protocol


@pytest.mark.parametrize("name", ["aslib", "motion_paths", "argkp", "trec_web"])
def test_choosing_cannot_read_what_is_reported(protocol: Any, name: str) -> None:
    with pytest.raises(protocol.NotAllowed, match=f"`choose` must not read {name}"):
        protocol.folder(name, "choose")


def test_reporting_cannot_read_the_scenarios_to_choose_on(protocol: Any) -> None:
    with pytest.raises(protocol.NotAllowed, match="`report` must not read aslib_dev"):
        protocol.folder("aslib_dev", "report")


def test_looks_are_counted(protocol: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "LOOKS", tmp_path / "looks.json")
    assert protocol.note_look("frozen", ["solvers"]) == 1
    assert protocol.note_look("frozen", ["questions"]) == 1  # goes on with the same one
    assert protocol.looks()[0]["families"] == ["questions", "solvers"]
    assert protocol.note_look("mended a bug", ["solvers"]) == 2


def test_paired_differences_count_sets_alike_and_problems_once() -> None:
    from benchmarks.quality.summary import behind, by_length, one_figure

    rng = np.random.default_rng(0)
    rows = []
    for name, n, gap in (("small", 10, 0.1), ("large", 100, 0.3)):
        for problem in range(n):
            base = rng.random()
            for seed in range(3):
                labels = {"set": name, "train": "1.0", "at": "5", "seed": seed, "problem": str(problem)}
                rows += [labels | {"method": "ours", "value": base}, labels | {"method": "theirs", "value": base - gap}]
    figure = one_figure(pd.DataFrame(rows), "ours").loc["theirs"]
    assert figure["ahead"] == pytest.approx(0.2)
    assert figure["low"] == pytest.approx(0.2)  # the gap is the same in every problem: no doubt, however few seeds
    lengths = by_length(pd.DataFrame(rows), "theirs")
    assert behind(lengths, surely=True)["method"].tolist() == ["ours"]
