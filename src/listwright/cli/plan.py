"""`listwright plan`: how many lists it takes to judge a candidate."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from listwright.cli import logs
from listwright.cli import options as given
from listwright.cli.show import notes, progress, show_json
from listwright.cli.sources import load_model


def plan(
    model: given.Model,
    log: Annotated[list[str], typer.Option("--log", help="Log of today's lists: Parquet, CSV or JSON lines.")],
    loss_budget: Annotated[
        float, typer.Option(help="What may be lost per list if the candidate is worth nothing.")
    ] = 0.02,
    difference: Annotated[
        float | None, typer.Option(help="Difference per list to look for; by default what the log lets expect.")
    ] = None,
    cascade: logs.Cascade = False,
    list_column: logs.ListColumn = None,
    position_column: logs.PositionColumn = None,
    outcome_column: logs.OutcomeColumn = None,
    propensity_column: logs.PropensityColumn = None,
    trust: given.Trust = "",
    as_json: given.AsJson = False,
) -> None:
    """Plan how many lists it takes to judge a candidate model against today's policy, and which share of the lists it
    may build. `listwright serve --candidate` then does it."""
    from listwright.feedback import plan as plan_lists

    columns = logs.columns_of(list_column, position_column, outcome_column, propensity_column)
    learned = load_model(model, log, trust)
    read = logs.log_for(learned, log, cascade=cascade, columns=columns, new_levels="error")
    with notes(), progress("planning"):
        planned = plan_lists(read, learned.predict, loss_budget=loss_budget, difference=difference)
    if as_json:
        show_json(asdict(planned))
    else:
        print(planned)
