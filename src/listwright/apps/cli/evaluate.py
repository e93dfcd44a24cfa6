"""`listwright evaluate`: what a model's lists are worth on a table with outcomes."""

from __future__ import annotations

from typing import Any

from listwright.apps.cli import options as given
from listwright.apps.cli.show import progress, show_json
from listwright.apps.cli.sources import load_model, read_for
from listwright.errors import InputError


def evaluate(
    model: given.Model,
    data: given.Data,
    reward: given.ModelReward = None,
    references: given.References = None,
    length: given.Length = None,
    budget: given.Budget = None,
    short_lists: given.ShortLists = False,
    new_levels: given.NewLevels = "error",
    format: given.Format = None,
    max_memory: given.MaxMemory = None,
    engine: given.Engine = "local",
    address: given.Address = None,
    as_json: given.AsJson = False,
) -> None:
    """Measure a model's lists: value, failure, value by position, alpha-nDCG, ERR-IA, subtopic recall and intra-list
    distance, where they apply; means over problems with 95 % intervals."""
    from listwright.evaluation import evaluate as evaluated

    learned = load_model(model, data)
    learned.engine = given.engine_of(engine, address)
    with progress("reading"):
        problems = read_for(
            learned,
            data,
            budget=budget,
            format=format,
            new_levels=new_levels,
            reward=reward or known_reward(learned),
            references=references,
            max_memory=given.memory_of(max_memory, engine),
        )
    lists = learned.predict(problems, length=length, budget=budget, short_lists=short_lists or None)
    found = evaluated(lists, problems)
    if as_json:
        show_json(found.to_dict())
    else:
        print(found)


def known_reward(model: Any) -> str:
    """What the model was trained for. A file of code is never run because a model names it."""
    spec = getattr(model, "reward_spec_", None)
    if not isinstance(spec, str):
        raise InputError("This model does not know its reward. Pass --reward.")
    from listwright.tables import parse_reward

    if parse_reward(spec).kind == "python":
        raise InputError(f"This model was trained for {spec!r}, which is code. Pass --reward to run it.")
    return spec
