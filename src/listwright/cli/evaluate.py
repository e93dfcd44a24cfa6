"""`listwright evaluate`: measure the lists of a model on a table with outcomes, or estimate their value from a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from listwright.cli import logs
from listwright.cli import options as given
from listwright.cli.show import notes, progress, show_json
from listwright.cli.sources import load_model, read_for
from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.feedback import Log, OffPolicyEvaluation


def evaluate(
    model: given.Model,
    data: given.OptionalData = None,
    log: logs.LogFiles = None,
    reward: given.ModelReward = None,
    references: given.References = None,
    length: given.Length = None,
    budget: given.Budget = None,
    per_group: given.PerGroup = None,
    allow_short: given.ShortLists = False,
    new_levels: given.NewLevels = "error",
    format: given.Format = None,
    max_memory: given.MaxMemory = None,
    engine: given.Engine = "local",
    address: given.Address = None,
    cascade: logs.Cascade = False,
    propensity: logs.Propensity = "logged",
    value: Annotated[
        str,
        typer.Option(
            help="With --log: the value of a list, either the sum of its outcomes "
            "(sum) or whether any was clicked (any)."
        ),
    ] = "sum",
    list_column: logs.ListColumn = None,
    position_column: logs.PositionColumn = None,
    outcome_column: logs.OutcomeColumn = None,
    propensity_column: logs.PropensityColumn = None,
    drop_bad: logs.DropBad = False,
    trust: given.Trust = "",
    as_json: given.AsJson = False,
) -> None:
    """Evaluate a model's lists: value, failure, value by position, alpha-nDCG, ERR-IA, subtopic recall and intra-list
    distance, as far as they apply, as means over problems with 95 % intervals. On a log of lists that another policy
    showed (--log), estimate what the model's lists would have earned, with twelve off-policy estimators."""
    logs.one_source(data, log)
    if log:
        columns = logs.columns_of(list_column, position_column, outcome_column, propensity_column)
        learned = load_model(model, log, trust)
        read = logs.log_for(learned, log, cascade=cascade, columns=columns, new_levels=new_levels, drop_bad=drop_bad)
        _show(off_policy(learned, read, value=value, propensity=propensity), as_json)
        return
    from listwright.evaluation import evaluate as evaluate_lists

    data = data or []
    learned = load_model(model, data, trust)
    learned.engine = given.engine_of(engine, address)
    with progress("reading"):
        problems = read_for(
            learned,
            data,
            budget=budget,
            per_group=per_group,
            format=format,
            new_levels=new_levels,
            reward=reward or known_reward(learned),
            references=references,
            max_memory=given.memory_of(max_memory, engine),
        )
    lists = learned.predict(
        problems, length=length, budget=budget, allow_short=allow_short or None, per_group=per_group
    )
    _show(evaluate_lists(lists, problems), as_json)


def off_policy(model: Any, log: Log, *, value: str, propensity: str) -> OffPolicyEvaluation:
    """Estimate from a log what the lists of a model would have brought."""
    from listwright.feedback import evaluate as estimate

    with notes(), progress("estimating"):
        return estimate(log, model.predict, value=value, propensity=propensity)


def _show(evaluation: Any, as_json: bool) -> None:
    """Print an evaluation as text or JSON; for a log, followed by advice on whether to deploy the model."""
    if as_json:
        show_json(evaluation.to_dict())
        return
    print(evaluation)
    if hasattr(evaluation, "against_log"):
        print(evaluation.against_log.advice)


def known_reward(model: Any) -> str:
    """Return the reward string that the model was trained with, for use without `--reward`."""
    # Raises `InputError` if it names a Python file: code is never executed merely because a model file refers to it.
    spec = getattr(model, "reward_spec_", None)
    if not isinstance(spec, str):
        raise InputError("This model does not know its reward. Pass --reward.")
    from listwright.tables import parse_reward

    if parse_reward(spec).kind == "python":
        raise InputError(f"This model was trained for {spec!r}, which is code. Pass --reward to run it.")
    return spec
