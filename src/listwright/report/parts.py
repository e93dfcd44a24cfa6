"""The parts of a report: frozen dataclasses that hold content and know nothing of HTML.

A `ReportPage` has `Section`s, and a section has parts: `ReportTable`, `Figure`, `Gallery`, `SideBySide` and `Note`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from listwright.errors import InputError


@dataclass(frozen=True)
class ReportTable:
    """A table of text and numbers; all columns but the first are aligned to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    emphasis: Sequence[int] = ()  # rows to set in bold

    def __post_init__(self) -> None:
        """Raise unless every row has one entry per column."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InputError(f"A row must have one entry per column ({len(self.columns)}). Got {list(row)!r}.")


@dataclass(frozen=True)
class Figure:
    """A chart with a name for its files and a caption."""

    name: str  # letters, digits and dashes; the files are <name>.png and <name>.svg
    chart: Any  # an altair chart, or a Vega-Lite specification
    caption: str = ""  # shown below

    def __post_init__(self) -> None:
        """Raise unless the name consists of letters, digits and dashes: it becomes a file name and an HTML id."""
        if not self.name.replace("-", "").isalnum():
            raise InputError(f"A figure's name may hold letters, digits and dashes only. Got {self.name!r}.")


@dataclass(frozen=True)
class Gallery:
    """Small figures side by side, as many in a line as fit."""

    figures: Sequence[Figure]  # the figures
    caption: str = ""  # shown below all of them


@dataclass(frozen=True)
class PickedItem:
    """An item of a list, and what it adds to the items before it."""

    title: str
    text: str
    adds: str
    kind: Literal["new", "repeat", "nothing"]


@dataclass(frozen=True)
class PickedList:
    """The list that one method made."""

    method: str  # its name
    picks: Sequence[PickedItem]  # the items in order
    worth: str  # what the list is worth, in words


@dataclass(frozen=True)
class SideBySide:
    """The lists of several methods for one problem."""

    problem: str  # the problem, for example a question
    note: str  # a remark below it
    lists: Sequence[PickedList]  # one per method
    folded: bool = False  # whether the lists are hidden until a click


@dataclass(frozen=True)
class Note:
    """A paragraph that ends in a link."""

    text: str  # the paragraph
    link: str  # the link's text and target
    href: str


Part = ReportTable | Figure | Gallery | SideBySide | Note


@dataclass(frozen=True)
class Section:
    """A heading, a paragraph, and the parts that follow it."""

    title: str  # heading and paragraph
    text: str
    parts: Sequence[Part] = ()  # what follows, in order


@dataclass(frozen=True)
class ReportPage:
    """A page: its title, the main finding, and its sections."""

    title: str
    findings: str
    sections: Sequence[Section] = ()

    @property
    def figures(self) -> list[Figure]:
        """Every figure, in order, those of galleries included; raise an `InputError` if two have the same name."""
        figures: list[Figure] = []
        for section in self.sections:
            for part in section.parts:
                figures += [part] if isinstance(part, Figure) else part.figures if isinstance(part, Gallery) else []
        names = [figure.name for figure in figures]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"Two figures are named {name!r}. Give each its own name.")
        return figures
