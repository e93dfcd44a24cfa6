"""`listwright check` and `listwright fit`: mistakes in a table, and a model learned from it or from a log."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from listwright.cli import logs
from listwright.cli import options as given
from listwright.cli.show import STANDARD, notes, progress, show_json
from listwright.cli.sources import Read, check_place, log_options, on_tables, save_model

if TYPE_CHECKING:
    from listwright.feedback import Log
    from listwright.problems import Problems
    from listwright.tables import Scan


@on_tables
def check(
    read: Read,
    data: given.OptionalData = None,
    *,
    reward: given.OptionalReward = None,
    log: logs.LogFiles = None,
    list_column: logs.ListColumn = None,
    position_column: logs.PositionColumn = None,
    outcome_column: logs.OutcomeColumn = None,
    propensity_column: logs.PropensityColumn = None,
    trials: Annotated[
        int, typer.Option(min=1, help="Number of random lists on which the reward's laws are tested.")
    ] = 30,
    seed: given.Seed = 0,
    as_json: given.AsJson = False,
) -> None:
    """Look for mistakes in a training table: a reward that is not submodular, duplicates, features that are constant or
    give the answer away, and problems that no list can solve. The exit code is 1 if the reward breaks a law or is given
    away. With --log, count the faults of a log of shown lists by kind, with examples: positions, duplicates, outcomes,
    propensities, missing candidates, weights above 1 on average, ids and leaks among the features."""
    logs.one_source(data, log)
    if log:
        options = log_options(read.keywords)  # type: ignore[attr-defined]  # a partial, see on_tables
        named = (list_column, position_column, outcome_column, propensity_column, options.get("item"))
        logs.check_log(log, logs.columns_of(*named) | {"ignore": options.get("ignore")}, as_json=as_json)
        return
    from listwright.checks import examine

    source: Any = read(data=data, reward=logs.needs_reward(reward))[0]
    problems = source.sample() if hasattr(source, "shards") else source
    with progress("checking"):
        findings = examine(problems, n_trials=trials, random_state=seed)
    if as_json:
        show_json([finding.to_dict() for finding in findings])
    else:
        print(problems)
        for finding in findings:
            print(finding)
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)


@on_tables
def fit(
    read: Read,
    data: given.OptionalData = None,
    *,
    reward: given.OptionalReward = None,
    references: given.References = None,
    out: Annotated[str, typer.Option("-o", "--out", help="Model file to write, or - for standard output.")],
    length: given.Length = None,
    budget: given.Budget = None,
    per_group: given.PerGroup = None,
    allow_short: given.ShortLists = False,
    effort: Annotated[
        str,
        typer.Option(
            callback=given.one_of("auto", "fast"),
            help="fast: a linear policy, in seconds. auto: the best of several methods, alone or summed, out of fold. "
            "With --catalogue and a reward any:..., it also learns how often an item succeeds where the items before "
            "it fail.",
        ),
    ] = "auto",
    passes: Annotated[int, typer.Option(min=1, help="Number of passes over the training problems.")] = 10,
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="Number of problems between two updates of the policy.")
    ] = None,
    max_memory: given.MaxMemory = None,
    engine: given.Engine = "local",
    address: given.Address = None,
    checkpoint: Annotated[
        str | None, typer.Option(help="File to which progress is saved; for Parquet files, which are read in parts.")
    ] = None,
    checkpoint_every: Annotated[int, typer.Option(min=1, help="Number of rounds between two checkpoints.")] = 1,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume from the checkpoint; the result is the same model.")
    ] = False,
    certify: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Share of the problems to hold out, such as 0.2, to certify the value of lists."
        ),
    ] = None,
    log: logs.LogFiles = None,
    cascade: logs.Cascade = False,
    propensity: logs.Propensity = "logged",
    learner: Annotated[str, typer.Option(help="With --log: ridge (linear) or boosting (trees).")] = "ridge",
    half_life: Annotated[
        float | None,
        typer.Option(
            help="With --log: number of lists after which an observation counts half, for tastes that change."
        ),
    ] = None,
    list_column: logs.ListColumn = None,
    position_column: logs.PositionColumn = None,
    outcome_column: logs.OutcomeColumn = None,
    propensity_column: logs.PropensityColumn = None,
    drop_bad: logs.DropBad = False,
    objective: Annotated[
        str, typer.Option(help="With --log: gain (predict clicks), or off_policy (the best lower bound on the log).")
    ] = "gain",
    seed: given.Seed = 0,
    as_json: given.AsJson = False,
) -> None:
    """Train a model on a table of problems with a known reward, or on a log of lists that were shown (--log), and write
    it to a file."""
    given.one_limit(length, budget)
    check_place(out, *(data or []), *(log or []), references, checkpoint)
    logs.one_source(data, log)
    settings: dict[str, Any] = {"length": length} if budget is None else {"budget": budget}
    if log:
        settings |= {"learner": logs.check_learner(learner), "half_life": half_life}
        named = logs.columns_of(list_column, position_column, outcome_column, propensity_column)
        settings |= {"allow_short": allow_short, "random_state": seed}
        options = log_options(read.keywords)  # type: ignore[attr-defined]  # a partial, see on_tables
        logged = logs.read_log(log, cascade=cascade, columns=named, options=options, drop_bad=drop_bad)
        _fit_log(logged, settings, {"propensity": propensity, "objective": objective}, out=out, as_json=as_json)
        return
    if resume and checkpoint is None:
        raise typer.BadParameter("name the file to resume from with --checkpoint.", param_hint="--resume")
    from listwright.estimators.scp import SCP

    say, where = _speaker(quiet=as_json, aside=out == STANDARD), given.engine_of(engine, address)
    worth, memory_limit = logs.needs_reward(reward), given.memory_of(max_memory, engine, checkpoint)
    with logs.add_hint(data or []):
        problems, columns, spec = read(data=data, reward=worth, references=references, max_memory=memory_limit)
    if hint := logs.hint(data or []):
        print(f"Note: {hint}", file=sys.stderr)
    given.sizes_for(budget, problems, "Name it with --size-column.")
    per_group = given.groups_for(per_group, problems, "Name it with --group-column.")
    settings |= {"n_passes": passes, "batch_size": batch_size or "auto", "effort": effort, "per_group": per_group}
    model = SCP(**settings, allow_short=allow_short, engine=where, random_state=seed)
    saved = {"checkpoint": checkpoint, "checkpoint_every": checkpoint_every, "resume": resume, "certify": certify}
    seconds = _learn(model, problems, say, saved)
    model.columns_, model.reward_spec_ = columns, spec
    measured = model.measured_within(seconds)
    save_model(model, out)
    if not as_json:
        if (report := getattr(model, "report_", None)) is not None:
            say(str(report))
        if report is None or measured is None or measured != report.measured:
            say(_training_value(model) if measured is None else str(measured))
        say(_last_line(out, seconds))
    elif out != STANDARD:
        show_json(counts(problems) | {"seconds": seconds, "model": out} | _figures(model, measured))


def _figures(model: Any, measured: Any) -> dict[str, Any]:
    certified, report = getattr(model, "certified_", None), getattr(model, "report_", None)
    return {
        "certificate": asdict(model.online_certificate()),
        "measured": None if measured is None else asdict(measured),
        "certified": None if certified is None else asdict(certified),
        "chosen": None if report is None else asdict(report),
    }


def _last_line(out: str, seconds: float) -> str:
    return f"Wrote {out} after {seconds:.1f} s of learning." if out != STANDARD else "Wrote the model."


def _fit_log(log: Log, settings: dict[str, Any], learning: dict[str, Any], *, out: str, as_json: bool) -> None:
    say = _speaker(quiet=as_json, aside=out == STANDARD)
    say(f"{str(log).removeprefix('Log: ')}, {log.answered_lists().problems.n_rows:,} candidates.")
    from listwright.feedback import OnlineSCP
    from listwright.walk.constraints import check_length

    model = OnlineSCP(**settings, cascade=log.cascade)
    if model.budget is None:
        check_length(model.length, log.answered_lists().problems, allow_short=model.allow_short)
    started = time.perf_counter()
    with notes(), progress("learning"):
        model.fit_log(log, **learning)
    seconds = time.perf_counter() - started
    save_model(model, out)
    if not as_json:
        say(_last_line(out, seconds))
    elif out != STANDARD:
        show_json({"lists": len(log), "seconds": seconds, "model": out})


def _learn(model: Any, problems: Any, say: Any, saved: dict[str, Any]) -> float:
    from listwright.problems import Problems

    if isinstance(problems, Problems):
        model.check(problems)
    say(describe_data(problems))
    started = time.perf_counter()
    with notes(), progress("learning"), model.engine.connection():
        if model.engine.about():
            say(model.engine.about())
        model.fit(problems, **saved)
    return time.perf_counter() - started


def counts(problems: Problems | Scan) -> dict[str, int]:
    from listwright.estimators.wide import learning_bytes

    return {
        "problems": len(problems),
        "candidates": problems.n_rows,
        "features": problems.n_features,
        "memory_bytes": learning_bytes(problems),
    }


def describe_data(problems: Problems | Scan) -> str:
    """One line on the size of the data and the memory that learning needs."""
    # It is printed before the work starts, so that a user who sees that memory will not suffice can stop at once.
    sizes = counts(problems)
    size = max(sizes.pop("memory_bytes") / 2**20, 1)
    parts = ", ".join(f"{count:,} {noun.removesuffix('s') if count == 1 else noun}" for noun, count in sizes.items())
    if hasattr(problems, "shards"):
        return f"{parts}; they are read in {len(problems.shards):,} parts, within {size:,.0f} MiB of memory."
    return f"{parts}; learning takes about {size:,.0f} MiB of memory."


def _training_value(model: Any) -> str:
    ledger = model.training_.ledger
    return (
        f"While learning, lists were worth {ledger.value / max(ledger.rounds, 1):.3f} on average. That is no promise "
        "for new problems: hold some back with --certify 0.2, or use `listwright evaluate`."
    )


def _speaker(*, quiet: bool, aside: bool) -> Any:
    return (lambda text: None) if quiet else partial(print, file=sys.stderr if aside else sys.stdout, flush=True)
