"""Tables of readers and articles, the models fitted to them, and the commands there are."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

import listwright as lw
from listwright.loading import load

FIT = ("--reward", "any:clicked", "--length", "2", "-o", "wrong.listwright")
HEADER = ["problem", "item", "sport", "music", "quality", "size", "clicked"]


def table(n: int, *, seed: int = 0, start: int = 0, clicks: bool = True) -> str:
    """A CSV of n readers with 6 articles each."""
    rng = np.random.default_rng(seed)
    lines = [",".join(HEADER if clicks else HEADER[:-1])]
    for i in range(start, start + n):
        likes = rng.integers(2)
        for j in range(6):
            kind, quality = int(rng.integers(2)), rng.random()
            clicked = [str(int(kind == likes and quality > 0.6))] if clicks else []
            lines.append(",".join([f"r{i}", f"a{j}", str(1 - kind), str(kind), f"{quality:.3f}", str(j + 1), *clicked]))
    return "\n".join(lines) + "\n"


def records(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines(), delimiter=delimiter))


def commands() -> dict[str, Any]:
    from typer.main import get_command

    from listwright.cli.app import app

    return dict(get_command(app).commands)


def lw_read(path: Path, folder: Path) -> lw.Problems:
    from listwright.tables import read

    return read(path, columns=load(folder / "m.listwright").columns_)
