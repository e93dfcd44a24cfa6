"""The errors and warnings of listwright. Each message says what is wrong, what was received, and what to do."""

from __future__ import annotations


class InputError(ValueError):
    """An argument, file or table that cannot be used as it is.

    All functions of listwright raise it for wrong input, before they change or write anything. It is a `ValueError`, so
    code that expects those keeps working.

    See Also
    --------
    MissingExtra : An optional package is not installed.
    DataWarning : Data that can be used but look like a mistake.

    Examples
    --------
    >>> import listwright as lw
    >>> try:
    ...     lw.SCP(length=0).fit(lw.Problems.from_arrays([[1.0], [2.0]], offsets=[0, 2]))
    ... except InputError as error:
    ...     print(type(error).__mro__[1].__name__)
    ValueError
    """


class Notice(UserWarning):
    """Base of the warnings that the command line prints as notes: what a user should know, but need not act on."""


class DataWarning(Notice):
    """Data that can be used but look like a mistake. The message says what to do about it.

    Turn it into an error in tests and pipelines, so that a change in the data does not go unnoticed.

    See Also
    --------
    InputError : Data that cannot be used.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", DataWarning)
    """


class UnsavableWarning(UserWarning):
    """A model is about to be trained that could not be saved afterwards.

    It is shown before training starts, so that no time is lost. The message names the part that cannot be saved, such
    as a lambda or a class defined in a notebook.

    See Also
    --------
    listwright.storage.save : Says what a file can hold.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", UnsavableWarning)  # nothing is trained that cannot be saved
    """


class BrokenExtraWarning(Notice):
    """An optional package is installed but cannot be imported, such as LightGBM where libgomp is missing.

    It counts as absent. The message says why it cannot be imported, and what is used instead.

    See Also
    --------
    MissingExtra : Nothing can take the place of a package that is missing.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", BrokenExtraWarning)  # a deployment that needs its LightGBM
    """


class MissingExtra(ImportError):
    """An optional package is needed that cannot be imported. The message ends with the command that installs it.

    It is an `ImportError`, so `pytest.importorskip` and similar tools treat it as a missing package.

    Parameters
    ----------
    problem : str
        What needs which package.
    extra : str
        The extra of listwright that installs it.

    See Also
    --------
    InputError : Wrong arguments, files and tables.

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
