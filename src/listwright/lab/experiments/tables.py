"""Records as tables, chart data and words: what the sections of reports share."""

from __future__ import annotations

from collections.abc import Sequence

from listwright.lab.experiments.records import EXCESS, FAILURE, PAIRED_WITH, Record, methods_of, point
from listwright.lab.report import Table
from listwright.lab.report.charts import Look, looks

REFERENCES = ("Random", "Oracle")  # no rivals: what no knowledge and all knowledge give
DRAWN = ("SCP", "ConSeqOpt", "Regression", "Static list", "SCP, paper's features", "Random", "Oracle")


def drawn(records: Sequence[Record]) -> tuple[list[Record], dict[str, Look]]:
    """Returns the records that charts show, and how each method is drawn, with the same colour in all charts.

    Random lists, and an oracle that never fails, are left out, as they would squeeze the other curves together.
    """
    known = looks(DRAWN, dashed=REFERENCES)
    failing = [record for record in records if record["metric"] == FAILURE]
    perfect = not any(record["mean"] for record in failing if record["method"] == "Oracle")
    hidden = REFERENCES if perfect else ("Random",)
    kept = [record for record in failing if record["method"] in known and record["method"] not in hidden]
    present = methods_of(kept)
    return kept, {name: known[name] for name in known if name in present}


def failure_table(records: Sequence[Record], methods: Sequence[str], *, n_train: int, caption: str) -> Table:
    """Returns failure in per cent, with one row per method and one column per length; SCP is in bold.

    Parameters
    ----------
    records : sequence of Record
        Records with the metric `FAILURE`.
    methods : sequence of str
        Rows.
    n_train : int
        The training size to show.
    caption : str
        Shown below the table.
    """
    lengths = lengths_of(records)
    rows = [
        [method, *(per_cent(point(records, method, n_train=n_train, length=length)["mean"]) for length in lengths)]
        for method in methods
    ]
    emphasis = [index for index, row in enumerate(rows) if row[0].startswith("SCP")]
    return Table(["method", *(str(length) for length in lengths)], rows, caption, emphasis)


def excess_table(
    records: Sequence[Record], methods: Sequence[str], *, n_train: int, lengths: Sequence[int], caption: str
) -> Table:
    """Returns how many points more often each method fails than SCP.

    Parameters
    ----------
    records : sequence of Record
        Records with the metric `EXCESS`.
    methods : sequence of str
        Rows; SCP itself and the references are skipped.
    n_train : int
        The training size to show.
    lengths : sequence of int
        Columns.
    caption : str
        Shown below the table.

    Returns
    -------
    Table
        Differences with the 95 % interval of the paired difference.
    """
    rows = [
        [method, *(points(point(records, method, n_train=n_train, length=one, metric=EXCESS)) for one in lengths)]
        for method in methods
        if method not in (*REFERENCES, PAIRED_WITH)
    ]
    return Table(["method", *(f"length {length}" for length in lengths)], rows, caption)


def compared(records: Sequence[Record], methods: Sequence[str], *, n_train: int, length: int) -> str:
    """Returns methods with their failures in words, best first; references are left out.

    Parameters
    ----------
    records : sequence of Record
        Records with the metric `FAILURE`.
    methods : sequence of str
        The methods to name.
    n_train, length : int
        The point to compare them at.

    Examples
    --------
    >>> at = dict(experiment="", n_train=9, length=1, metric="failure", low=None, high=None)
    >>> records = [Record(method="SCP", mean=0.125, **at), Record(method="Random", mean=0.5, **at)]
    >>> compared(records, ["SCP", "Random"], n_train=9, length=1)
    'SCP 12.5%'
    """
    found = {
        method: point(records, method, n_train=n_train, length=length)["mean"]
        for method in methods
        if method not in REFERENCES
    }
    return ", ".join(f"{name} {per_cent(found[name])}%" for name in sorted(found, key=lambda name: found[name]))


def lengths_of(records: Sequence[Record]) -> list[int]:
    """Returns the lengths at which failure was measured, in ascending order."""
    return sorted({record["length"] for record in records if record["metric"] == FAILURE})


def per_cent(share: float) -> str:
    """Returns a share in per cent, with one decimal."""
    return f"{100 * share:.1f}"


def points(record: Record) -> str:
    """Returns a difference in percentage points, with half the width of its interval where there is one."""
    mean = f"{100 * record['mean']:+.1f}"
    if record["low"] is None or record["high"] is None:
        return mean
    return f"{mean} ± {50 * (record['high'] - record['low']):.1f}"
