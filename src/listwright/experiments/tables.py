"""Records as tables, chart data and words: what the sections of reports share."""

from __future__ import annotations

from collections.abc import Sequence

from listwright.experiments.records import EXCESS, FAILURE, PAIRED_WITH, Record, methods_of, point
from listwright.report import Table
from listwright.report.charts import Look, looks

REFERENCES = ("Random", "Oracle")  # no rivals: what no knowledge and all knowledge give
DRAWN = ("SCP", "ConSeqOpt", "Regression", "Static list", "SCP, paper's features", "Random", "Oracle")


def drawn(records: Sequence[Record]) -> tuple[list[Record], dict[str, Look]]:
    """Return the records that charts show, and how each method is drawn, with the same colour in all charts."""
    # Random lists, and an oracle that never fails, are left out, as they would squeeze the other curves together.
    known = looks(DRAWN, dashed=REFERENCES)
    failing = [record for record in records if record["metric"] == FAILURE]
    perfect = not any(record["mean"] for record in failing if record["method"] == "Oracle")
    hidden = REFERENCES if perfect else ("Random",)
    kept = [record for record in failing if record["method"] in known and record["method"] not in hidden]
    present = methods_of(kept)
    return kept, {name: known[name] for name in known if name in present}


def failure_table(records: Sequence[Record], methods: Sequence[str], *, n_train: int, caption: str) -> Table:
    """Return failure in per cent, with one row per method and one column per length; SCP is in bold."""
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
    """Return how many points more often each method fails than SCP."""
    rows = [
        [method, *(points(point(records, method, n_train=n_train, length=one, metric=EXCESS)) for one in lengths)]
        for method in methods
        if method not in (*REFERENCES, PAIRED_WITH)
    ]
    return Table(["method", *(f"length {length}" for length in lengths)], rows, caption)


def compared(records: Sequence[Record], methods: Sequence[str], *, n_train: int, length: int) -> str:
    """Return methods with their failures in words, best first; references are left out."""
    found = {
        method: point(records, method, n_train=n_train, length=length)["mean"]
        for method in methods
        if method not in REFERENCES
    }
    return ", ".join(f"{name} {per_cent(found[name])}%" for name in sorted(found, key=lambda name: found[name]))


def lengths_of(records: Sequence[Record]) -> list[int]:
    """Return the lengths at which failure was measured, in ascending order."""
    return sorted({record["length"] for record in records if record["metric"] == FAILURE})


def per_cent(share: float) -> str:
    """Return a share in per cent, with one decimal."""
    return f"{100 * share:.1f}"


def points(record: Record) -> str:
    """Return a difference in percentage points, with half the width of its interval where there is one."""
    mean = f"{100 * record['mean']:+.1f}"
    if record["low"] is None or record["high"] is None:
        return mean
    return f"{mean} ± {50 * (record['high'] - record['low']):.1f}"
