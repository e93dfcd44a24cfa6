"""`listwright backup`: copy the store of a service (SQLite or PostgreSQL) to one file, and restore it.

The backup is an SQLite file. It can be restored to an empty store of either kind, which also serves to move a service
from SQLite to PostgreSQL. A password that the address lacks is taken from LISTWRIGHT_STORE_PASSWORD.

Typical use::

    listwright backup sqlite:///lists.db -o backup.db
    listwright backup postgresql://user@host/lists --restore backup.db
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from listwright.serve import import_part


def backup(
    store: Annotated[
        str,
        typer.Argument(metavar="STORE", help="sqlite:///FILE or postgresql://USER@HOST/DATABASE, also while served."),
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write; it must not exist yet.")] = None,
    restore: Annotated[Path | None, typer.Option(help="Restore this backup into STORE, which must be empty.")] = None,
) -> None:
    """Back up the store of a service to one file, or restore such a backup into an empty store."""
    files = import_part("store.backup")
    if (out is None) == (restore is None):
        raise typer.BadParameter("give either --out FILE or --restore FILE.", param_hint="--out")
    password = os.environ.get("LISTWRIGHT_STORE_PASSWORD")
    if restore is not None:
        found = files.restore(restore, store, password=password)
    else:
        assert out is not None
        found = files.back_up(store, out, password=password)
    told = f"{found['lw_lists']:,} lists, {found['lw_feedback']:,} feedbacks and {found['lw_models']:,} models"
    print(f"{'Restored' if restore else 'Backed up'} {told}.", file=sys.stderr)
