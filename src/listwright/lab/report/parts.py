"""What a report is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from listwright.errors import InputError


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers; numbers are set to the right, as they are given.

    Examples
    --------
    >>> Table(["method", "failure"], [["SCP", "4.2 %"]]).rows[0][1]
    '4.2 %'
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    emphasis: Sequence[int] = ()  # rows to set in bold

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InputError(f"A row must have one entry per column ({len(self.columns)}). Got {list(row)!r}.")


@dataclass(frozen=True)
class Figure:
    """A chart with a name for its files and a caption.

    Parameters
    ----------
    name : str
        Letters, digits and dashes; the files are <name>.png and <name>.svg.
    chart
        An altair chart, or a Vega-Lite specification.
    """

    name: str
    chart: Any
    caption: str = ""

    def __post_init__(self) -> None:
        if not self.name.replace("-", "").isalnum():
            raise InputError(f"A figure's name may hold letters, digits and dashes only. Got {self.name!r}.")


@dataclass(frozen=True)
class Gallery:
    """Small figures side by side, as many in a line as fit."""

    figures: Sequence[Figure]
    caption: str = ""


@dataclass(frozen=True)
class Pick:
    """An item of a list: its title and text, and what it adds to the items before it.

    `kind` is "new" where it adds something, "repeat" where an item before has told the same, "nothing" otherwise.
    """

    title: str
    text: str
    adds: str
    kind: Literal["new", "repeat", "nothing"]


@dataclass(frozen=True)
class PickedList:
    """The list that one method made, and what it is worth."""

    method: str
    picks: Sequence[Pick]
    worth: str


@dataclass(frozen=True)
class SideBySide:
    """The lists of several methods for one problem; those that are folded open with a click."""

    problem: str
    note: str
    lists: Sequence[PickedList]
    folded: bool = False


@dataclass(frozen=True)
class Note:
    """A paragraph that ends in a link."""

    text: str
    link: str
    href: str


Part = Table | Figure | Gallery | SideBySide | Note


@dataclass(frozen=True)
class Section:
    """A heading, a paragraph, and what it shows."""

    title: str
    text: str
    parts: Sequence[Part] = ()


@dataclass(frozen=True)
class Report:
    """A page: its title, what was found in one paragraph, and its sections."""

    title: str
    findings: str
    sections: Sequence[Section] = ()

    @property
    def figures(self) -> list[Figure]:
        """Every figure, in order. Names must differ."""
        found: list[Figure] = []
        for section in self.sections:
            for part in section.parts:
                found += [part] if isinstance(part, Figure) else part.figures if isinstance(part, Gallery) else []
        names = [figure.name for figure in found]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"Two figures are named {name!r}. Give each its own name.")
        return found
