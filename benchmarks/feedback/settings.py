"""The settings of the check of off-policy estimates: fixed before the first run, and all of them reported.

Two orthogonal arrays of nine settings: within each, every list length meets every kind of logging policy once, and the
same holds for any two of the four factors.
"""

from __future__ import annotations

from dataclasses import dataclass

LENGTHS = (1, 3, 5)
LOGGERS = ("uniform", "epsilon", "softmax")
CANDIDATES = (10, 100, 1000)
CLICKS = ("any", "cascade", "position")

LOGS = 40  # logs per setting; `--logs 500` tells coverage to within two points, and takes hours
LISTS = 2000  # lists per log; half as many of 1,000 candidates
POPULATION = 6000  # visitors that logs are drawn from; fewer of 1,000 candidates
EPSILON, TEMPERATURE = 0.3, 0.15  # of the policies that explore
OLD, NEW = 60, 400  # problems that the old and the new policy have learned from


@dataclass(frozen=True)
class Setting:
    """One cell of the check."""

    length: int
    logger: str
    candidates: int
    clicks: str

    @property
    def name(self) -> str:
        """Short, for tables and seeds."""
        return f"{self.length} of {self.candidates:,}, {self.logger}, {self.clicks}"

    @property
    def n_lists(self) -> int:
        """Lists per log."""
        return LISTS if self.candidates < 1000 else LISTS // 2


def settings() -> list[Setting]:
    """All eighteen."""
    every = []
    for shift in (0, 1):
        for i, length in enumerate(LENGTHS):
            for j, logger in enumerate(LOGGERS):
                candidates = CANDIDATES[(i + j + shift) % 3]
                clicks = CLICKS[(i + 2 * j + shift) % 3]
                every.append(Setting(length, logger, candidates, clicks))
    return every
