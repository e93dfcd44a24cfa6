"""`listwright inspect`: describe a model file, as text, JSON or an HTML page."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from listwright.cli import options as given
from listwright.cli.evaluate import known_reward
from listwright.cli.show import as_options, progress, show_json
from listwright.cli.sources import about_model, check_place, read_for
from listwright.errors import InputError

BARS = 12  # that are printed
WIDEST = 30  # characters of a bar
LONGEST = 36  # characters of a name


def inspect(
    model: given.Model,
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DATA]...",
            help="Table with the column of the reward, to measure the importance of each feature.",
            show_default=False,
        ),
    ] = None,
    *,
    out: Annotated[str | None, typer.Option("-o", "--out", help="HTML report to write, with charts.")] = None,
    trust: given.Trust = "",
    as_json: given.AsJson = False,
) -> None:
    """Show what a model file contains: settings, columns, reward, how training went, and weights. With DATA, also show
    the importance of each feature."""
    if out is not None:
        check_place(out)
        if Path(out).suffix.lower() != ".html":
            raise InputError(f"The report must be a file that ends in .html. Got {out}.")
    learned, about = about_model(model, trust)
    problems = _problems(learned, data)
    columns, weights = getattr(learned, "columns_", None), getattr(learned, "weights_", None)
    about_file = about | {
        "reward": getattr(learned, "reward_spec_", None),
        "columns": None if columns is None else asdict(columns),
        "chosen": None if (report := getattr(learned, "report_", None)) is None else " ".join(str(report).split()),
        "measured": str(learned.measurement_) if hasattr(learned, "measurement_") else None,
        "certified": str(learned.certified_) if hasattr(learned, "certified_") else None,
        "certificate": as_options(str(learned.online_certificate()))
        if hasattr(learned, "online_certificate")
        else None,
        "learned from": _feedback_summary(learned),
    }
    important = None
    if problems is not None:
        from listwright.report.model_page import importance_of

        with progress("permuting features"):
            important = importance_of(learned, problems)
    if out is not None:
        from listwright.report import write_page
        from listwright.report.model_page import model_report

        write_page(model_report(learned, important), Path(out))
    if as_json:
        tables = {"weights": weights, "importance": important, "history": getattr(learned, "history_", None)}
        finite = lambda record: {name: None if value != value else value for name, value in record.items()}  # noqa: E731
        records = {name: None if table is None else [*map(finite, table.records())] for name, table in tables.items()}
        show_json(about_file | records)
        return
    for name, value in about_file.items():
        _show(name, value)
    _show_bars("weights, per standard deviation of a feature", weights, "weight")
    _show_bars("importance: what lists lose without a feature", important, "importance")
    if out is not None:
        print(f"Wrote {out}.")


def _problems(model: Any, data: list[str] | None) -> Any:
    if not data:
        return None
    if getattr(model, "reward_spec_", None) is None:
        raise InputError("This model does not know what lists are worth. Leave DATA out, or fit with `listwright fit`.")
    try:
        reward = known_reward(model)
    except InputError:
        raise InputError(
            f"This model was trained for {model.reward_spec_!r}, which is code, and inspect runs none. Leave DATA out."
        ) from None
    return read_for(model, data, reward=reward)


def _show_bars(title: str, table: Any, value: str) -> None:
    if table is None or not len(table):
        return
    records = sorted(table.records(), key=lambda record: -abs(record[value]))
    print(f"{title}:")
    longest, wide = abs(records[0][value]) or 1.0, max(len(record["feature"]) for record in records[:BARS])
    for record in records[:BARS]:
        bar = "█" * round(WIDEST * abs(record[value]) / longest)
        print(f"  {record['feature'][:LONGEST]:<{min(wide, LONGEST)}}  {record[value]:+.4f}  {bar}".rstrip())
    if len(records) > BARS:
        print(f"  ... {len(records) - BARS:,} more")


def _feedback_summary(model: Any) -> str | None:
    if not hasattr(model, "playing_"):
        return None
    return f"feedback on {model.version:,} lists; shows lists with {model.exploration_}"


def _show(name: str, value: Any) -> None:
    if isinstance(value, dict):
        print(f"{name}:")
        for key, entry in value.items():
            if entry not in (None, (), {}):
                print(f"  {key}: {_text(entry)}")
    elif value is not None:
        print(f"{name}: {_text(value)}")


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
