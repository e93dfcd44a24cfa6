"""`listwright pack`: choose passages for questions within a token budget, or train a packer on such questions.

Input is JSON lines, one question with its passages per line; the keys in `QUERIES` and `PASSAGES` are recognized,
others are named with `--query` and `--passages`. Output is JSON lines with the positions, texts, tokens and reasons of
the chosen passages, in the order of the input. `--train` learns from labels, answers or citations in the same file.

Typical use::

    listwright pack questions.jsonl --budget 2000 -o packed.jsonl
    listwright pack labelled.jsonl --train --label relevant -o packer.listwright
    listwright pack questions.jsonl --model packer.listwright
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from listwright.cli.sources import check_place
from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.context import ContextPacker

QUERIES, PASSAGES = ("query", "question"), ("passages", "paragraphs", "context", "documents")


def pack(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON lines, each with a question and its passages.")],
    budget: Annotated[float, typer.Option(help="Most tokens for all passages of a question together.")] = 2000,
    length: Annotated[int | None, typer.Option(help="Most passages to pick.")] = None,
    per_source: Annotated[int | None, typer.Option(help="Most passages from one source.")] = None,
    model: Annotated[Path | None, typer.Option(help="Packer to use; by default the pretrained one.")] = None,
    query: Annotated[str | None, typer.Option(help="Key of the question; by default query or question.")] = None,
    passages: Annotated[
        str | None, typer.Option(help="Key of the passages; by default passages, paragraphs, ...")
    ] = None,
    train: Annotated[bool, typer.Option("--train", help="Train a packer on the file and write it.")] = False,
    label: Annotated[str | None, typer.Option(help="With --train: key of the labels of the passages.")] = None,
    answer: Annotated[str | None, typer.Option(help="With --train: key of the answer.")] = None,
    cited: Annotated[str | None, typer.Option(help="With --train: key of the cited passages.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write.")] = None,
) -> None:
    """Pick passages for each question that together contain what the answer needs, within a token budget."""
    if output is not None:
        check_place(str(output), str(file), None if model is None else str(model))
    from listwright.context import ContextPacker

    records = _records(file)
    names = {
        "query": query or _key(records[0], QUERIES, file),
        "passages": passages or _key(records[0], PASSAGES, file),
    }
    packer = ContextPacker(model)
    if train:
        if output is None:
            raise InputError("Say where to write the packer's file: -o packer.listwright.")
        packer.fit(records, **names, label=label, answer=answer, cited=cited)
        packer.save(output)
        print(f"Learned from {len(records):,} questions; wrote {output}.", file=sys.stderr)
        return
    limits = {"budget": budget, "length": length, "per_source": per_source}
    lines = [_packed(packer, record, names, number, limits) for number, record in enumerate(records, start=1)]
    _write("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), output)


def _packed(
    packer: ContextPacker, record: dict[str, Any], names: dict[str, str], number: int, limits: dict[str, Any]
) -> dict[str, Any]:
    """Pack the passages of one question."""
    try:
        packed = packer.pack(record[names["query"]], record[names["passages"]], **limits)
    except KeyError as error:
        raise InputError(f"Line {number} has no {error.args[0]!r}.") from None
    except InputError as error:
        raise InputError(f"Line {number}: {error}") from None
    kept = {key: value for key, value in record.items() if key in ("id", "_id", names["query"])}
    found = {"positions": packed.positions, "texts": packed.texts, "tokens": packed.tokens, "reasons": packed.reasons}
    return kept | found


def _records(file: Path) -> list[dict[str, Any]]:
    """Parse the input file."""
    from listwright.text.files import read_text

    records = []
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise InputError(f"Line {number} of {file} is not valid JSON: {error}.") from None
            if not isinstance(records[-1], dict):
                raise InputError(f"Line {number} of {file} must hold a JSON object.")
    return records


def _key(record: dict[str, Any], known: tuple[str, ...], file: Path) -> str:
    """Return the key under which a record holds its question or its passages."""
    found = [name for name in known if name in record]
    if not found:
        raise InputError(f"{file} has none of the keys {', '.join(known)}. Name the right one: --{known[0]} KEY.")
    return found[0]


def _write(text: str, output: Path | None) -> None:
    """Write text to a file, completely or not at all, or to standard output."""
    from listwright._internal.files import write_whole

    if output is None:
        sys.stdout.write(text)
    else:
        write_whole(output, text.encode())
