"""The parts of a report: frozen dataclasses that hold content and know nothing of HTML.

A `Report` has `Section`s, and a section has parts: `Table`, `Figure`, `Gallery`, `SideBySide` and `Note`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from listwright.errors import InputError


@dataclass(frozen=True)
class Table:
    """A table of text and numbers; all columns but the first are aligned to the right, and entries are shown as given.

    Attributes
    ----------
    columns : sequence of str
        Headings.
    rows : sequence of sequence
        One entry per column.
    caption : str
        Shown below.
    emphasis : sequence of int
        Rows to set in bold.

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
        """Raises unless every row has one entry per column."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise InputError(f"A row must have one entry per column ({len(self.columns)}). Got {list(row)!r}.")


@dataclass(frozen=True)
class Figure:
    """A chart with a name for its files and a caption.

    Attributes
    ----------
    name : str
        Letters, digits and dashes; the files are <name>.png and <name>.svg.
    chart : altair.Chart or dict
        An altair chart, or a Vega-Lite specification.
    caption : str
        Shown below.
    """

    name: str
    chart: Any
    caption: str = ""

    def __post_init__(self) -> None:
        """Raises unless the name consists of letters, digits and dashes: it becomes a file name and an HTML id."""
        if not self.name.replace("-", "").isalnum():
            raise InputError(f"A figure's name may hold letters, digits and dashes only. Got {self.name!r}.")


@dataclass(frozen=True)
class Gallery:
    """Small figures side by side, as many in a line as fit.

    Attributes
    ----------
    figures : sequence of Figure
        The figures.
    caption : str
        Shown below all of them.
    """

    figures: Sequence[Figure]
    caption: str = ""


@dataclass(frozen=True)
class Pick:
    """An item of a list, and what it adds to the items before it.

    Attributes
    ----------
    title, text : str
        The item.
    adds : str
        What it adds, in words.
    kind : {"new", "repeat", "nothing"}
        "new" where it adds something, "repeat" where an earlier item says the same, "nothing" otherwise.
    """

    title: str
    text: str
    adds: str
    kind: Literal["new", "repeat", "nothing"]


@dataclass(frozen=True)
class PickedList:
    """The list that one method made.

    Attributes
    ----------
    method : str
        Its name.
    picks : sequence of Pick
        The items in order.
    worth : str
        What the list is worth, in words.
    """

    method: str
    picks: Sequence[Pick]
    worth: str


@dataclass(frozen=True)
class SideBySide:
    """The lists of several methods for one problem.

    Attributes
    ----------
    problem : str
        The problem, for example a question.
    note : str
        A remark below it.
    lists : sequence of PickedList
        One per method.
    folded : bool
        Whether the lists are hidden until a click.
    """

    problem: str
    note: str
    lists: Sequence[PickedList]
    folded: bool = False


@dataclass(frozen=True)
class Note:
    """A paragraph that ends in a link.

    Attributes
    ----------
    text : str
        The paragraph.
    link, href : str
        The link's text and target.
    """

    text: str
    link: str
    href: str


Part = Table | Figure | Gallery | SideBySide | Note


@dataclass(frozen=True)
class Section:
    """A heading, a paragraph, and the parts that follow it.

    Attributes
    ----------
    title, text : str
        Heading and paragraph.
    parts : sequence of Table, Figure, Gallery, SideBySide or Note
        What follows, in order.
    """

    title: str
    text: str
    parts: Sequence[Part] = ()


@dataclass(frozen=True)
class Report:
    """A page: its title, the main finding, and its sections.

    Attributes
    ----------
    title : str
        The heading of the page.
    findings : str
        What was found, in one paragraph.
    sections : sequence of Section
        The rest.

    See Also
    --------
    listwright.lab.report.write_report : Writes it with pictures and numbers.

    Examples
    --------
    >>> report = Report("Lists", "SCP fails least.", [Section("Results", "By length.", [Table(["n"], [[1]])])])
    >>> len(report.sections), report.figures
    (1, [])
    """

    title: str
    findings: str
    sections: Sequence[Section] = ()

    @property
    def figures(self) -> list[Figure]:
        """Every figure, in order, those of galleries included; raises an `InputError` if two have the same name."""
        found: list[Figure] = []
        for section in self.sections:
            for part in section.parts:
                found += [part] if isinstance(part, Figure) else part.figures if isinstance(part, Gallery) else []
        names = [figure.name for figure in found]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"Two figures are named {name!r}. Give each its own name.")
        return found
