"""`listwright inspect`: what is in a model file."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from listwright.apps.cli import options as given
from listwright.apps.cli.show import as_options, show_json
from listwright.apps.cli.sources import about_model


def inspect(model: given.Model, trust: given.Trust = "", as_json: given.AsJson = False) -> None:
    """Tell what a model is: its settings, the columns it reads, what it was trained for and what came of it."""
    learned, about = about_model(model, trust)
    columns = getattr(learned, "columns_", None)
    found = about | {
        "reward": getattr(learned, "reward_spec_", None),
        "columns": None if columns is None else asdict(columns),
        "chosen": _chosen(learned),
        "certified": str(learned.certified_) if hasattr(learned, "certified_") else None,
        "certificate": _certificate(learned),
        "learned from": _learned_from(learned),
    }
    if as_json:
        show_json(found)
        return
    for name, value in found.items():
        _show(name, value)


def _chosen(model: Any) -> str | None:
    """Of a model that chose how to learn."""
    report = getattr(model, "report_", None)
    return None if report is None else " ".join(str(report).split())


def _certificate(model: Any) -> str | None:
    """Of a model that learned with full information."""
    return as_options(str(model.online_certificate())) if hasattr(model, "online_certificate") else None


def _learned_from(model: Any) -> str | None:
    """Of a model that learns from clicks: how many lists, and how it explores."""
    if not hasattr(model, "playing_"):
        return None
    return f"feedback on {model.version:,} lists; shows lists with {model.exploration_}"


def _show(name: str, value: Any) -> None:
    """A line, or one for each entry."""
    if isinstance(value, dict):
        print(f"{name}:")
        for key, entry in value.items():
            if entry not in (None, (), {}):
                print(f"  {key}: {_text(entry)}")
    elif value is not None:
        print(f"{name}: {_text(value)}")


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
