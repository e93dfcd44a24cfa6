"""`listwright check`: look for mistakes in a table and its reward before learning.

Wraps `listwright.checks.problems.examine`: it tries on random lists whether the reward is monotone and submodular, as
the guarantees of the paper require, and looks for duplicates, constant features and features that give the outcome
away. A scan is sampled, as the checks need problems in memory. The exit code is 1 if a check fails with an error, so
that the command can guard a pipeline::

    listwright check past.csv --reward any:clicked && listwright fit past.csv ...
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from listwright.cli import options as given
from listwright.cli.show import progress, show_json
from listwright.cli.training_tables import Read, on_tables


@on_tables
def check(
    read: Read,
    trials: Annotated[
        int, typer.Option(min=1, help="Number of random lists on which the reward's laws are tested.")
    ] = 30,
    seed: given.Seed = 0,
    as_json: given.AsJson = False,
) -> None:
    """Look for mistakes in a training table: a reward that is not submodular, duplicates, features that are constant or
    give the answer away, and problems that no list can solve. The exit code is 1 if the reward breaks a law."""
    from listwright.checks.problems import examine

    found: Any = read()[0]
    problems = found.sample() if hasattr(found, "shards") else found
    with progress("checking"):
        findings = examine(problems, n_trials=trials, random_state=seed)
    if as_json:
        show_json([one.to_dict() for one in findings])
    else:
        print(problems)
        for one in findings:
            print(one)
    if any(one.level == "error" for one in findings):
        raise typer.Exit(1)
