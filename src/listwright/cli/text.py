"""`listwright summarize` and `listwright pack`: sentences and passages within a budget."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from listwright.cli import options as given
from listwright.cli.show import notes, show_json
from listwright.cli.sources import check_place
from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.context import ContextPacker
    from listwright.text.summaries import Summary

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
    from listwright.loading import load_trusting
    from listwright.text.budget import parse_budget
    from listwright.text.summaries import clusters_of
    from listwright.text.summaries import summarize as summarize_clusters

    allowed = parse_budget(budget)
    with notes():
        clusters = clusters_of(paths)
    given_model = None if model is None else load_trusting(model, trust)
    summaries = summarize_clusters(clusters, allowed, model=given_model, explain=explain)
    if as_json:
        show_json([summary.to_dict() for summary in summaries])
        return
    for summary in summaries:
        _show(summary, titled=len(summaries) > 1)


def _show(summary: Summary, *, titled: bool) -> None:
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


QUERIES, PASSAGES = ("query", "question"), ("passages", "paragraphs", "context", "documents")


def pack(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON lines: question, passages, scores, ...")],
    budget: Annotated[float, typer.Option(help="Maximum tokens of all passages for a question together.")] = 2000,
    length: Annotated[int | None, typer.Option(help="Maximum number of passages to pick.")] = None,
    per_source: Annotated[
        list[Any] | None,
        typer.Option(
            parser=given.quota,
            metavar="QUOTA",
            help="Most passages of a source, or LEAST:MOST, or a=1:3,b=2; once per level.",
        ),
    ] = None,
    stop: Annotated[bool, typer.Option("--stop", help="Pick no passages that are hardly needed.")] = False,
    tokens: Annotated[
        str, typer.Option(help="How tokens are counted: estimate, words, tiktoken:NAME or huggingface:FILE.")
    ] = "estimate",
    model: Annotated[Path | None, typer.Option(help="Packer to use; by default the pretrained one.")] = None,
    query: Annotated[str | None, typer.Option(help="Key of the question; by default query or question.")] = None,
    passages: Annotated[
        str | None, typer.Option(help="Key of the passages; by default passages, paragraphs, ...")
    ] = None,
    train: Annotated[bool, typer.Option("--train", help="Train a packer on the file and write it.")] = False,
    label: Annotated[str | None, typer.Option(help="With --train: key of the labels of the passages.")] = None,
    answer: Annotated[str | None, typer.Option(help="With --train: key of the answer.")] = None,
    cited: Annotated[str | None, typer.Option(help="With --train: key of the cited passages.")] = None,
    shown: Annotated[str | None, typer.Option(help="With --train: key of the passages that were shown.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")] = None,
) -> None:
    """Pick passages for each question that together contain what the answer needs, within a token budget."""
    if output is not None:
        check_place(str(output), str(file), None if model is None else str(model))
    from listwright._internal.files import write_whole
    from listwright.context import ContextPacker
    from listwright.context.examples import KNOWN, read_records

    records = read_records(file)
    names = {
        "query": query or _key(records[0], QUERIES, file),
        "passages": passages or _key(records[0], PASSAGES, file),
    }
    packer = ContextPacker(model, tokens=tokens)
    if train:
        if output is None:
            raise InputError("Say where to write the packer's file: -o packer.listwright.")
        columns = names | {name: name for name in KNOWN if any(name in record for record in records)}
        packer.fit(records, **columns, label=label, answer=answer, cited=cited, shown=shown)
        packer.save(output)
        print(f"Learned from {len(records):,} questions; wrote {output}.", file=sys.stderr)
        return
    quotas = per_source[0] if per_source and len(per_source) == 1 else per_source or None
    limits = {"budget": budget, "length": length, "per_source": quotas, "stop": "auto" if stop else None}
    lines = [
        _pack_record(packer, record, names, number, limits | {name: record[name] for name in KNOWN if name in record})
        for number, record in enumerate(records, start=1)
    ]
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    if output is None:
        sys.stdout.write(text)
    else:
        write_whole(output, text.encode())


def _pack_record(
    packer: ContextPacker, record: dict[str, Any], names: dict[str, str], number: int, more: dict[str, Any]
) -> dict[str, Any]:
    try:
        packed = packer.pack(record[names["query"]], record[names["passages"]], **more)
    except KeyError as error:
        raise InputError(f"Line {number} has no {error.args[0]!r}.") from None
    except InputError as error:
        raise InputError(f"Line {number}: {error}") from None
    kept = {key: value for key, value in record.items() if key in ("id", "_id", names["query"])}
    names_of = ("positions", "texts", "tokens", "tokens_saved", "probabilities", "reasons", "notes")
    return kept | {name: getattr(packed, name) for name in names_of}


def _key(record: dict[str, Any], known: tuple[str, ...], file: Path) -> str:
    keys = [name for name in known if name in record]
    if not keys:
        raise InputError(f"{file} has none of the keys {', '.join(known)}. Name the right one: --{known[0]} KEY.")
    return keys[0]
