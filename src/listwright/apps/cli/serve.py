"""`listwright serve`: lists over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    model: Annotated[Path | None, typer.Argument(metavar="MODEL", help="File that `listwright fit` wrote.")] = None,
    store: Annotated[
        str, typer.Option(help="Where lists and feedback are kept: sqlite:///FILE or postgresql://USER@HOST/DATABASE.")
    ] = "sqlite:///listwright.db",
    learn: Annotated[bool, typer.Option("--learn", help="Learn from feedback; otherwise it is only stored.")] = False,
    explore: Annotated[str, typer.Option(help="With --learn: how to explore, igw or epsilon.")] = "igw",
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is explored.")] = 0,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than this machine's need --keys.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8000,
    keys: Annotated[Path | None, typer.Option(help="File of hashed keys; with it every request needs one.")] = None,
    new_key: Annotated[
        str | None, typer.Option(metavar="ROLE", help="Make a key (lists, feedback or admin), add it to --keys, end.")
    ] = None,
    keep_days: Annotated[float | None, typer.Option(help="Delete lists and feedback that are older.")] = None,
) -> None:
    """Serve lists over HTTP, store feedback so that none is lost, and learn from it. The API is told at /docs."""
    from listwright.apps import serve as service  # only here: it takes packages that other commands do without

    if new_key is not None:
        if keys is None:
            raise typer.BadParameter("--new-key needs --keys FILE.", param_hint="--keys")
        print(service.new_key(new_key, keys))
        return
    if model is None:
        raise typer.BadParameter("give the model to serve.", param_hint="MODEL")
    service.serve(
        service.Settings(model, store, learn, explore, seed, host=host, port=port, keys=keys, keep_days=keep_days)
    )
