"""Parse reward strings such as `"coverage:topic_*"`, the same in Python and on the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

from listwright.errors import InputError
from listwright.frames.table import ColumnTable

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

    def topics_and_weights(self, table: ColumnTable) -> tuple[str, str | None]:
        """Split the argument into the pattern of topics and the column of their weights, or None."""
        topics, star, weight = (part.strip() for part in self.argument.rpartition("*"))
        if self.kind in WEIGHTED and star and weight in table.names and topics:
            return topics, weight
        return self.argument, None

    def columns_of(self, table: ColumnTable) -> list[str]:
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
    return _PATTERN.search(name) is not None


class RewardKind(NamedTuple):
    form: str  # how it is written, such as "any:COLUMN"
    meaning: str  # what a list is worth under it, in one phrase
    examples: tuple[str, ...]  # reward strings that work on the example table of the documentation page
    more: str = ""  # further explanation for that page: formulas, when to use the kind and when to prefer another


KINDS = {
    "any": RewardKind(
        "any:COLUMN",
        "worth 1 as soon as one item succeeds (0/1, or probabilities)",
        ("any:clicked", "any:chance"),
        "With probabilities p, a list is worth 1 - (1 - p1)(1 - p2)...: the chance that at least one item succeeds, if "
        "items succeed or fail independently of each other.",
    ),
    "graded": RewardKind(
        "graded:COLUMN",
        "the same for grades 0, 1, 2, ... with probability (2^grade - 1) / 2^highest",
        ("graded:grade",),
        "For judgements such as 0 (off topic) to 3 (perfect). A grade becomes the probability that the item is all "
        "that the user needs, as in the metric ERR (Chapelle et al. 2009): with grades up to 3 it is 0 for grade 0, "
        "1/8 for grade 1, 3/8 for grade 2 and 7/8 for grade 3. A list is worth the chance that some item is enough, so "
        "a second perfect item adds little to a first one. The highest grade is the highest in the table. Use "
        "any:COLUMN where the column holds 0 and 1, and sum:COLUMN where grades simply add up.",
    ),
    "share": RewardKind(
        "share:COLUMN",
        "share of the labelled items (or of the sum of a column) that the list holds",
        ("share:clicked", "share:clicked<=1", "share:clicked*price"),
        "This is recall: 1 if the list holds every labelled item of its problem. With <=CAP, a list that holds CAP "
        "labelled items is already worth 1; with *WEIGHT, items are weighted by another column.",
    ),
    "sum": RewardKind(
        "sum:COLUMN",
        "sum of a column over the list; sum:COLUMN<=3 counts at most 3; sum:COLUMN*WEIGHT multiplies",
        ("sum:clicked", "sum:price<=5", "sum:clicked*price"),
        "For example the number of clicks, or with a weight the revenue. Without a cap no item makes another "
        "redundant, so sorting by a good prediction is already optimal.",
    ),
    "coverage": RewardKind(
        "coverage:COLUMNS",
        "share of topics that some item covers",
        ("coverage:topics", "coverage:topics*weight", "coverage:is_*"),
        "Topics are a column of lists (in CSV: a|b, or JSON), or 0/1 columns that a pattern names. A problem's topics "
        "are those of its candidates. With *WEIGHT, topics are weighted by a second column: one number for all topics "
        "of a row, or a list with one number per topic.",
    ),
    "probabilistic": RewardKind(
        "probabilistic:COLUMNS", "the same where items cover topics with a probability", ("probabilistic:about_*",)
    ),
    "sqrt": RewardKind(
        "sqrt:COLUMNS",
        "sum over topics of the square root of the list's total",
        ("sqrt:about_*",),
        "As a share of the value of all candidates together. The more the list has of a topic, the less it gains from "
        "more of it.",
    ),
    "log": RewardKind("log:COLUMNS", "the same with log(1 + x)", ("log:about_*",)),
    "facility": RewardKind(
        "facility:COLUMNS",
        "how well the list represents all items, by cosine similarity",
        ("facility:about_*",),
        "Columns of numbers, or one column of lists, such as embeddings.",
    ),
    "rouge": RewardKind(
        "rouge:COLUMN",
        "ROUGE-1 recall of the text against references",
        ("rouge:text",),
        "The references are the texts that a good list would contain: `references=` in Python, `--references FILE` on "
        "the command line, a table with columns problem and reference.",
    ),
    "rouge2": RewardKind("rouge2:COLUMN", "the same with ROUGE-2", ("rouge2:text",)),
    "qrels": RewardKind(
        "qrels:FILE",
        "share of a query's subtopics covered, from TREC diversity judgements",
        ("qrels:judgements.txt",),
        "Each line of the file has a query, a subtopic, a document and a grade. Problems are queries, and items are "
        "documents.",
    ),
}
OWN = RewardKind(
    "FILE.py:FUNCTION",
    "your own f(problem, items)",
    ("own.py:worth",),
    "The file is executed. The function is called with one problem (its id is `problem.problem_ids[0]`) and the "
    "positions of the list's items among its candidates, and returns a number. `listwright check` tests whether it "
    "behaves as a reward should.",
)


def known_rewards() -> str:
    """List every kind of reward with its meaning, one line each, as shown in error messages."""
    return "\n".join(f"  {kind.form}, {kind.meaning}" for kind in (*KINDS.values(), OWN))
