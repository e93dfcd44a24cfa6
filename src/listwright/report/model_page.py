"""A page about one fitted model: which features matter, its weights, and how training went."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.parameters import clone
from listwright.estimators.base import BARS, feature_bars, history_chart
from listwright.estimators.measurement import split_held_out
from listwright.evaluation import Table, importance
from listwright.problems import Problems
from listwright.report.page import Figure, ReportPage, Section

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
    weighted = set(getattr(model, "weights_", {"feature": names[:BARS]})["feature"])
    return importance(model, problems, features=[name for name in names if name in weighted], n_repeats=n_repeats)


def _importance(table: Table) -> Section:
    chart = wide(feature_bars(table, "importance", "fall in the mean value of a list"), len(table))
    caption = "How much lists lose when a feature is permuted across problems; lines are one spread over the repeats."
    return Section("What it looks at", "Features by importance.", [Figure("importance", chart, caption)])


def _weights(model: Any) -> Section | None:
    try:
        table = model.weights_
    except AttributeError:  # a policy that is not linear has none
        return None
    chart = wide(feature_bars(table, "weight", "weight, per standard deviation of the feature"), len(table))
    caption = "What one spread more of a column adds to the score of a candidate; the largest weights."
    return Section("Weights", f"{len(table):,} weights.", [Figure("weights", chart, caption)])


def _history(model: Any) -> Section | None:
    if not len(getattr(model, "history_", ())):
        return None
    chart = history_chart(model.history_).properties(width="container", height=300)
    caption = "Mean value of the lists of each round."
    return Section("How it learned", f"{len(model.history_):,} rounds.", [Figure("rounds", chart, caption)])


def wide(chart: Any, n_bars: int) -> Any:
    return chart.properties(width="container", height=BAR * min(max(n_bars, 2), BARS))
