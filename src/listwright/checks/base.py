"""What a check says when a law is broken."""

from __future__ import annotations

from collections.abc import Iterable

TOLERANCE = 1e-9  # of the largest value in sight, or of 1 where all are smaller


class LawBroken(AssertionError):
    """A counterexample was found; the message tells the list and the item.

    Examples
    --------
    >>> print(LawBroken("empty", "An empty list is worth 0.30 in problem q17: it must be worth 0."))
    An empty list is worth 0.30 in problem q17: it must be worth 0.
    """

    def __init__(self, law: str, message: str) -> None:
        super().__init__(law, message)  # both are args, so that the error can go from one process to another
        self.law = law

    def __str__(self) -> str:
        return str(self.args[1])


def apart(*numbers: float) -> tuple[str, ...]:
    """The numbers with as few decimals, from two on, as tell each from the next.

    Examples
    --------
    >>> apart(0.1, 0.14)
    ('0.10', '0.14')
    >>> apart(0.1, 0.1004)
    ('0.1000', '0.1004')
    """
    texts: tuple[str, ...] = ()
    for decimals in range(2, 18):
        texts = tuple(f"{number:.{decimals}f}" for number in numbers)
        if all(texts[i] != texts[i + 1] for i in range(len(texts) - 1)):
            break
    return texts


def listed(names: Iterable[object]) -> str:
    """A list of items as messages write it.

    Examples
    --------
    >>> listed(["a", 3])
    '[a, 3]'
    """
    return "[" + ", ".join(str(name) for name in names) + "]"
