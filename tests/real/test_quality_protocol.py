"""The data to choose settings on and the data to report on are apart."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("benchmarks")


def test_jobs_of_both_commands_are_apart(shared_data: Path) -> None:
    if not (shared_data / "aslib_dev").is_dir():
        pytest.skip("needs the data set aslib_dev")
    from benchmarks.quality.__main__ import FAMILIES

    keys = {
        stage: {job.key.split("/", 1)[1] for family in FAMILIES for job in family.jobs(stage, 1)}
        for stage in ("choose", "report")
    }
    solvers = {stage: {key for key in found if key.startswith("solvers")} for stage, found in keys.items()}
    assert all(solvers.values())
    assert not solvers["choose"] & solvers["report"]
    assert not any(key.startswith(("motion", "key points", "search")) for key in keys["choose"])


def test_choosing_on_the_robot_arm_sees_training_environments_only(shared_data: Path) -> None:
    if not (shared_data / "scp_trajectory").is_dir():
        pytest.skip("needs the data set scp_trajectory")
    from benchmarks.quality.trajectory import split

    train, test = split(shared_data / "scp_trajectory", "choose", 3)
    names = [*train.problem_ids, *test.problem_ids]
    assert len(set(names)) == 310
    assert all(name.startswith("train-") for name in names)
