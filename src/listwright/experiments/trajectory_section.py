"""What the trajectory experiment found, as a section of a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from listwright.experiments.records import Record
from listwright.experiments.wording import compared, failure_table, method_looks
from listwright.report import Figure, Section, Table
from listwright.report.charts import Axis, curves

FAILURE = Axis("mean", "failure", ".0%")
SHOWN_LENGTH = 3  # the length that the text and the first chart speak of
FEW = 30  # a small training set that the text speaks of


def section(records: list[Record], *, data: Path | None = None) -> Section:
    """A chart against the training environments, a table, and a chart against the length of the list."""
    sizes = sorted({record["n_train"] for record in records})
    most = failure_table(records, n_train=sizes[-1], caption=_table_caption(sizes[-1]))
    parts: list[Table | Figure] = [most, Figure("trajectory-length", _by_length(records), _LENGTH_CAPTION)]
    if len(sizes) > 1:
        parts.insert(0, Figure("trajectory-training", _by_size(records), _SIZE_CAPTION))
    return Section("Robot arm: which starting trajectories to try", findings(records, data=data), parts)


def findings(records: Sequence[Record], *, data: Path | None = None) -> str:
    """One paragraph in numbers."""
    sizes = sorted({record["n_train"] for record in records})
    length = min(SHOWN_LENGTH, max(record["length"] for record in records))
    source = "Simulated arm" if data is None else "The paper's trajectory data"
    text = [f"{source}: the share of test environments where none of {length} starting trajectories works."]
    few = [size for size in sizes if size >= FEW and size < sizes[-1]][:1]
    for size in (*few, sizes[-1]):
        text.append(f"After {size} training environments: {compared(records, n_train=size, length=length)}.")
    return " ".join(text)


def _by_size(records: Sequence[Record]) -> Any:
    return curves(
        records,
        x=Axis("n_train", "training environments", log=True),
        y=FAILURE,
        methods=method_looks(records),
        slider=Axis("length", "List length"),
        at=SHOWN_LENGTH,
    )


def _by_length(records: Sequence[Record]) -> Any:
    return curves(
        records,
        x=Axis("length", "list length"),
        y=FAILURE,
        methods=method_looks(records),
        slider=Axis("n_train", "Training environments"),
    )


def _table_caption(n_train: int) -> str:
    return f"Failure in per cent by length of the list, after {n_train} training environments."


_SIZE_CAPTION = (
    "Mean over random subsets of the training environments, with the 95 % interval of that mean; the test environments "
    "are the same for all. Oracle knows the outcomes. Slide to another list length; click a name to pick it out."
)
_LENGTH_CAPTION = (
    "The same results against the length of the list. Each method is fitted once for the longest list; shorter lists "
    "are its beginnings."
)
