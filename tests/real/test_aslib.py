"""Scenarios of the algorithm selection library, in the form here and in the form that is published."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet as pq

from listwright.datasets import read_aslib
from listwright.text.readers import ReadingNote
from tests.datasets.test_aslib import same, success_of

SCENARIOS = {
    "ASP-POTASSCO": (1212, 11),
    "GRAPHS-2015": (1806, 7),
    "IPC2018": (196, 15),
    "QBF-2014": (1013, 14),
    "SAT11-HAND": (219, 15),
    "SAT12-HAND": (538, 31),
    "SAT12-INDU": (958, 31),
    "SAT20-MAIN": (323, 67),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_real_scenarios(shared_data: Path, name: str) -> None:
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", ReadingNote)
        scenario = read_aslib(shared_data / "aslib" / name)
    # The labels of this copy of GRAPHS-2015 are cut at a runtime of 1.0; its description says 1.0e+08 (milliseconds).
    assert ["GRAPHS-2015" in str(note.message) for note in notes] == [True] * (name == "GRAPHS-2015")
    n_instances, n_solvers = SCENARIOS[name]
    assert scenario.name == name
    assert len(scenario.problems) == n_instances
    assert (scenario.problems.counts == n_solvers).all()
    assert np.unique(scenario.folds).tolist() == list(range(1, 11))
    assert max(success_of(scenario.problems)[0]) == 1
    assert scenario.problems.context is not None
    assert scenario.problems.context.shape[1] == len(scenario.context_names)


def test_both_forms_of_a_real_scenario_say_the_same(shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "aslib" / "SAT11-HAND"
    _write_published(source, tmp_path)
    published, parquet = read_aslib(tmp_path), read_aslib(source)
    assert same(published, parquet)


def _write_published(source: Path, folder: Path) -> None:
    """A Parquet scenario in the form that ASlib publishes."""
    runs = pq.read_table(source / "runs.parquet").to_pylist()
    instances = pq.read_table(source / "instances.parquet").to_pylist()
    names = list(instances[0])[2:]
    numeric = "".join(f"@ATTRIBUTE {name} NUMERIC\n" for name in names)
    head = "@ATTRIBUTE instance_id STRING\n@ATTRIBUTE repetition NUMERIC\n"
    lines = [f"{r['instance_id']},1,{r['algorithm']},{r['runtime']},{r['status']}" for r in runs]
    tail = "@ATTRIBUTE algorithm STRING\n@ATTRIBUTE runtime NUMERIC\n@ATTRIBUTE runstatus {ok, timeout}\n@DATA\n"
    (folder / "algorithm_runs.arff").write_text(head + tail + "\n".join(lines))
    cells = [[instance["instance_id"], 1, *(_cell(instance[name]) for name in names)] for instance in instances]
    rows = "\n".join(",".join(map(str, row)) for row in cells)
    (folder / "feature_values.arff").write_text(head + numeric + "@DATA\n" + rows)
    folds = "\n".join(f"{instance['instance_id']},1,{instance['fold']}" for instance in instances)
    (folder / "cv.arff").write_text(head + "@ATTRIBUTE fold NUMERIC\n@DATA\n" + folds)
    (folder / "description.txt").write_text("scenario_id: SAT11-HAND\nalgorithm_cutoff_time: 5000\n")


def _cell(value: float | None) -> str:
    return "?" if value is None or np.isnan(value) else repr(value)
