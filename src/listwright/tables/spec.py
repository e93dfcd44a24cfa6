"""Parse reward strings such as `"coverage:topic_*"`, the same in Python and on the command line.

`parse_reward` checks the syntax only. Column names are resolved later, when a table is known: `RewardSpec.columns_of`
tells which columns belong to the reward, so that they are not used as features, and `listwright.tables.rewards` builds
the reward object.
"""

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
    """A parsed reward string: the kind of reward and the columns, file or function that it is computed from."""

    kind: str  # one of KINDS, or "python"
    # the column, pattern of columns or file that stands after the colon; the path of the file for "python"
    argument: str
    function: str = ""  # name of the function for "python", otherwise empty
    highest: float | None = None  # of graded: the highest grade, where it is not that of the table
    cap: float | None = None  # of sum and share: no list counts for more

    def topics_and_weights(self, table: Table) -> tuple[str, str | None]:
        """Split the argument into the pattern of the topic columns and the column of their weights, or None without
        weights.
        """
        topics, star, weight = (part.strip() for part in self.argument.rpartition("*"))
        if self.kind in WEIGHTED and star and weight in table.names and topics:
            return topics, weight
        return self.argument, None

    def columns_of(self, table: Table) -> list[str]:
        """All columns of `table` that the reward is computed from, weights included."""
        # They are not features unless named explicitly.
        if self.kind in ("python", "qrels"):
            return []
        topics, weight = self.topics_and_weights(table)
        return table.matching(topics, "reward") + ([] if weight is None else [weight])

    def read_as_text(self) -> set[str]:
        """Columns that must be read as text, even if every value looks like a number or a date."""
        # File readers need this before they parse: topic names such as "007" would otherwise lose their zeros.
        if self.kind not in ("coverage", "rouge", "rouge2"):
            return set()
        return {name for name in (self.argument, self.argument.rpartition("*")[0].strip()) if not is_pattern(name)}


def parse_reward(spec: str) -> RewardSpec:
    """Return the reward that a line of text stands for."""
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
    """Return whether a name contains a wildcard (`*`, `?` or `[`), and so may stand for several columns."""
    return _PATTERN.search(name) is not None
