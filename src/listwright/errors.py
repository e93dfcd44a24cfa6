"""The errors that users meet. Each says what is wrong, what was got, and what to do."""

from __future__ import annotations


class InputError(ValueError):
    """An argument, file or table that cannot be used as it is."""


class DataWarning(UserWarning):
    """Data that can be used, but that look like a mistake; the message says what to do about it."""


class UnsavableWarning(UserWarning):
    """A model that is about to learn could not be saved afterwards."""


class MissingExtra(ImportError):
    """An optional package is needed and not installed.

    Examples
    --------
    >>> print(MissingExtra("The picture needs altair.", extra="plots"))
    The picture needs altair. Run: pip install "listwright[plots]"
    """

    def __init__(self, problem: str, extra: str) -> None:
        super().__init__(problem, extra)  # both are args, so that the error can go from one process to another

    def __str__(self) -> str:
        problem, extra = self.args
        return f'{problem} Run: pip install "listwright[{extra}]"'
