"""Records in words, tables and lines: what the sections of reports share."""

from __future__ import annotations

from collections.abc import Sequence

from listwright.experiments.records import Record, mean_of, methods_of
from listwright.report import Table
from listwright.report.charts import Look, looks

REFERENCES = ("Random", "Oracle")  # no rivals: what no knowledge and all knowledge give
COLOURS = ("SCP (auto)", "SCP", "ConSeqOpt", "Regression", "Static list", "Random", "Oracle")


def method_looks(records: Sequence[Record]) -> dict[str, Look]:
    """The same colour for a method in every chart."""
    known = looks(COLOURS, dashed=REFERENCES)
    present = methods_of(records)
    return {name: known[name] for name in known if name in present}


def failure_table(records: Sequence[Record], *, n_train: int, caption: str) -> Table:
    """Failure in per cent: a row a method, a column a length; SCP stands out."""
    lengths = sorted({record["length"] for record in records})
    rows = [
        [method, *(per_cent(mean_of(records, method, n_train=n_train, length=length)) for length in lengths)]
        for method in methods_of(records)
    ]
    emphasis = [index for index, row in enumerate(rows) if row[0].startswith("SCP")]
    return Table(["method", *(str(length) for length in lengths)], rows, caption, emphasis)


def compared(records: Sequence[Record], *, n_train: int, length: int) -> str:
    """Methods with their failures, best first; references are left out.

    >>> point = dict(experiment="", n_train=9, length=1, metric="failure", low=None, high=None)
    >>> compared([Record(method="SCP", mean=0.125, **point), Record(method="Random", mean=0.5, **point)], n_train=9, length=1)
    'SCP 12.5 %'
    """
    found = {
        method: mean_of(records, method, n_train=n_train, length=length)
        for method in methods_of(records)
        if method not in REFERENCES
    }
    return ", ".join(f"{method} {per_cent(found[method])} %" for method in sorted(found, key=lambda name: found[name]))


def per_cent(share: float) -> str:
    """With one digit behind the point."""
    return f"{100 * share:.1f}"
