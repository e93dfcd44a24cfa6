"""Loading models from files. This module imports every class that a model file may name, and so registers it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import listwright.baselines
import listwright.estimators
import listwright.feedback  # noqa: F401  (these three for what they register)
from listwright.errors import InputError
from listwright.storage import inspect, read_model
from listwright.storage.archive import MOST_BYTES


def load(path: str | Path, *, trusted: Iterable[str] = (), limit: int = MOST_BYTES) -> Any:
    """Read a model from a file. It gives the same lists as before, and can be trained further with `partial_fit`.

    Safe to use on files from others: a file that is damaged, or was made to do harm, is an `InputError`, and no code
    from it is ever run. Classes that are not listwright's own are made only if you trust them, because making them
    imports their modules and so runs the code of these.

    Parameters
    ----------
    path : str or Path
        A file that `save` wrote.
    trusted : list of str
        Names of classes to trust, such as "mypackage.features:Mine". If some are missing, the error lists all names
        that the file needs. Look at them before you pass them on.
    limit : int
        The largest size of the file in bytes.

    Returns
    -------
    SCP, ConSeqOpt, ContextFreeSCP, OnlineSCP or a baseline
        The fitted model. A model that was saved with `slim=True` predicts, but cannot be trained further.

    Raises
    ------
    InputError
        If the file cannot be read, is damaged, has another format version, or needs classes that are not trusted.

    See Also
    --------
    listwright.storage.save : Writes the file, with an example.
    """
    return read_model(path, trusted=trusted, limit=limit)


def load_trusting(path: str | Path, trust: str) -> Any:
    """Return the model in a file, for the command line and the service: `trust` names classes, separated by commas."""
    names = [name.strip() for name in trust.split(",") if name.strip()]
    try:
        return load(path, trusted=names)
    except InputError:
        missing = [name for name in inspect(path)["needs_trust"] if name not in names]
        if not missing:
            raise
        raise InputError(
            f"{path} contains classes from outside listwright, and loading them runs their code. If you trust the "
            f"file and these classes, pass --trust {','.join(missing)}"
        ) from None
