"""The command line: thin over the library, and quick to answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from listwright.apps.cli.show import as_options
from listwright.errors import InputError, MissingExtra

UNREAD = 141  # 128 + SIGPIPE, as shells report it


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Exit codes: 0 fine, 1 the input is wrong, 2 the command is.

    A wrong input is told in one message, without a traceback. Nothing is said where nobody reads on, as in `| head`.
    """
    _open_streams()
    try:
        try:
            _app()(args=None if arguments is None else list(arguments), prog_name="listwright")
        finally:
            sys.stdout.flush()
    except (InputError, MissingExtra) as error:
        print(f"Error: {as_options(str(error))}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        _print_no_more()
        sys.exit(UNREAD)
    except OSError as error:
        print(f"Error: {error.strerror or error}.", file=sys.stderr)
        _print_no_more()
        sys.exit(1)


def _open_streams() -> None:
    """Standard streams that the caller has closed lead nowhere, so that no file that is opened takes their place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            if name != "stdin":  # commands tell from it that there is nothing to read
                setattr(sys, name, os.fdopen(number, "w", closefd=False))


def _print_no_more() -> None:
    """What could not be printed must not be tried again when Python ends, which would end in a traceback."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _app() -> Any:
    """The commands; typer may not be there."""
    try:
        from listwright.apps.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("rich", "typer"):
            raise
        raise MissingExtra(f"The command line needs {error.name}.", extra="cli") from None
    return app
