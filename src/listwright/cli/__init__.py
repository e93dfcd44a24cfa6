"""The command line: thin over the library, and quick to answer."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from listwright.errors import InputError, MissingExtra


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Exit codes: 0 fine, 1 the input is wrong, 2 the command is.

    A wrong input is told in one message, without a traceback.
    """
    try:
        _app()(args=None if arguments is None else list(arguments), prog_name="listwright")
    except (InputError, MissingExtra) as error:
        print(f"Error: {_as_options(str(error))}", file=sys.stderr)
        sys.exit(1)


def _as_options(message: str) -> str:
    """What to pass, as the command line writes it.

    >>> _as_options("Problem q17 has 4 candidates but length=5. Pass short_lists=True to accept shorter lists.")
    'Problem q17 has 4 candidates but length=5. Pass --short-lists to accept shorter lists.'
    """
    return message.replace("short_lists=True", "--short-lists")


def _app() -> Any:
    """The commands; typer may not be there."""
    try:
        from listwright.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("rich", "typer"):
            raise
        raise MissingExtra(f"The command line needs {error.name}.", extra="cli") from None
    return app
