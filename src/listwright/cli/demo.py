"""`listwright demo`: the library at work in half a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from listwright.cli.show import progress, show_json, show_section, show_text

NEXT = """\
Open {page} in a browser: charts, and pictures of the arm.

Try next:
  listwright reproduce trajectory      the whole experiment, with more training sets
  listwright reproduce news            recommend news to readers
  listwright reproduce summaries       summarise reports
  listwright summarize FOLDER          summarise text files of your own
  python -c "import listwright as lw; help(lw.SCP)"    learn lists from data of your own
"""


def demo(
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("report.html"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False,
) -> None:
    """Learn to list starting trajectories for a robot arm, compare with other ways, and write a page with pictures."""
    from listwright.experiments import demo as experiment
    from listwright.report import write_page

    with progress("learning") as tick:
        records = experiment.run(tick=tick)
    report = experiment.report(records)
    page = write_page(report, out)
    if as_json:
        show_json(records)
        return
    show_section(report.sections[0])
    show_text(report.findings)
    print("\n" + NEXT.format(page=page), end="")
