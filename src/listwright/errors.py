"""The errors and warnings of listwright. Each message says what is wrong, what was received, and what to do."""

from __future__ import annotations


class InputError(ValueError):
    """An argument, file or table that cannot be used as it is.

    All functions of listwright raise it for wrong input, before they change or write anything. It is a `ValueError`, so
    code that expects those keeps working.

    Examples
    --------
    >>> import listwright as lw
    >>> try:
    ...     lw.Problems.from_arrays([[1.0], [2.0]])
    ... except InputError as error:
    ...     print("cannot use these arrays")
    cannot use these arrays
    """


class DataWarning(UserWarning):
    """Data that can be used but look like a mistake. The message says what to do about it."""


class UnsavableWarning(UserWarning):
    """A model is about to be trained that could not be saved afterwards."""


class MissingExtra(ImportError):
    """An optional package is needed that is not installed. The message ends with the command that installs it.

    Parameters
    ----------
    problem : str
        What needs which package.
    extra : str
        The extra of listwright that installs it.

    Examples
    --------
    >>> print(MissingExtra("The picture needs altair.", extra="plots"))
    The picture needs altair. Run: pip install "listwright[plots]"
    """

    def __init__(self, problem: str, extra: str) -> None:
        super().__init__(problem, extra)  # both in args, so that the error survives pickling between processes

    def __str__(self) -> str:
        problem, extra = self.args
        return f'{problem} Run: pip install "listwright[{extra}]"'
