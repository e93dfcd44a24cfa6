"""Rewards in one line of text, the same in Python and on the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from listwright.errors import InputError
from listwright.tables.kinds import KINDS, known_rewards
from listwright.tables.table import Table

WEIGHTED = ("coverage", "probabilistic", "sqrt", "log", "share", "sum")
CAPPED = ("share", "sum")
_OWN = re.compile(r"(?P<path>.+\.py):(?P<function>[^\W\d]\w*)")
_CAP = re.compile(r"(?P<columns>.+?)<=\s*(?P<cap>\d+\.?\d*|\.\d+)")
_PATTERN = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class RewardSpec:
    """A reward by kind and what it is made of: columns, a file, or a function in a file."""

    kind: str  # one of KINDS, or "python"
    argument: str
    function: str = ""
    highest: float | None = None  # of graded: the highest grade, where it is not that of the table
    cap: float | None = None  # of sum and share: no list counts for more

    def topics_and_weights(self, table: Table) -> tuple[str, str | None]:
        """The pattern of the topic columns and the column of their weights, which stands behind the last `*`.

        In `topic_*` the star belongs to the pattern; in `topics*weight` it does not, as long as there is such a column.
        """
        topics, star, weight = (part.strip() for part in self.argument.rpartition("*"))
        if self.kind in WEIGHTED and star and weight in table.names and topics:
            return topics, weight
        return self.argument, None

    def columns_of(self, table: Table) -> list[str]:
        """All columns that this reward is made of."""
        if self.kind in ("python", "qrels"):
            return []
        topics, weight = self.topics_and_weights(table)
        return table.matching(topics, "reward") + ([] if weight is None else [weight])

    def read_as_text(self) -> set[str]:
        """Columns of text or names, which a reader must not take for numbers or dates."""
        if self.kind not in ("coverage", "rouge", "rouge2"):
            return set()
        return {name for name in (self.argument, self.argument.rpartition("*")[0].strip()) if not is_pattern(name)}


def parse_reward(spec: str) -> RewardSpec:
    """The reward that a line of text stands for.

    `any:clicked`, `graded:label`, `share:relevant`, `sum:clicks`, `sum:clicks<=3`, `sum:clicked*price`,
    `coverage:topics` (a column of lists) or `coverage:topic_*` (0/1 columns), `coverage:topics*weight` (weights of the
    topics from a second column), `probabilistic:topic_*`, `sqrt:topic_*`, `log:topic_*`, `facility:embedding` (a column
    of lists, or `e_*`), `rouge:text`, `rouge2:text`, `qrels:file`, and `file.py:function` for one's own
    `f(problem, items)`; the file is run.

    Examples
    --------
    >>> parse_reward("coverage:topic_*")
    RewardSpec(kind='coverage', argument='topic_*', function='', highest=None, cap=None)
    >>> parse_reward("mine.py:worth")
    RewardSpec(kind='python', argument='mine.py', function='worth', highest=None, cap=None)
    """
    own = _OWN.fullmatch(spec.strip())
    if own is not None:
        return RewardSpec("python", own["path"], own["function"])
    kind, colon, argument = (part.strip() for part in spec.partition(":"))
    if kind not in KINDS:
        near = get_close_matches(kind, KINDS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(f"Unknown reward {spec!r}.{hint} Known are:\n{known_rewards()}")
    if not colon or not argument:
        raise InputError(f"Reward {spec!r} names no column. Write {KINDS[kind].form}.")
    if kind in CAPPED and (capped := _CAP.fullmatch(argument)):
        return RewardSpec(kind, capped["columns"].strip(), cap=float(capped["cap"]))
    return RewardSpec(kind, argument)


def is_pattern(name: str) -> bool:
    """Whether a name stands for several columns."""
    return _PATTERN.search(name) is not None
