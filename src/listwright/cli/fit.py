"""`listwright fit`: from a table to a model."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from listwright.cli import options as given
from listwright.cli.show import progress, show_json
from listwright.cli.sources import STANDARD, check_place, read_problems, save_model

if TYPE_CHECKING:
    from listwright.guarantees import Certificate
    from listwright.problems import Problems

COPIES = 24  # measured: 4-byte copies of a batch's columns at the peak
EFFORTS = ("fast", "best")


def _known(effort: str) -> str:
    if effort not in EFFORTS:
        raise typer.BadParameter(f"must be one of {', '.join(EFFORTS)}. Got {effort!r}.")
    return effort


def fit(
    data: given.Data,
    reward: given.Reward,
    out: Annotated[str, typer.Option("-o", "--out", help="Model file to write, or - for standard output.")],
    length: given.Length = None,
    budget: given.Budget = None,
    problem: given.ProblemColumn = "problem",
    item: given.Item = "item",
    size: given.Size = "size",
    features: given.Features = None,
    context: given.Context = None,
    vectors: given.Vectors = None,
    catalogue: given.Catalogue = None,
    categorical: given.Categorical = None,
    ignore: given.Ignore = None,
    references: given.References = None,
    short_lists: given.ShortLists = False,
    effort: Annotated[
        str,
        typer.Option(
            callback=_known, help="fast: linear, in a moment; best: boosted trees too, in seconds or minutes."
        ),
    ] = "fast",
    seed: given.Seed = 0,
    format: given.Format = None,
    as_json: given.AsJson = False,
) -> None:
    """Learn to build lists from a table of problems whose lists can be measured, and write a model file."""
    given.one_limit(length, budget)
    check_place(out)
    from listwright.scp import SCP

    say = _speaker(quiet=as_json, aside=out == STANDARD)
    named = given.columns(problem, item, size, features, context, vectors, catalogue, categorical, ignore)
    with progress("reading"):
        problems, columns = read_problems(data, format=format, reward=reward, references=references, **named)
    given.sizes_for(budget, problems)
    say(before(problems))
    limit = {"length": length} if budget is None else {"budget": budget}
    model = SCP(**limit, effort=effort, short_lists=short_lists, random_state=seed)
    started = time.perf_counter()
    with progress("learning") as tick:
        model.fit(problems, tick=tick)
    seconds = time.perf_counter() - started
    model.columns_, model.reward_spec_ = columns, reward
    save_model(model, out)
    certificate = model.certificate()
    if not as_json:
        say(two_sentences(certificate))
        say(f"Wrote {out} after {seconds:.1f} s of learning." if out != STANDARD else "Wrote the model.")
    elif out != STANDARD:
        show_json(counts(problems) | {"seconds": seconds, "model": out, "certificate": asdict(certificate)})


def counts(problems: Problems) -> dict[str, int]:
    """What a fit starts with."""
    return {
        "problems": len(problems),
        "candidates": problems.n_rows,
        "features": problems.n_features,
        "memory_bytes": memory(problems),
    }


def memory(problems: Problems) -> int:
    """About how many bytes learning needs: the table as read and as features, and what is seen of each batch: its
    columns and their distances to the list, before and after they are put side by side and turned to float64."""
    from listwright.learners import as_learner

    row = 4 * (problems.n_features + (0 if problems.context is None else problems.context.shape[1]))
    batch = as_learner("ridge").batch_size(len(problems), problems.n_rows) / len(problems) * problems.n_rows
    return int(2 * row * problems.n_rows + COPIES * row * batch)


def before(problems: Problems) -> str:
    """One line before the work starts."""
    found = counts(problems)
    size = f"{found['memory_bytes'] / 2**20:,.0f} MiB" if found["memory_bytes"] >= 2**20 else "1 MiB"
    return (
        f"{found['problems']:,} problems, {found['candidates']:,} candidates, {found['features']:,} features; "
        f"learning takes about {size} of memory."
    )


def two_sentences(certificate: Certificate) -> str:
    """What was seen while learning, and what is proved of it."""
    seen = (
        f"While learning, lists were worth {certificate.value_seen:.3f} on average over {certificate.rounds:,} states, "
        f"with an average regret of at most {certificate.regret_bound_used:.3f}."
    )
    if certificate.breaches:
        return f"{seen} This is no guarantee for new problems: {'; '.join(certificate.breaches)}."
    worth = (
        f"With probability {1 - certificate.delta:.3g} such lists are worth at least "
        f"{max(certificate.lower_bound_on_value, 0):.3f} on new problems of the same kind"
    )
    return f"{seen} {worth}, if these are independent."


def _speaker(*, quiet: bool, aside: bool) -> Any:
    """Prints for people; to standard error where standard output carries the model."""

    def say(text: str) -> None:
        if not quiet:
            print(text, file=sys.stderr if aside else sys.stdout, flush=True)

    return say
