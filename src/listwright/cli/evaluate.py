"""`listwright evaluate`, `predict` and `explain`: lists of a model for a table, their value and the reasons for one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from listwright.cli import logs
from listwright.cli import options as given
from listwright.cli.show import STANDARD, as_records, check_ending, many, notes, progress, show_json, write_lists
from listwright.cli.sources import check_place, load_model, read_for
from listwright.errors import InputError


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
    item_column: logs.ItemColumn = None,
    drop_bad: logs.DropBad = False,
    trust: given.Trust = "",
    as_json: given.AsJson = False,
) -> None:
    """Evaluate a model's lists: value, failure, value by position, alpha-nDCG, ERR-IA, subtopic recall and intra-list
    distance, as far as they apply, as means over problems with 95 % intervals. On a log of lists that another policy
    showed (--log), estimate what the model's lists would have been worth, with twelve off-policy estimators."""
    logs.one_source(data, log)
    if log:
        columns = logs.columns_of(list_column, position_column, outcome_column, propensity_column, item_column)
        learned = load_model(model, log, trust)
        read = logs.log_for(learned, log, cascade=cascade, columns=columns, new_levels=new_levels, drop_bad=drop_bad)
        from listwright.feedback import evaluate as estimate

        with notes(), progress("estimating"):
            evaluation = estimate(read, learned.predict, value=value, propensity=propensity)
        _show(evaluation, as_json)
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
    per_group = given.groups_for(per_group, problems, "Fit the model again with --group-column.")
    lists = learned.predict(
        problems, length=length, budget=budget, allow_short=allow_short or None, per_group=per_group
    )
    _show(evaluate_lists(lists, problems), as_json)


def _show(evaluation: Any, as_json: bool) -> None:
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


def predict(
    model: given.Model,
    data: given.Data,
    out: Annotated[
        str, typer.Option("-o", "--out", help="File to write: .csv, .tsv, .jsonl or .parquet; - for standard output.")
    ] = STANDARD,
    length: given.Length = None,
    budget: given.Budget = None,
    per_group: given.PerGroup = None,
    allow_short: given.ShortLists = False,
    explain: Annotated[bool, typer.Option("--explain", help="Add the reasons for each pick.")] = False,
    new_levels: given.NewLevels = "error",
    problem_column: Annotated[
        str | None, typer.Option(help="Column with the problem's id, if not that of the model's table.")
    ] = None,
    item_column: Annotated[
        str | None, typer.Option(help="Column with the item's id, if not that of the model's table.")
    ] = None,
    format: given.Format = None,
    max_memory: given.MaxMemory = None,
    engine: given.Engine = "local",
    address: given.Address = None,
    trust: given.Trust = "",
    as_json: given.AsJson = False,
) -> None:
    """Build a list for each problem of a table: one row per pick, in order. The model file remembers the columns."""
    check_place(out, model, *data)
    check_ending(out)
    learned = load_model(model, data, trust)
    learned.engine, memory = given.engine_of(engine, address), given.memory_of(max_memory, engine)
    if memory is not None and (explain or as_json or Path(out).suffix.lower() not in (".parquet", ".pq")):
        raise InputError("Lists that are built in parts go to a .parquet file, without reasons. Name one with --out.")
    with progress("reading"):
        problems = read_for(
            learned,
            data,
            budget=budget,
            per_group=per_group,
            ids={"problem": problem_column, "item": item_column},
            format=format,
            new_levels=new_levels,
            max_memory=memory,
        )
    per_group = given.groups_for(per_group, problems, "Fit the model again with --group-column.")
    lists = learned.predict(
        problems, length=length, budget=budget, allow_short=allow_short or None, per_group=per_group
    )
    if memory is not None:
        with progress("building lists"):
            lists.to_parquet(out)
        print(f"Wrote {many(len(lists), 'list')} to {out}.", file=sys.stderr)
        return
    reasons = None
    if explain:
        reasons = []
        with progress("explaining") as report:
            for i in range(len(lists)):
                reasons.append(lists.explain(i))
                report("explaining", i + 1, len(lists))
    if out != STANDARD or not as_json:
        write_lists(lists, out, reasons)
    if as_json:
        show_json(as_records(lists, reasons))
    elif out != STANDARD:
        print(f"Wrote {many(len(lists), 'list')} to {out}.", file=sys.stderr)


def explain(
    model: given.Model,
    data: given.Data,
    problem: Annotated[str, typer.Option(help="Id of the problem.")],
    length: given.Length = None,
    budget: given.Budget = None,
    allow_short: given.ShortLists = False,
    new_levels: given.NewLevels = "error",
    format: given.Format = None,
    trust: given.Trust = "",
    as_json: given.AsJson = False,
) -> None:
    """Explain one list: what each group of features adds to the score of a pick, how far behind the runner-up is, and
    which pick made a skipped item redundant."""
    from listwright.evaluation.explain import explain as explain_list

    learned = load_model(model, data, trust)
    problems = read_for(learned, data, budget=budget, format=format, new_levels=new_levels)
    names = [str(name) for name in problems.problem_ids]
    if problem not in names:
        examples = ", ".join(names[:3])
        raise InputError(f"There is no problem {problem!r} in the table. It has {len(names):,}, such as {examples}.")
    i = names.index(problem)
    reasons = explain_list(learned, problems, i, length=length, budget=budget, allow_short=allow_short or None)
    if as_json:
        show_json(reasons.to_dict())
    else:
        print(reasons)
