"""The `listwright` command with all its subcommands.

Each subcommand is a function in a module of its own, whose signature gives the options and whose docstring is the help
text. These modules import only typer and light helpers at the top; the library itself is imported inside the functions,
so that `--help` and wrong options are answered without loading NumPy, Arrow and Numba. To add a command, write its
module and register it here with an example as epilog; docs/pages.py makes the documentation from both.
"""

from __future__ import annotations

from typing import Annotated

import typer

from listwright import __version__
from listwright.cli.backup import backup
from listwright.cli.check import check
from listwright.cli.compare import compare
from listwright.cli.demo import demo
from listwright.cli.evaluate import evaluate
from listwright.cli.explain import explain
from listwright.cli.export import export
from listwright.cli.fit import fit
from listwright.cli.inspect import inspect
from listwright.cli.pack import pack
from listwright.cli.predict import predict
from listwright.cli.reproduce import reproduce
from listwright.cli.select import select
from listwright.cli.serve import serve
from listwright.cli.summarize import summarize
from listwright.cli.warmup import warmup

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
    """Callback of `--version`: prints the version and ends the command before a subcommand is required."""
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
app.command(epilog="Example: listwright check past.csv --reward any:clicked")(check)
app.command(epilog="Example: listwright fit past.csv --reward any:clicked --length 3 -o model.listwright")(fit)
app.command(epilog="Example: listwright predict model.listwright new.csv -o lists.csv --explain")(predict)
app.command(epilog="Example: listwright evaluate model.listwright held_out.csv")(evaluate)
app.command(epilog="Example: listwright explain model.listwright new.csv --problem q17")(explain)
app.command(epilog="Example: listwright compare past.csv --reward any:clicked --lengths 1,3,5")(compare)
app.command(epilog="Example: listwright inspect model.listwright held_out.csv -o model.html")(inspect)
app.command(epilog="Example: listwright reproduce trajectory --seeds 10 --jobs 2 --out report")(reproduce)
app.command(epilog="Example: listwright summarize reports/ --budget 665b --explain")(summarize)
app.command(epilog="Example: listwright pack questions.jsonl --budget 2000 -o packed.jsonl")(pack)
app.command(epilog="Example: listwright select vectors.parquet -k 1000 -o rows.csv")(select)
app.command(epilog="Example: listwright serve model.listwright --learn")(serve)
app.command(epilog="Example: listwright backup sqlite:///lists.db -o backup.db")(backup)
app.command(epilog="Example: listwright export listwright.db -o log.parquet")(export)
app.command(epilog="Example: listwright warmup")(warmup)
