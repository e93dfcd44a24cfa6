"""`listwright explain`: the reasons for one list, pick by pick.

Wraps `listwright.reasons.explain`: contributions of feature groups to the score of each pick, the margin to the
runner-up, and the pick that made a skipped item redundant. `predict --explain` gives the same for all lists, as
columns.

Typical use::

    listwright explain model.listwright new.csv --problem q17
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from listwright.cli import options as given
from listwright.cli.show import show_json
from listwright.cli.sources import load_model, read_for
from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.problems import Problems


def explain(
    model: given.Model,
    data: given.Data,
    problem: Annotated[str, typer.Option(help="Id of the problem.")],
    length: given.Length = None,
    budget: given.Budget = None,
    allow_short: given.ShortLists = False,
    new_levels: given.NewLevels = "error",
    format: given.Format = None,
    trust: given.Trust = "",
    as_json: given.AsJson = False,
) -> None:
    """Explain one list: what each group of features adds to the score of a pick, how far behind the runner-up is, and
    which pick made a skipped item redundant."""
    from listwright.reasons.explain import explain as explained

    learned = load_model(model, data, trust)
    problems = read_for(learned, data, budget=budget, format=format, new_levels=new_levels)
    i = number_of(problems, problem)
    reasons = explained(learned, problems, i, length=length, budget=budget, allow_short=allow_short or None)
    if as_json:
        show_json(reasons.to_dict())
    else:
        print(reasons)


def number_of(problems: Problems, name: str) -> int:
    """Index of the problem with a given id."""
    for i, one in enumerate(problems.problem_ids):
        if str(one) == name:
            return i
    some = ", ".join(str(one) for one in problems.problem_ids[:3])
    raise InputError(f"There is no problem {name!r} in the table. It has {len(problems):,}, such as {some}.")
