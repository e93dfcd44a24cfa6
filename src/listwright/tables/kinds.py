"""The kinds of reward that can be written as text, with their syntax, meaning and examples.

`KINDS` is the single source for error messages (`known_rewards`), for the parser in `listwright.tables.spec` and for
the documentation page on rewards. A new kind needs an entry here and a builder in `listwright.tables.rewards`.
"""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """Description of one kind of reward."""

    form: str  # how it is written, such as "any:COLUMN"
    meaning: str  # what a list is worth under it, in one phrase
    examples: tuple[str, ...]  # reward strings that work on the example table of the documentation page
    more: str = ""  # further explanation for that page: formulas, when to use the kind and when to prefer another


KINDS = {
    "any": Kind(
        "any:COLUMN",
        "worth 1 as soon as one item succeeds (0/1, or probabilities)",
        ("any:clicked", "any:chance"),
        "With probabilities p, a list is worth 1 - (1 - p1)(1 - p2)...: the chance that at least one item succeeds, if "
        "items succeed or fail independently of each other.",
    ),
    "graded": Kind(
        "graded:COLUMN",
        "the same for grades 0, 1, 2, ... with probability (2^grade - 1) / 2^highest",
        ("graded:grade",),
        "For judgements such as 0 (off topic) to 3 (perfect). A grade becomes the probability that the item is all "
        "that the user needs, as in the metric ERR (Chapelle et al. 2009): with grades up to 3 it is 0 for grade 0, "
        "1/8 for grade 1, 3/8 for grade 2 and 7/8 for grade 3. A list is worth the chance that some item is enough, so "
        "a second perfect item adds little to a first one. The highest grade is the highest in the table. Use "
        "any:COLUMN where the column holds 0 and 1, and sum:COLUMN where grades simply add up.",
    ),
    "share": Kind(
        "share:COLUMN",
        "share of the labelled items (or of the sum of a column) that the list holds",
        ("share:clicked", "share:clicked<=1", "share:clicked*price"),
        "This is recall: 1 if the list holds every labelled item of its problem. With <=CAP, a list that holds CAP "
        "labelled items is already worth 1; with *WEIGHT, items are weighted by another column.",
    ),
    "sum": Kind(
        "sum:COLUMN",
        "sum of a column over the list; sum:COLUMN<=3 counts at most 3; sum:COLUMN*WEIGHT multiplies",
        ("sum:clicked", "sum:price<=5", "sum:clicked*price"),
        "For example the number of clicks, or with a weight the revenue. Without a cap no item makes another "
        "redundant, so sorting by a good prediction is already optimal.",
    ),
    "coverage": Kind(
        "coverage:COLUMNS",
        "share of topics that some item covers",
        ("coverage:topics", "coverage:topics*weight", "coverage:is_*"),
        "Topics are a column of lists (in CSV: a|b, or JSON), or 0/1 columns that a pattern names. A problem's topics "
        "are those of its candidates. With *WEIGHT, topics are weighted by a second column: one number for all topics "
        "of a row, or a list with one number per topic.",
    ),
    "probabilistic": Kind(
        "probabilistic:COLUMNS",
        "the same where items cover topics with a probability",
        ("probabilistic:about_*",),
    ),
    "sqrt": Kind(
        "sqrt:COLUMNS",
        "sum over topics of the square root of the list's total",
        ("sqrt:about_*",),
        "As a share of the value of all candidates together. The more the list has of a topic, the less it gains from "
        "more of it.",
    ),
    "log": Kind("log:COLUMNS", "the same with log(1 + x)", ("log:about_*",)),
    "facility": Kind(
        "facility:COLUMNS",
        "how well the list represents all items, by cosine similarity",
        ("facility:about_*",),
        "Columns of numbers, or one column of lists, such as embeddings.",
    ),
    "rouge": Kind(
        "rouge:COLUMN",
        "ROUGE-1 recall of the text against references",
        ("rouge:text",),
        "The references are the texts that a good list would contain: `references=` in Python, `--references FILE` on "
        "the command line, a table with columns problem and reference.",
    ),
    "rouge2": Kind("rouge2:COLUMN", "the same with ROUGE-2", ("rouge2:text",)),
    "qrels": Kind(
        "qrels:FILE",
        "share of a query's subtopics covered, from TREC diversity judgements",
        ("qrels:judgements.txt",),
        "Each line of the file has a query, a subtopic, a document and a grade. Problems are queries, and items are "
        "documents.",
    ),
}
OWN = Kind(
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
