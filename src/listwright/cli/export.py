"""`listwright export`: write what a service has stored as a log in Parquet, for `fit --log` and `evaluate --log`.

The log has lists, propensities and feedback. The store may be in use meanwhile. Together with `fit`, `evaluate` and the
service, this closes the loop: show lists, export the log, learn a new model, estimate its value, deploy it.

Typical use::

    listwright export sqlite:///lists.db -o log.parquet
    listwright fit --log log.parquet --length 3 -o next.listwright
    listwright evaluate next.listwright --log log.parquet
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from listwright.cli import options as given
from listwright.cli.show import progress, show_json
from listwright.cli.sources import STANDARD, check_place
from listwright.errors import InputError


def export(
    store: Annotated[
        str,
        typer.Argument(
            metavar="STORE",
            help="What `listwright serve --store` names: sqlite:///FILE, postgresql://USER@HOST/DATABASE, or the path "
            "of an SQLite file.",
        ),
    ],
    out: Annotated[str, typer.Option("-o", "--out", help="Parquet file to write.")],
    version: Annotated[int | None, typer.Option(min=1, help="Export only the lists of this model version.")] = None,
    cascade: Annotated[bool, typer.Option("--cascade", help="Users stop looking at the first click.")] = False,
    as_json: given.AsJson = False,
) -> None:
    """Export the lists, propensities and feedback that a service stored as a log for `fit --log` and `evaluate --log`.
    The service may keep running. A password that is not in the address is taken from LISTWRIGHT_STORE_PASSWORD."""
    if out == STANDARD:
        raise InputError("A log is written to a file. Name one with --out.")
    check_place(out, store.removeprefix("sqlite:///"))
    from listwright.serve.export import export as exported  # only here: it takes packages of the service

    with progress("exporting"):
        password = os.environ.get("LISTWRIGHT_STORE_PASSWORD")
        count = exported(store, out, version=version, cascade=cascade, password=password)
    if as_json:
        show_json({"lists": count, "log": out})
    else:
        print(f"Wrote {count:,} lists to {out}.")
