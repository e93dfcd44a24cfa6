"""The error that checks raise, and how they format numbers."""

from __future__ import annotations

from collections.abc import Iterable

TOLERANCE = 1e-9  # relative to the largest number compared, or to 1 if all are smaller


class LawBroken(AssertionError):
    """A check found a counterexample; the message names the list and the item.

    It is an `AssertionError`, so a check can stand alone in a test.

    Parameters
    ----------
    law : str
        Short name of the law, such as "monotone".
    message : str
        The counterexample.

    Attributes
    ----------
    law : str
        Short name of the law.

    See Also
    --------
    check_reward, check_features, check_learner : The checks that raise it.

    Examples
    --------
    >>> print(LawBroken("empty", "An empty list is worth 0.30 in problem q17: it must be worth 0."))
    An empty list is worth 0.30 in problem q17: it must be worth 0.
    """

    def __init__(self, law: str, message: str) -> None:
        super().__init__(law, message)  # both in args, so that the error survives pickling between processes
        self.law = law

    def __str__(self) -> str:
        return str(self.args[1])


def apart(*numbers: float) -> tuple[str, ...]:
    """Format numbers with as few decimals, at least two, as distinguish each from the next."""
    texts: tuple[str, ...] = ()
    for decimals in range(2, 18):
        texts = tuple(f"{number:.{decimals}f}" for number in numbers)
        if all(texts[i] != texts[i + 1] for i in range(len(texts) - 1)):
            break
    return texts


def listed(names: Iterable[object]) -> str:
    """Format the items of a list for messages."""
    return "[" + ", ".join(str(name) for name in names) + "]"
