"""The commands. Each has a file of its own, which imports the library only when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from listwright import __version__
from listwright.cli.demo import demo
from listwright.cli.reproduce import reproduce

app = typer.Typer(
    name="listwright",
    help="Learn to build lists that are relevant and not redundant.",
    epilog="Example: listwright demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"listwright {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options that stand before a command."""


app.command(epilog="Example: listwright demo --out report.html")(demo)
app.command(epilog="Example: listwright reproduce trajectory --seeds 10 --jobs 2 --out report")(reproduce)
