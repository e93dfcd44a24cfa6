"""How the experiment on summaries is told: tables, a chart and a paragraph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from listwright.lab.experiments.records import PAIRED_WITH, Record, methods_of, point
from listwright.lab.experiments.wording import per_cent
from listwright.lab.report import Figure, Section, Table
from listwright.lab.report.charts import Axis, curves, looks
from listwright.summarize.scores import METRICS

CURVE = "rouge1_r_by_training_clusters"
LESS = "rouge1_r_below_scp"  # how much less a method covers than SCP does, cluster by cluster
ORACLE = "Greedy (Oracle)"
SHOWN = ("rouge1_f", "rouge1_p", "rouge1_r", "rouge2_r", "content_rouge1_r")

# Table 1 of the paper: ROUGE-1F, 1P, 1R on DUC 2004.
PAPER = (
    ("SCP", "39.15 ± 0.15", "39.16 ± 0.15", "39.17 ± 0.15"),
    ("ConSeqOpt", "39.02 ± 0.07", "39.08 ± 0.07", "39.00 ± 0.12"),
    ("SubMod", "37.39", "36.86", "37.99"),
    ("DPP", "38.27", "37.87", "38.71"),
    (ORACLE, "44.92", "45.14", "45.24"),
)


def section(records: Sequence[Record], *, data: Path | None = None) -> Section:
    """The table of all methods, the paper's own, the differences from SCP, and the curve."""
    parts: list[Figure | Table] = [_table(records), Table(["method", *_labels(SHOWN[:3])], PAPER, _PAPER_CAPTION, [0])]
    if any(record["metric"] == LESS for record in records):
        parts.insert(1, _differences(records))
    if len({record["n_train"] for record in records if record["metric"] == CURVE}) > 1:
        parts.append(Figure("summaries-training", _curve(records), _CURVE_CAPTION))
    return Section("Summaries: which sentences to take", _setup(records, data), parts)


def findings(records: Sequence[Record], *, data: Path | None = None) -> str:
    """One paragraph in numbers."""
    n_train, budget = _at(records)
    found = {
        method: point(records, method, n_train=n_train, length=budget, metric="rouge1_r")["mean"]
        for method in methods_of(records)
    }
    ranked = sorted((name for name in found if name != ORACLE), key=lambda name: -found[name])
    numbers = ", ".join(f"{name} {per_cent(found[name])}" for name in ranked)
    oracle = f"; the oracle that sees the references reaches {per_cent(found[ORACLE])}" if ORACLE in found else ""
    return f"{_source(data)}: ROUGE-1R of {budget} bytes after {n_train} training clusters: {numbers}{oracle}."


def _table(records: Sequence[Record]) -> Table:
    n_train, budget = _at(records)
    rows = [
        [method, *(_written(point(records, method, n_train=n_train, length=budget, metric=one)) for one in SHOWN)]
        for method in methods_of(records)
    ]
    emphasis = [index for index, row in enumerate(rows) if row[0] == PAIRED_WITH]
    return Table(["method", *_labels(SHOWN)], rows, _TABLE_CAPTION.format(budget=budget, n_train=n_train), emphasis)


def _differences(records: Sequence[Record]) -> Table:
    n_train, budget = _at(records)
    rows = [
        [method, _written(point(records, method, n_train=n_train, length=budget, metric=LESS), sign="+")]
        for method in methods_of(records)
        if method not in (PAIRED_WITH, ORACLE)
    ]
    return Table(["method", "ROUGE-1R below SCP"], rows, _LESS_CAPTION)


def _curve(records: Sequence[Record]) -> Any:
    shown = [record for record in records if record["metric"] == CURVE]
    x, y = Axis("n_train", "training clusters", log=True), Axis("mean", "ROUGE-1R", ".0%")
    return curves(shown, x=x, y=y, methods=looks(methods_of(shown)))


def _labels(metrics: Sequence[str]) -> list[str]:
    return [METRICS[metric] for metric in metrics]


def _at(records: Sequence[Record]) -> tuple[int, int]:
    """Training clusters and budget of the table."""
    return max(record["n_train"] for record in records), records[0]["length"]


def _written(record: Record, *, sign: str = "") -> str:
    mean = f"{100 * record['mean']:{sign}.1f}"
    if record["low"] is None or record["high"] is None:
        return mean
    return f"{mean} ± {50 * (record['high'] - record['low']):.1f}"


def _source(data: Path | None) -> str:
    return "Made-up news reports" if data is None else f"Clusters in {data.name}"


def _setup(records: Sequence[Record], data: Path | None) -> str:
    n_train, budget = _at(records)
    return (
        f"{_source(data)}. A summary takes whole sentences of a cluster of documents, {budget} bytes at most with "
        f"spaces; all methods skip what no longer fits. Methods learn from {n_train} clusters with summaries by people "
        "and are scored on others. SCP and ConSeqOpt see the paper's features and how many new words of a summary by "
        "people a sentence is expected to bring, which is learned from the training clusters too; beside them, the "
        "same with the paper's features alone and its reduction to ranking. The parameters of SubMod, DPP and MMR are "
        "chosen on the training clusters."
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
_PAPER_CAPTION = "The paper's own figures, on other data: trained on DUC 2003, tested on DUC 2004, 665 bytes."
_CURVE_CAPTION = (
    "Mean over random subsets of the training clusters, with the 95 % interval of that mean. Click a name to pick it "
    "out."
)
