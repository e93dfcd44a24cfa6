"""`listwright summarize`: extractive summaries of text files within a budget of bytes, characters, words or tokens.

A folder of text files is one cluster and gives one summary; a folder of folders gives one summary per folder. Without
`--model`, the model that is shipped with the package is used.

Typical use::

    listwright summarize reports/ --budget 665b --explain
    listwright summarize a.txt b.txt --budget 100w --json
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from listwright.cli import options as given
from listwright.cli.show import notes, show_json

if TYPE_CHECKING:
    from listwright.summarize.summarize import Summary

SHOWN_REASONS = 4


def summarize(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="A folder of text files, a folder of such folders, or text files to summarize together.",
        ),
    ],
    budget: Annotated[
        str, typer.Option(help="Largest length: 665b (bytes), 665c (characters), 100w (words) or 120t (tokens).")
    ] = "665b",
    model: Annotated[Path | None, typer.Option(help="Model file; by default the pretrained model.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Explain why each sentence was picked.")] = False,
    trust: given.Trust = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the summaries as JSON.")] = False,
) -> None:
    """Summarize documents by picking informative sentences that do not repeat each other, within a budget."""
    from listwright.storage.load_trusting import load_trusting
    from listwright.summarize.summarize import clusters_of
    from listwright.summarize.summarize import summarize as summaries_of
    from listwright.text.budget import parse_budget

    allowed = parse_budget(budget)
    with notes():
        clusters = clusters_of(paths)
    given_model = None if model is None else load_trusting(model, trust)
    found = summaries_of(clusters, allowed, model=given_model, explain=explain)
    if as_json:
        show_json([summary.to_dict() for summary in found])
        return
    for summary in found:
        _show(summary, titled=len(found) > 1)


def _show(summary: Summary, *, titled: bool) -> None:
    """Print a summary, with the `SHOWN_REASONS` strongest reasons of each sentence if there are any."""
    if titled:
        print(f"== {summary.cluster}")
    for sentence in summary.sentences:
        print(sentence.text)
        if sentence.reasons is not None:
            strongest = list(sentence.reasons.items())[:SHOWN_REASONS]
            why = ", ".join(f"{name} {value:+.1f}" for name, value in strongest)
            print(f"    {sentence.document}, sentence {sentence.position}: {why}")
    if titled:
        print()
