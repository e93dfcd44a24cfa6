"""The command line interface, a thin layer over the library; `main` is the entry point of the `listwright` script.

Commands follow the same rules: bad options and places to write to are refused before any work is done, files are
written completely or not at all, results go to standard output and everything else to standard error, and `--json`
prints one JSON value for programs.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from listwright._internal.extras import as_missing
from listwright.cli.show import as_options
from listwright.errors import InputError, MissingExtra

UNREAD = 141  # 128 + SIGPIPE, as shells report it


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command of the command line.

    Input errors are printed as one message without a traceback, with Python parameters rewritten as options. Ends in
    `SystemExit`: 0 for success, 1 for wrong input or a failing file system, 2 for wrong usage, 141 for a closed pipe.
    """
    if arguments is None:  # the process is this command: imports alone make a million objects, all of which stay
        gc.set_threshold(50_000)
        atexit.register(gc.freeze)
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
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):  # typer makes 1 of it
            raise
        _print_no_more()
        sys.exit(UNREAD)
    except OSError as error:
        print(f"Error: {error.strerror or error}.", file=sys.stderr)
        _print_no_more()
        sys.exit(1)


def _open_streams() -> None:
    """Connect standard streams that the caller has closed to the null device."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            if name != "stdin":  # commands tell from it that there is nothing to read
                setattr(sys, name, os.fdopen(number, "w", closefd=False))


def _print_no_more() -> None:
    """Redirect standard output to the null device, so that Python does not try to flush it again at exit and fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _app() -> Any:
    try:
        from listwright.cli.app import app
    except (ImportError, OSError) as error:
        raise as_missing(error, "The command line", extra="cli") from None
    return app
