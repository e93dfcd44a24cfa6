"""A page about one fitted model: which features matter, its weights, and how training went."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.parameters import clone
from listwright.estimators.measurement import split_held_out
from listwright.evaluation import Table, importance
from listwright.problems import Problems
from listwright.report.charts import PALETTE, charts
from listwright.report.page import Figure, ReportPage, Section

SHOWN = 20  # bars
BAR = 22  # pixels
MANY = 200  # features past which not all are permuted


def model_report(model: Any, important: Table | None = None) -> ReportPage:
    measured = getattr(model, "measurement_", None)
    findings = "This model was fitted and has not been measured." if measured is None else str(measured)
    sections = [] if important is None else [_importance(important)]
    sections += [section for section in (_weights(model), _history(model)) if section is not None]
    return ReportPage(f"What this {type(model).__name__} learned", findings, sections)


def learned_sections(model: Any, problems: Problems) -> list[Section]:
    """Fit a copy of a model to four fifths of the problems, and return sections on what it learned."""
    learned, held = split_held_out(len(problems), 0.2, np.random.default_rng(0))
    fitted = clone(model).fit(problems[learned])
    return list(model_report(fitted, importance_of(fitted, problems[held])).sections)


def importance_of(model: Any, problems: Any, *, n_repeats: int = 5) -> Table:
    # Past 200 features, only those that have a weight of their own are permuted, because each takes several
    # predictions.
    names = problems.feature_names
    if names is None or len(names) <= MANY:
        return importance(model, problems, n_repeats=n_repeats)
    weighted = set(getattr(model, "weights_", {"feature": names[:SHOWN]})["feature"])
    return importance(model, problems, features=[name for name in names if name in weighted], n_repeats=n_repeats)


def bars(table: Table, value: str, title: str, *, spread: str | None = None) -> Any:
    """Draw a bar for each feature, the longest first, at most 20."""
    alt = charts()
    order = np.argsort(-np.abs(table[value]), kind="stable")[:SHOWN]
    records = [table.records()[i] for i in order]
    for record in records:
        record["sign"] = "adds" if record[value] >= 0 else "takes"
        record["low"], record["high"] = (record[value] + side * (record[spread] if spread else 0.0) for side in (-1, 1))
    names = [record["feature"] for record in records]
    base = alt.Chart(alt.Data(values=records)).encode(
        y=alt.Y("feature:N", sort=names, title=None, axis=alt.Axis(labelLimit=260))
    )
    colour = alt.Scale(domain=["adds", "takes"], range=[PALETTE[0], PALETTE[1]])
    bar = base.mark_bar().encode(
        x=alt.X(f"{value}:Q", title=title),
        color=alt.Color("sign:N", scale=colour, legend=None),
        tooltip=["feature:N", alt.Tooltip(f"{value}:Q", format=".4f")],
    )
    lines = [base.mark_rule(strokeWidth=1.5).encode(x="low:Q", x2="high:Q")] if spread else []
    return alt.layer(bar, *lines).properties(width="container", height=BAR * max(len(records), 2))


def rounds(table: Table) -> Any:
    """Draw the mean value of lists by round: one line for training problems, and one for problems held out."""
    alt = charts()
    kinds = {"training_value": "while learning", "held_out_value": "on problems held out"}
    records = [
        {"round": int(number), "value": float(value), "lists": label}
        for name, label in kinds.items()
        for number, value in zip(table["round"], table[name], strict=True)
        if not np.isnan(value)
    ]
    return (
        alt.Chart(alt.Data(values=records))
        .mark_line(strokeWidth=2.2, point={"size": 26, "filled": True})
        .encode(
            x=alt.X("round:Q", title="round", axis=alt.Axis(format="d", tickMinStep=1)),
            y=alt.Y("value:Q", title="mean value of a list", scale=alt.Scale(zero=False)),
            color=alt.Color("lists:N", sort=list(kinds.values()), legend=alt.Legend(title=None, orient="top")),
            tooltip=["lists:N", "round:Q", alt.Tooltip("value:Q", format=".3f")],
        )
        .properties(width="container", height=300)
    )


def _importance(table: Table) -> Section:
    chart = bars(table, "importance", "fall in the mean value of a list", spread="spread")
    caption = "How much lists lose when a feature is permuted across problems; lines are one spread over the repeats."
    return Section("What it looks at", "Features by importance.", [Figure("importance", chart, caption)])


def _weights(model: Any) -> Section | None:
    """Return the section on weights; None for a policy that is not linear."""
    try:
        table = model.weights_
    except AttributeError:  # a policy that is not linear has none
        return None
    chart = bars(table, "weight", "weight, for one spread of the feature")
    caption = "What one spread more of a column adds to the score of a candidate; the largest weights."
    return Section("Weights", f"{len(table):,} weights.", [Figure("weights", chart, caption)])


def _history(model: Any) -> Section | None:
    """Return the section on the rounds of training; None if the model keeps no history."""
    if not len(getattr(model, "history_", ())):
        return None
    caption = "Mean value of the lists of each round."
    return Section(
        "How it learned", f"{len(model.history_):,} rounds.", [Figure("rounds", rounds(model.history_), caption)]
    )
