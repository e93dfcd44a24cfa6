"""Commands on logs of shown lists: the options that they share, and how a log is read and learned from."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from listwright.apps.cli import options as given
from listwright.apps.cli.show import progress
from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.feedback import Log

PROPENSITIES = ("logged", "frequency", "model", "examination")


def _known(propensity: str) -> str:
    if propensity not in PROPENSITIES:
        raise typer.BadParameter(f"must be one of {', '.join(PROPENSITIES)}. Got {propensity!r}.")
    return propensity


LogFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--log",
        help="A log in place of DATA: lists that were shown, with what came back; Parquet, CSV or JSON lines.",
    ),
]
Cascade = Annotated[bool, typer.Option("--cascade", help="With --log: users stop at the first click.")]
Propensity = Annotated[
    str,
    typer.Option(
        callback=_known,
        help="With --log: chances of the shown items as logged, or estimated by their frequency, a model, or by how "
        "often users look at each position (examination).",
    ),
]
ListColumn = Annotated[str | None, typer.Option(help="With --log: column with the id of the list.")]
PositionColumn = Annotated[str | None, typer.Option(help="With --log: column with the position in the list.")]
OutcomeColumn = Annotated[str | None, typer.Option(help="With --log: column with what came back, from 0 to 1.")]
PropensityColumn = Annotated[str | None, typer.Option(help="With --log: column with the chance of each shown item.")]


def columns_of(
    list_column: str | None, position: str | None, outcome: str | None, propensity: str | None, item: str | None = None
) -> dict[str, str | None]:
    """The columns of a log that the options name, as `Log.from_parquet` takes them."""
    named = {"list_id": list_column, "position": position, "outcome": outcome, "propensity": propensity, "item": item}
    return {name: column for name, column in named.items() if column is not None}


def read_log(files: list[str], *, cascade: bool, columns: Mapping[str, Any], options: Mapping[str, Any]) -> Log:
    """The log in some files."""
    from listwright.feedback import Log

    with progress("reading"):
        return Log.from_parquet(list(files), cascade=cascade or None, **columns, **options)


def log_for(model: Any, files: list[str], *, cascade: bool, columns: Mapping[str, Any], new_levels: str) -> Log:
    """The log in some files, its candidates read as the model's training table was."""
    from listwright.feedback.log_columns import MARKS, marked
    from listwright.feedback.log_frames import columns_in

    options: dict[str, Any] = {}
    if not any(marked(columns_in(files), kind) for kind in MARKS):
        known, signature = getattr(model, "columns_", None), model.signature_
        if known is not None:
            options = {"columns": known, "new_levels": new_levels}
        elif signature.feature_names is not None:
            options = {"features": list(signature.feature_names)}
    return read_log(files, cascade=cascade, columns=columns, options=options)


def fit_on_log(log: Log, settings: Mapping[str, Any], propensity: str) -> tuple[Any, float]:
    """A model learned from a log alone, and the seconds that it took."""
    from listwright.feedback import OnlineSCP
    from listwright.walk.limits import check_length

    model = OnlineSCP(**settings, cascade=log.cascade)
    if model.budget is None:
        check_length(model.length, log.answered().problems, short_lists=model.short_lists)
    started = time.perf_counter()
    with progress("learning"), notes():
        model.fit_log(log, propensity=propensity)
    model.columns_ = log.columns
    return model, time.perf_counter() - started


@contextmanager
def notes() -> Iterator[None]:
    """Warnings of the library as lines on standard error."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        yield
    for one in told:
        print(f"Note: {one.message}", file=sys.stderr)


@contextmanager
def hinting(data: list[str]) -> Iterator[None]:
    """Adds a hint to errors of reading a table that looks like a log."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{error} {hint(data)}".strip()) from None


def hint(data: list[str]) -> str:
    """What to say where a table of candidates has the columns of a log; nothing elsewhere."""
    from listwright.feedback.log_columns import roles
    from listwright.feedback.log_frames import columns_in

    try:
        found = roles(columns_in(data), {}, "")
    except (InputError, OSError):
        return ""
    signs = [found[role] for role in ("position", "shown", "propensity") if role in found]
    if not signs or "outcome" not in found:
        return ""
    return (
        f"This looks like a log of lists that were shown (column {signs[0]!r}), where items that were not shown have "
        "no outcome. To learn from a log: listwright fit --log FILE."
    )


def one_source(data: list[str] | None, log: list[str] | None) -> None:
    """Exactly one of DATA and --log."""
    if not data and not log:
        raise typer.BadParameter("give a table, or a log with --log.", param_hint="DATA")
    if data and log:
        raise typer.BadParameter("stands in place of DATA; leave one of them out.", param_hint="--log")


def needs_reward(reward: str | None) -> str:
    """A table of candidates does not say by itself what lists are worth."""
    if reward is None:
        raise typer.BadParameter(f"say what a list is worth: {given.REWARDS}.", param_hint="--reward")
    return reward


def check_learner(learner: str) -> str:
    """Learners that logs are learned by."""
    if learner not in ("ridge", "boosting"):
        raise InputError(f"--learner must be ridge or boosting. Got {learner!r}.")
    return learner
