"""ASlib scenarios, as published and as Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import listwright as lw
from listwright.datasets import Scenario, read_aslib
from listwright.datasets.aslib import read_arff
from listwright.errors import InputError
from listwright.text.readers import ReadingNote

DESCRIPTION = """scenario_id: TINY
performance_measures:
    - runtime
performance_type:
    - runtime
algorithm_cutoff_time: 100
algorithms_deterministic:
    - fast
"""
RUNS = """@RELATION ALGORITHM_RUNS_TINY

@ATTRIBUTE instance_id STRING
@ATTRIBUTE repetition NUMERIC
@ATTRIBUTE algorithm STRING
@ATTRIBUTE runtime NUMERIC
@ATTRIBUTE runstatus {ok , timeout , memout , not_applicable , crash , other}

@DATA
% a comment
b/two.cnf,1,slow,7.5,ok
b/two.cnf, 1, fast, 100, timeout
'a, one.cnf',1,slow,3,crash
'a, one.cnf',1,fast,99.5,ok
hard.cnf,1,slow,100,timeout
hard.cnf,1,fast,100.5,ok
luck.cnf,1,slow,5,ok
luck.cnf,2,slow,100,timeout
luck.cnf,1,fast,?,other
"""
FEATURES = """@relation FEATURE_VALUES_TINY
@attribute INSTANCE_ID string
@attribute repetition numeric
@attribute 'number of vars' numeric
@attribute probing NUMERIC
@attribute probing2 NUMERIC
@attribute kind {sat, unsat}
@data
'a, one.cnf',1,0,?,?,sat
'b/two.cnf',1,-3,1,0,unsat
hard.cnf,1,9,9,9,sat
luck.cnf,1,2,4,5,sat
luck.cnf,2,4,?,?,sat
"""
FOLDS = """@relation cv
@attribute instance_id string
@attribute repetition numeric
@attribute fold numeric
@data
'a, one.cnf',1,1
b/two.cnf,1,2
hard.cnf,1,2
luck.cnf,1,2
luck.cnf,2,1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {"algorithm_runs": RUNS, "feature_values": FEATURES, "cv": FOLDS}
    for name, text in files.items():
        (tmp_path / f"{name}.arff").write_text(text)
    (tmp_path / "description.txt").write_text(DESCRIPTION)
    return tmp_path


def success_of(problems: lw.Problems) -> list[list[float]]:
    return problems.reward.tables["success"].values.reshape(len(problems), -1).tolist()


def test_a_published_scenario(folder: Path) -> None:
    scenario = read_aslib(folder)
    problems = scenario.problems
    assert scenario.name == "TINY"
    assert problems.problem_ids.tolist() == ["a, one.cnf", "b/two.cnf", "luck.cnf"]
    assert problems.item_ids is not None
    assert problems.item_ids.tolist() == ["fast", "slow"] * 3
    assert problems.catalogue is not None
    assert problems.catalogue.tolist() == [0, 1] * 3
    assert problems.n_features == 0
    assert success_of(problems) == [[1, 0], [0, 1], [0, 0.5]]
    assert scenario.folds.tolist() == [1, 2, 2]
    assert scenario.n_folds == 2


def test_context_is_logarithms_with_a_flag_for_what_is_missing(folder: Path) -> None:
    scenario = read_aslib(folder)
    names = ("number of vars", "probing", "probing2", "kind is sat", "kind is unsat", "probing missing")
    assert scenario.context_names == names
    log = np.log1p
    expected = [
        [0, 0, 0, log(1), 0, 1],
        [-log(3), log(1), 0, 0, log(1), 0],
        [log(3), log(4), log(5), log(1), 0, 0],  # means over two repetitions of what is known
    ]
    assert scenario.problems.context is not None
    np.testing.assert_allclose(scenario.problems.context, expected, rtol=1e-6)


def test_context_of_a_problem_does_not_depend_on_other_instances(folder: Path) -> None:
    before = read_aslib(folder).problems[0].context
    path = folder / "feature_values.arff"
    path.write_text(path.read_text().replace("b/two.cnf',1,-3,1,0", "b/two.cnf',1,-3000,1000,88"))
    after = read_aslib(folder).problems[0].context
    assert before is not None
    assert after is not None
    assert before.tolist() == after.tolist()


def test_split_by_official_fold(folder: Path) -> None:
    train, test = read_aslib(folder).split(2)
    assert train.problem_ids.tolist() == ["a, one.cnf"]
    assert test.problem_ids.tolist() == ["b/two.cnf", "luck.cnf"]
    with pytest.raises(InputError, match=r"fold must be one of 1, 2. Got 3"):
        read_aslib(folder).split(3)


@pytest.mark.parametrize("name", ["feature_values.arff", "cv.arff", "description.txt"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(InputError, match=name):
        read_aslib(folder)


def test_bad_scenarios_are_named(folder: Path, tmp_path: Path) -> None:
    runs = folder / "algorithm_runs.arff"
    runs.write_text(RUNS.replace("@ATTRIBUTE runstatus", "@ATTRIBUTE state"))
    with pytest.raises(InputError, match=r"algorithm_runs.arff lacks runstatus"):
        read_aslib(folder)
    runs.write_text(RUNS.replace("7.5,ok", "ok"))
    with pytest.raises(InputError, match=r"has 5 attributes, but a row of 4"):
        read_aslib(folder)
    runs.write_text(RUNS.replace("7.5,ok", "soon,ok"))
    with pytest.raises(InputError, match=r"Column runtime of .* must hold numbers"):
        read_aslib(folder)
    runs.write_text(RUNS)
    (folder / "cv.arff").write_text(FOLDS.replace("b/two.cnf,1,2\n", ""))
    with pytest.raises(InputError, match=r"Instance b/two.cnf of .* has no fold"):
        read_aslib(folder)
    (folder / "description.txt").write_text("performance_type: solution_quality\n")
    with pytest.raises(InputError, match="Got solution_quality"):
        read_aslib(folder)
    with pytest.raises(InputError, match=r"needs algorithm_runs.arff or runs.parquet"):
        read_aslib(tmp_path.parent)
    with pytest.raises(InputError, match="is a folder"):
        read_aslib(tmp_path / "nothing")


def test_marks_line_ends_and_large_cutoffs(folder: Path, tmp_path: Path) -> None:
    """As GRAPHS-2015 is published: times in milliseconds, a cutoff of 1.0e+08, no time where a run timed out."""
    plain = read_aslib(folder)
    other = tmp_path / "other"
    other.mkdir()
    runs = (
        RUNS.replace(",100,timeout", ",?,timeout")
        .replace(", 100, timeout", ", ?, timeout")
        .replace("100.5,ok", "?,crash")
    )
    files = {"algorithm_runs": runs, "feature_values": FEATURES, "cv": FOLDS}
    for name, text in files.items():
        (other / f"{name}.arff").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n\r\n").encode())
    (other / "description.txt").write_text(
        "scenario_id: TINY\r\nperformance_measures: runtime\r\nperformance_type: runtime\r\nmaximize: no\r\n"
        "algorithm_cutoff_time: 1.0e+08\r\nalgorithm_cutoff_memory: '?'\r\n"
    )
    assert same(read_aslib(other), plain)
    (other / "description.txt").write_text("algorithm_cutoff_time: soon\n")
    with pytest.raises(InputError, match=r"algorithm_cutoff_time of .* must be a number or \?\. Got 'soon'"):
        read_aslib(other)


def test_labels_of_a_wrong_cutoff_are_told(tmp_path: Path) -> None:
    runs = {"instance_id": ["a", "a", "b", "b"], "algorithm": ["s", "t"] * 2, "runtime": [0.5, 70.0, 0.9, 80.0]}
    runs |= {"status": ["ok", "ok", "ok", "timeout"], "solved": [True, False, True, False]}
    pq.write_table(pa.table(runs), tmp_path / "runs.parquet")
    pq.write_table(pa.table({"instance_id": ["a", "b"], "fold": [1, 2]}), tmp_path / "instances.parquet")
    with pytest.warns(ReadingNote, match=r"runs\.parquet: 1 of 3 runs with the status ok are marked as unsolved"):
        scenario = read_aslib(tmp_path)
    assert success_of(scenario.problems) == [[1, 0], [1, 0]]


def test_parquet_lacks_a_column(tmp_path: Path) -> None:
    pq.write_table(pa.table({"instance_id": ["a"], "algorithm": ["s"]}), tmp_path / "runs.parquet")
    with pytest.raises(InputError, match=r"runs.parquet lacks solved. It has instance_id, algorithm"):
        read_aslib(tmp_path)


def test_arff_quotes(tmp_path: Path) -> None:
    path = tmp_path / "x.arff"
    path.write_text(
        "@attribute \"a b\" string\n@ATTRIBUTE n {x, \"y, z\"}\n@DATA\n\"it's, here\", x\n'q\\'s', 'y, z'\n"
    )
    arff = read_arff(path)
    assert arff.texts("a b").tolist() == ["it's, here", "q's"]
    assert arff.levels("n") == ["x", "y, z"]
    assert arff.texts("n").tolist() == ["x", "y, z"]


def same(mine: Scenario, other: Scenario) -> bool:
    assert mine.problems.context is not None
    assert other.problems.context is not None
    np.testing.assert_allclose(mine.problems.context, other.problems.context, rtol=1e-5)
    return (
        mine.problems.problem_ids.tolist() == other.problems.problem_ids.tolist()
        and success_of(mine.problems) == success_of(other.problems)
        and mine.folds.tolist() == other.folds.tolist()
        and mine.context_names == other.context_names
    )
