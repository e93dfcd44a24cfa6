"""Groups of items from tables: frames, files and the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.tables import read, scan

typer = pytest.importorskip("typer")


def frame(n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    quality = rng.random(6 * n)
    return pd.DataFrame(
        {
            "problem": np.repeat(np.arange(n), 6),
            "item": np.tile([f"a{j}" for j in range(6)], n),
            "source": rng.choice(["wiki", "news", "7"], 6 * n),
            "quality": quality,
            "clicked": (quality > 0.7).astype(int),
        }
    )


def most(picks: pd.DataFrame, table: pd.DataFrame) -> int:
    joined = picks.merge(table, on=["problem", "item"])
    return int(joined.groupby(["problem", "source"]).size().max())


def test_a_column_of_a_frame_names_the_groups() -> None:
    table = frame()
    problems = lw.Problems.from_frame(table, group="source", features=["quality"], reward="any:clicked")
    assert problems.groups is not None
    assert problems.groups.tolist() == table["source"].tolist()
    by_default = lw.Problems.from_frame(
        table.assign(source=table["source"].str.len()), group="source", reward="any:clicked"
    )
    assert by_default.feature_names == ("quality",)
    model = lw.SCP(4, per_group=1, allow_short=True, random_state=0).fit(table, reward="any:clicked", group="source")
    assert most(model.predict(table).to_frame().assign(problem=lambda one: one["problem"].astype(int)), table) == 1
    with pytest.raises(InputError, match="has no column 'author'"):
        lw.Problems.from_frame(table, group="author", reward="any:clicked")


def test_files_in_parts_keep_groups(tmp_path: Path) -> None:
    table = frame()
    table.to_parquet(tmp_path / "log.parquet")
    whole = read(tmp_path / "log.parquet", group="source", reward="any:clicked")
    parts = scan(tmp_path / "log.parquet", group="source", reward="any:clicked", shard_size=2000)
    assert parts.groups == "source"
    settings: dict[str, Any] = {"length": 3, "per_group": 1, "random_state": 0}
    lists = lw.SCP(**settings).fit(parts).predict(parts)
    lists.to_parquet(tmp_path / "lists.parquet")
    assert most(pd.read_parquet(tmp_path / "lists.parquet"), table) == 1
    assert whole.groups is not None


def run(*arguments: str) -> int:
    from listwright.cli import main

    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return int(ended.value.code or 0)


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, model, out = (str(tmp_path / name) for name in ("past.csv", "model.listwright", "lists.csv"))
    table = frame()
    table.to_csv(data, index=False)
    named = ["--reward", "any:clicked", "--group-column", "source"]
    assert run("fit", data, *named, "--length", "3", "--per-group", "1", "-o", model) == 0
    assert run("predict", model, data, "-o", out) == 0
    picks = pd.read_csv(out)
    assert most(picks, table) == 1
    assert run("predict", model, data, "-o", out, "--per-group", "2") == 0
    assert most(pd.read_csv(out), table) == 2
    assert run("evaluate", model, data, "--per-group", "1", "--json") == 0
    assert run("compare", data, *named, "--methods", "top-k,oracle", "--lengths", "2", "--per-group", "1",
               "-o", str(tmp_path / "report"), "--json") == 0  # fmt: skip
    capsys.readouterr()
    assert run("fit", data, "--reward", "any:clicked", "--length", "3", "--per-group", "1", "-o", model) != 0
    assert "Name it with --group-column" in capsys.readouterr().err


@pytest.mark.parametrize("numbers", [False, True])
def test_quotas_both_ways_by_group_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], numbers: bool
) -> None:
    data, model, out = (str(tmp_path / name) for name in ("past.csv", "model.listwright", "lists.csv"))
    table, names = frame(), ["wiki", "news", "7"]
    table["source"] = names * 80
    if numbers:
        table["source"], names = table["source"].map({"wiki": 1, "news": 2, "7": 3}), [1, 2, 3]
    table.to_csv(data, index=False)
    wiki, news, other = names
    fit = ["fit", data, "--reward", "any:clicked", "--group-column", "source", "--effort", "fast", "--length", "3"]
    assert run(*fit, "--per-group", f"{wiki}=1:1,{news}=0", "-o", model) == 0
    for quotas, least, most in (
        (None, [1, 0, 2], [1, 0, 2]),
        (f"{news}=2:2", [0, 2, 0], [1, 2, 1]),
        (f"{wiki}=2:,{other}=1:", [2, 0, 1], [2, 0, 1]),
        (":2", [0, 0, 0], [2, 2, 2]),
        ("1:2", [1, 1, 1], [1, 1, 1]),
    ):
        assert run("predict", model, data, "-o", out, *([] if quotas is None else ["--per-group", quotas])) == 0
        counts = pd.read_csv(out).merge(table).groupby("problem")["source"].value_counts().unstack(fill_value=0)
        counts = counts.reindex(columns=names, fill_value=0)
        assert (counts >= least).all(axis=None)
        assert (counts <= most).all(axis=None)
    capsys.readouterr()
    wrong = {
        "none=2": "no row is in that group. Groups: ",
        "x": "give MOST, LEAST:MOST",
        "=1": "give MOST",
        "3:1": "3 and 1",
    }
    for quotas, message in wrong.items():
        assert run("predict", model, data, "-o", out, "--per-group", quotas) != 0
        assert message in " ".join(capsys.readouterr().err.split())


def test_a_model_without_a_limit_asks_for_no_groups(tmp_path: Path) -> None:
    data, model, out = (str(tmp_path / name) for name in ("past.csv", "model.listwright", "lists.jsonl"))
    table = frame()
    table.to_csv(data, index=False)
    assert run("fit", data, "--reward", "any:clicked", "--group-column", "source", "--length", "2", "-o", model) == 0
    with Path(data).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["problem", "item", "quality"])
        writer.writerows(table[["problem", "item", "quality"]].itertuples(index=False))
    assert run("predict", model, data, "-o", out) == 0
    assert len([json.loads(line) for line in Path(out).read_text().splitlines()]) == 80
