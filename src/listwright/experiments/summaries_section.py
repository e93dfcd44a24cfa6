"""The report on the summaries experiment: tables, a chart and a paragraph, from records alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from listwright.experiments.records import PAIRED_WITH, Record, methods_of, per_cent, point
from listwright.report import Figure, ReportTable, Section
from listwright.report.charts import Axis, curves, line_styles
from listwright.text.scores import METRICS

CURVE = "rouge1_r_by_training_clusters"
LESS = "rouge1_r_below_scp"  # how much less a method covers than SCP does, cluster by cluster
ORACLE = "Greedy (Oracle)"
SHOWN = ("rouge1_f", "rouge1_p", "rouge1_r", "rouge2_r", "content_rouge1_r")
AVERAGED = ("rouge1_f", "rouge1_p", "rouge1_r")
POOLED = ("pooled_rouge1_f", "pooled_rouge1_p", "pooled_rouge1_r")

# Table 1 of the paper: ROUGE-1F, 1P, 1R on DUC 2004, and our row of the same method and features.
PAPER = {
    "SubMod": ("SubMod", "37.39", "36.86", "37.99"),
    "DPP": ("DPP", "38.27", "37.87", "38.71"),
    "ConSeqOpt": ("ConSeqOpt, paper's features", "39.02", "39.08", "39.00"),
    "SCP": ("SCP, paper's features", "39.15", "39.16", "39.17"),
    "Oracle": (ORACLE, "44.92", "45.14", "45.24"),
}


class DataDescription(NamedTuple):
    """What a report says about the data."""

    name: str  # what it is called
    of_the_paper: bool = False  # whether it is the paper's own, so that scores can be compared with its Table 1
    missing: Sequence[str] = ()  # sentences on what is missing from it


def describe_section(records: Sequence[Record], described: DataDescription) -> Section:
    """Return the section: all methods, the differences from SCP, the paper's Table 1 beside ours, and the curve."""
    parts: list[Figure | ReportTable] = [_table(records)]
    if any(record["metric"] == LESS for record in records):
        parts.append(_differences(records))
    parts.append(_beside_the_paper(records, described))
    if len({record["n_train"] for record in records if record["metric"] == CURVE}) > 1:
        parts.append(Figure("summaries-training", _curve(records), _CURVE_CAPTION))
    return Section("Summaries: which sentences to take", _setup(records, described), parts)


def describe_findings(records: Sequence[Record], described: DataDescription) -> str:
    """Return one paragraph: ROUGE-1R of each method, best first, then of the oracle."""
    n_train, budget = _at(records)
    scores = {
        method: point(records, method, n_train=n_train, length=budget, metric="rouge1_r")["mean"]
        for method in methods_of(records)
    }
    ranked = sorted((name for name in scores if name != ORACLE), key=lambda name: -scores[name])
    numbers = ", ".join(f"{name} {per_cent(scores[name])}" for name in ranked)
    oracle = f"; the oracle that sees the references reaches {per_cent(scores[ORACLE])}" if ORACLE in scores else ""
    return f"{described.name}: ROUGE-1R of {budget} bytes after {n_train} training clusters: {numbers}{oracle}."


def _table(records: Sequence[Record]) -> ReportTable:
    """Return the table of all methods and metrics, with SCP in bold."""
    n_train, budget = _at(records)
    rows = [
        [
            method,
            *(_format_score(point(records, method, n_train=n_train, length=budget, metric=metric)) for metric in SHOWN),
        ]
        for method in methods_of(records)
    ]
    emphasis = [index for index, row in enumerate(rows) if row[0] == PAIRED_WITH]
    return ReportTable(
        ["method", *_labels(SHOWN)], rows, _TABLE_CAPTION.format(budget=budget, n_train=n_train), emphasis
    )


def _differences(records: Sequence[Record]) -> ReportTable:
    """Return the table of points of ROUGE-1R below SCP."""
    n_train, budget = _at(records)
    rows = [
        [method, _format_score(point(records, method, n_train=n_train, length=budget, metric=LESS), sign="+")]
        for method in methods_of(records)
        if method not in (PAIRED_WITH, ORACLE)
    ]
    return ReportTable(["method", "ROUGE-1R below SCP"], rows, _LESS_CAPTION)


def _beside_the_paper(records: Sequence[Record], described: DataDescription) -> ReportTable:
    """Return our scores, averaged and pooled, next to the paper's, for each row of its Table 1."""
    n_train, budget = _at(records)
    run = methods_of(records)

    def scores(method: str) -> list[str]:
        return [
            f"{100 * point(records, method, n_train=n_train, length=budget, metric=metric)['mean']:.2f}"
            for metric in (*AVERAGED, *POOLED)
        ]

    rows = [[name, *scores(ours), *paper] for name, (ours, *paper) in PAPER.items() if ours in run]
    columns = [f"{kind}{letter}" for kind in ("", "pooled ", "paper ") for letter in ("F", "P", "R")]
    return ReportTable(
        ["method", *columns], rows, (_SAME_CAPTION if described.of_the_paper else _OTHER_CAPTION) + _HOW_CAPTION
    )


def _curve(records: Sequence[Record]) -> Any:
    """Return the chart of ROUGE-1R against the number of training clusters."""
    shown = [record for record in records if record["metric"] == CURVE]
    x, y = Axis("n_train", "training clusters", log=True), Axis("mean", "ROUGE-1R", ".0%")
    return curves(shown, x=x, y=y, methods=line_styles(methods_of(shown)))


def _labels(metrics: Sequence[str]) -> list[str]:
    """Return the display names of metrics."""
    return [METRICS[metric] for metric in metrics]


def _at(records: Sequence[Record]) -> tuple[int, int]:
    """Return the number of training clusters and the budget that the tables are about."""
    return max(record["n_train"] for record in records), records[0]["length"]


def _format_score(record: Record, *, sign: str = "") -> str:
    """Return a mean in per cent, with half the width of its interval where there is one."""
    mean = f"{100 * record['mean']:{sign}.1f}"
    if record["low"] is None or record["high"] is None:
        return mean
    return f"{mean} ± {50 * (record['high'] - record['low']):.1f}"


def _setup(records: Sequence[Record], described: DataDescription) -> str:
    """Return the paragraph on how the experiment was done."""
    n_train, budget = _at(records)
    missing = f" What was found is not all of it: {' '.join(described.missing)}" if described.missing else ""
    return (
        f"{described.name}. A summary takes whole sentences of a cluster of documents, {budget} bytes at most with "
        f"spaces; all methods skip what no longer fits. Methods learn from {n_train} clusters with summaries by people "
        "and are scored on others. SCP and ConSeqOpt see the paper's features and how many new words of a summary by "
        "people a sentence is expected to bring, which is learned from the training clusters too; beside them, the "
        "same with the paper's features alone and its reduction to ranking. The parameters of SubMod, DPP and MMR are "
        f"chosen on the training clusters.{missing}"
    )


_TABLE_CAPTION = (
    "ROUGE in per cent with stems, function words kept, averaged over references, {budget} bytes, {n_train} training "
    "clusters; the 95 % interval is over test clusters. Content: function words left out. The oracle sees the "
    "references."
)
_LESS_CAPTION = (
    "Points of ROUGE-1R below SCP on the same clusters, with the 95 % interval of the mean difference. Above 0, SCP "
    "covers more."
)
_SAME_CAPTION = "Table 1 of the paper, on the paper's own data: trained on DUC 2003, tested on DUC 2004, 665 bytes. "
_OTHER_CAPTION = (
    "Table 1 of the paper, which is on other data (trained on DUC 2003, tested on DUC 2004, 665 bytes), beside the "
    "same methods here: scores on different data cannot be compared. "
)
_HOW_CAPTION = (
    "ROUGE-1 F, P and R: averaged over references; pooled, which adds up the counts of all references but one and "
    "averages over which one that is (jackknife); and as the paper prints them, where SCP's have ± 0.15 and "
    "ConSeqOpt's ± 0.07 to 0.12. SCP and ConSeqOpt see the paper's features."
)
_CURVE_CAPTION = (
    "Mean over random subsets of the training clusters, with the 95 % interval of that mean. Click a name to pick it "
    "out."
)
