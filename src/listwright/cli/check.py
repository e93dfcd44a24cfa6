"""`listwright check`: a doctor for tables and rewards."""

from __future__ import annotations

from typing import Annotated

import typer

from listwright.cli import options as given
from listwright.cli.show import progress, show_json
from listwright.cli.sources import read_problems


def check(
    data: given.Data,
    reward: given.Reward,
    problem: given.ProblemColumn = "problem",
    item: given.Item = "item",
    size: given.Size = "size",
    features: given.Features = None,
    context: given.Context = None,
    vectors: given.Vectors = None,
    catalogue: given.Catalogue = None,
    categorical: given.Categorical = None,
    ignore: given.Ignore = None,
    references: given.References = None,
    trials: Annotated[int, typer.Option(min=1, help="Random lists that the laws are tried on.")] = 30,
    seed: given.Seed = 0,
    format: given.Format = None,
    as_json: given.AsJson = False,
) -> None:
    """Look for what spoils learning: a reward that is not submodular, duplicates, features that say nothing or give the
    answer away, problems that no list can solve. Exit code 1 where the reward breaks a law."""
    from listwright.doctor import examine

    named = given.columns(problem, item, size, features, context, vectors, catalogue, categorical, ignore)
    with progress("reading"):
        problems, _ = read_problems(data, format=format, reward=reward, references=references, **named)
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
