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
    """A parsed reward string: the kind of reward and the columns, file or function that it is computed from.

    Made by `parse_reward`. It holds no data, so one spec serves training tables, test tables and every block of a scan.

    Attributes
    ----------
    kind : str
        One of the keys of `KINDS`, or "python" for a function in a file.
    argument : str
        The column, pattern of columns or file that stands after the colon; the path of the file for "python".
    function : str
        Name of the function for "python", otherwise empty.
    highest : float or None
        For "graded": the highest possible grade. None takes the highest grade of the table; a scan sets it, because no
        single block of rows need contain the highest grade.
    cap : float or None
        For "sum" and "share": the largest total that a list can be credited with.

    See Also
    --------
    parse_reward : Makes a spec from text.
    """

    kind: str  # one of KINDS, or "python"
    argument: str
    function: str = ""
    highest: float | None = None  # of graded: the highest grade, where it is not that of the table
    cap: float | None = None  # of sum and share: no list counts for more

    def topics_and_weights(self, table: Table) -> tuple[str, str | None]:
        """Split the argument into the pattern of the topic columns and the column of their weights, or None without
        weights.

        The `*` is ambiguous: in `topic_*` it belongs to the pattern, in `topics*weight` it separates two names. It is
        taken as a separator only if the text after the last `*` is the name of a column of `table`.
        """
        topics, star, weight = (part.strip() for part in self.argument.rpartition("*"))
        if self.kind in WEIGHTED and star and weight in table.names and topics:
            return topics, weight
        return self.argument, None

    def columns_of(self, table: Table) -> list[str]:
        """All columns of `table` that the reward is computed from, weights included.

        They are not features unless named explicitly.
        """
        if self.kind in ("python", "qrels"):
            return []
        topics, weight = self.topics_and_weights(table)
        return table.matching(topics, "reward") + ([] if weight is None else [weight])

    def read_as_text(self) -> set[str]:
        """Columns that must be read as text, even if every value looks like a number or a date.

        File readers need this before they parse: topic names such as "007" would otherwise lose their zeros.
        """
        if self.kind not in ("coverage", "rouge", "rouge2"):
            return set()
        return {name for name in (self.argument, self.argument.rpartition("*")[0].strip()) if not is_pattern(name)}


def parse_reward(spec: str) -> RewardSpec:
    """The reward that a line of text stands for.

    `any:clicked`, `graded:label`, `share:relevant`, `sum:clicks`, `sum:clicks<=3`, `sum:clicked*price`,
    `coverage:topics` (a column of lists) or `coverage:topic_*` (0/1 columns), `coverage:topics*weight` (weights of the
    topics from a second column), `probabilistic:topic_*`, `sqrt:topic_*`, `log:topic_*`, `facility:embedding` (a column
    of lists, or `e_*`), `rouge:text`, `rouge2:text`, `qrels:file`, and `file.py:function` for one's own `f(problem,
    items)`; the file is run.

    Parameters
    ----------
    spec : str
        `KIND:COLUMNS`, `qrels:FILE` or `FILE.py:FUNCTION`. Blanks around the parts are ignored.

    Returns
    -------
    RewardSpec
        The parsed reward; no column has been looked up yet.

    Raises
    ------
    InputError
        If the kind is unknown (the message suggests the nearest one and lists all) or names no column.

    See Also
    --------
    known_rewards : A table of all kinds with their meaning.
    from_frame : Takes such a string as `reward=`.

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
    """Whether a name contains a wildcard (`*`, `?` or `[`), and so may stand for several columns."""
    return _PATTERN.search(name) is not None
