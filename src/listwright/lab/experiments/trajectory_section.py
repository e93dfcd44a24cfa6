"""What the trajectory experiment found, as a section of a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from listwright.lab.experiments.records import Record
from listwright.lab.experiments.wording import compared, drawn, excess_table, failure_table
from listwright.lab.report import Figure, Section, Table
from listwright.lab.report.charts import Axis, curves

FAILURE = Axis("mean", "failure", ".0%")
SHOWN_LENGTH = 3  # the length that the text and the first chart speak of
FEW = 30  # a small training set that the text speaks of

SETUP = (
    "A robot arm has to reach a target among obstacles. A planner can start from thirty trajectories, and has time for "
    "a few: which ones, in which order? A good list does not repeat a trajectory that fails for the same reason as the "
    "one before. Methods learn from environments where the outcome of every start is known, and list starts for "
    "environments where nothing has been tried. SCP and ConSeqOpt see the paper's features and which of the thirty a "
    "trajectory is, which makes every fixed list one of their choices; beside them, the same with the paper's features "
    "alone, and a regression on the seventeen features, sorted."
)


def section(records: list[Record], *, data: Path | None = None) -> Section:
    """A chart against the training environments, a table, and a chart against the length of the list."""
    sizes = sorted({record["n_train"] for record in records})
    parts: list[Table | Figure] = [
        failure_table(records, n_train=sizes[-1], caption=_failure_caption(sizes[-1])),
        Figure("trajectory-length", _by_length(records), _LENGTH_CAPTION),
    ]
    if len(sizes) > 1:
        parts.insert(0, Figure("trajectory-training", _by_size(records), _SIZE_CAPTION))
        parts.insert(2, _excess(records, _few(sizes)))
    return Section("Robot arm: which starting trajectories to try", SETUP, parts)


def findings(records: Sequence[Record], *, data: Path | None = None) -> str:
    """One paragraph in numbers."""
    sizes = sorted({record["n_train"] for record in records})
    length = min(SHOWN_LENGTH, max(record["length"] for record in records))
    source = "Simulated arm" if data is None else "The paper's trajectory data"
    text = [f"{source}: the share of test environments where none of {length} starting trajectories works."]
    text += [
        f"After {size} training environments: {compared(records, n_train=size, length=length)}."
        for size in sorted({_few(sizes), sizes[-1]})
    ]
    return " ".join(text)


def _few(sizes: Sequence[int]) -> int:
    """The small training set that is looked at closely."""
    return min((size for size in sizes if size >= FEW), default=sizes[-1])


def _excess(records: Sequence[Record], n_train: int) -> Table:
    lengths = [length for length in (1, 3, 5, 8) if length <= max(record["length"] for record in records)]
    return excess_table(records, n_train=n_train, lengths=lengths, caption=_excess_caption(n_train))


def _by_size(records: Sequence[Record]) -> Any:
    shown, looks = drawn(records)
    return curves(
        shown,
        x=Axis("n_train", "training environments", log=True),
        y=FAILURE,
        methods=looks,
        slider=Axis("length", "List length"),
        at=SHOWN_LENGTH,
    )


def _by_length(records: Sequence[Record]) -> Any:
    shown, looks = drawn(records)
    return curves(
        shown,
        x=Axis("length", "list length"),
        y=FAILURE,
        methods=looks,
        slider=Axis("n_train", "Training environments"),
    )


def _failure_caption(n_train: int) -> str:
    return (
        f"Failure in per cent by length of the list, after {n_train} training environments. Oracle knows the outcomes; "
        "environments that no start solves were left out."
    )


def _excess_caption(n_train: int) -> str:
    return (
        f"How much more often a method fails than SCP after {n_train} training environments, in points, with the 95 % "
        "interval of the difference over random subsets, on these test environments."
    )


_SIZE_CAPTION = (
    "Mean over random subsets of the training environments, with the 95 % interval of that mean; the test environments "
    "are the same for all. Slide to another list length; click a name to pick it out."
)
_LENGTH_CAPTION = (
    "The same results against the length of the list. SCP is fitted for lists of 1, 2, 3, 5 and 8; between them, a "
    "list is the beginning of the next longer one. The other methods are fitted once."
)
