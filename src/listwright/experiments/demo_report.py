"""The demo as a report: one question in words, a chart of all methods, the certificate, and the costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from listwright.experiments.demo import BEST, LEARNED, METHODS, SHOWN, SORTED, TUNED, Demo
from listwright.experiments.records import Record, methods_of, point
from listwright.experiments.tables import per_cent
from listwright.report import Figure, Note, Report, Section, Table
from listwright.report.charts import Axis, Look, curves
from listwright.report.theme import PALETTE

TITLE = "listwright: lists that are relevant and not redundant"
RESULTS = "docs/results.md"
_BLUE, _ORANGE, _GREEN, _PURPLE, _RED, _GREY, *_ = PALETTE
LOOKS = dict(
    zip(
        METHODS,
        (
            Look(_ORANGE),
            Look(_ORANGE, (2, 2)),
            Look(_GREEN),
            Look(_PURPLE),
            Look(_RED),
            Look(_BLUE),
            Look(_BLUE, (2, 2)),
            Look(_GREY, (5, 4)),
        ),
        strict=True,
    )
)


def report(demo: Demo) -> Report:
    """Return the page that `listwright demo` writes."""
    first, *more = demo.problems
    sections = [
        Section("One question, three lists", ABOUT, [first]),
        Section(
            "All questions", _measured(demo), [*_chart_and_table(demo.records), Note(WHERE, "The results", RESULTS)]
        ),
        *([Section("What is certain", demo.certificate)] if demo.certificate else []),
        Section("What it cost", cost(demo)),
        Section(f"{len(more)} more questions", "In the order in which they were drawn; click on one.", more),
    ]
    return Report(TITLE, findings(demo), sections)


def findings(demo: Demo) -> str:
    """Return the main result as one paragraph: three methods at the length shown."""
    found = {
        name: per_cent(point(demo.records, name, n_train=demo.n_train, length=SHOWN, metric="value")["mean"])
        for name in (SORTED, TUNED, LEARNED)
    }
    return (
        f"Lists of {SHOWN} passages for questions that take 3 or 4 of them: sorted by predicted relevance, they tell "
        f"{found[SORTED]} % of what is needed; with maximal marginal relevance, tuned, {found[TUNED]} %; learned, "
        f"{found[LEARNED]} %. The data is made up, and was chosen because lists matter in it."
    )


def cost(demo: Demo) -> str:
    """Return one sentence on how long training and listing took on this machine."""
    best = f'; with effort="best", {demo.seconds[BEST]:.1f} s' if BEST in demo.seconds else ""
    return (
        f"On this machine: learned from {demo.n_train} questions in {demo.seconds[LEARNED]:.1f} s{best}. "
        f"A list takes {demo.milliseconds:.1f} ms."
    )


def value_table(records: Sequence[Record], *, caption: str = "") -> Table:
    """Return a table of values in per cent, with one row per method and one column per length."""
    n_train = records[0]["n_train"]
    lengths = sorted({record["length"] for record in records})
    rows = [
        [
            name,
            *(per_cent(point(records, name, n_train=n_train, length=one, metric="value")["mean"]) for one in lengths),
        ]
        for name in methods_of(records)
    ]
    emphasis = [index for index, row in enumerate(rows) if row[0].startswith("SCP")]
    return Table(["passages in the list", *map(str, lengths)], rows, caption, emphasis)


def widest(records: Sequence[Record]) -> float:
    """Return half the width of the widest interval, in per cent."""
    return max(50 * (one["high"] - one["low"]) for one in records if one["high"] is not None and one["low"] is not None)


def _chart_and_table(records: Sequence[Record]) -> list[Any]:
    """Return the chart of value against length, and the same numbers as a table."""
    present = methods_of(records)
    chart = curves(
        records,
        x=Axis("length", "passages in the list"),
        y=Axis("mean", "share of what is needed", ".0%"),
        methods={name: look for name, look in LOOKS.items() if name in present},
    )
    return [Figure("demo", chart, CHART_CAPTION), value_table(records, caption=TABLE_CAPTION)]


def _measured(demo: Demo) -> str:
    """Return the sentence on how many questions were used, and how the methods work."""
    return f"{demo.n_train} questions to learn from, and {demo.n_test} others to test on. {METHODS_TEXT}"


ABOUT = (
    "The question names only the first link of a chain; each passage names the next. Passages that say the same thing "
    "again, or belong to another chain, look just as relevant. So what a passage adds depends on the list so far. "
    "Three ways to list four passages: repeats are struck out. All names are invented."
)
METHODS_TEXT = (
    "All methods see the same seven features of a passage and the same training questions. Relevance is the predicted "
    "gain of a passage alone. MMR and DPP choose their parameter on the training questions. ConSeqOpt learns one "
    "policy for each position; SCP learns one policy for all. Both also see how a passage is linked to those in the "
    "list. The oracle knows what is needed."
)
WHERE = (
    "Lists matter here because passages depend on each other. Where an item is worth the same whatever else is in the "
    "list, sorting by a good prediction does as well; on most real data the gap is smaller than here."
)
IN_SHORT = (
    "The data is made up and was chosen because lists matter in it; docs/results.md tells where they do not, on real "
    "data too."
)
CHART_CAPTION = (
    "Share of the needed steps that a list tells, with the 95 % interval over test questions. Point at a line for "
    "numbers; click a name to pick it out."
)
TABLE_CAPTION = "The same in per cent."
