"""Turns the docstrings of this project into what the page builder reads.

Here a parameter is "name : what it is" and examples stand where they belong, without a heading. The builder takes what
follows the colon for a type, and an example behind parameters for one more of them.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

PARAMETER = re.compile(r"^([*\w][\w, *]*) : (.*)$")


class Docstrings(griffe.Extension):
    """Rewrites every docstring before it is parsed."""

    def on_object(self, *, obj: griffe.Object, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        """Of modules, classes, functions and attributes."""
        if obj.docstring is not None and not obj.is_alias:
            obj.docstring.value = with_examples(with_parameters(obj.docstring.value))


def with_parameters(text: str) -> str:
    """Puts what a parameter is below its name.

    >>> print(with_parameters("Parameters\\n----------\\nlength : number of items."))
    Parameters
    ----------
    length
        number of items.
    """
    head, rule, rest = text.partition("Parameters\n----------\n")
    body, blank, tail = rest.partition("\n\n")
    lines = []
    for line in body.split("\n"):
        found = PARAMETER.match(line)
        lines += [found[1], f"    {found[2]}"] if found else [line]
    return head + rule + "\n".join(lines) + blank + tail


def with_examples(text: str) -> str:
    """Gives the first example a heading.

    >>> print(with_examples("Adds.\\n\\n>>> 1 + 1\\n2").replace("\\n", "|"))
    Adds.||Examples|--------|>>> 1 + 1|2
    """
    return re.sub(r"(?:^|(?<=\n\n))>>> ", "Examples\n--------\n>>> ", text, count=1)
