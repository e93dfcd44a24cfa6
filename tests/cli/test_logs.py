"""Logs on the command line: fit --log, evaluate --log, inspect and the hints on the way there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import listwright as lw
from listwright.cli import main
from listwright.feedback import Log

pytest.importorskip("typer")
N, ITEMS, LENGTH = 1200, 5, 2


def log_frame(seed: int = 0) -> pl.DataFrame:
    """Lists of two of five items, drawn evenly; the cheap ones are clicked."""
    rng = np.random.default_rng(seed)
    price, age = rng.random((N, ITEMS)), rng.random((N, ITEMS))
    order = np.argsort(rng.random((N, ITEMS)), axis=1)[:, :LENGTH]
    position = np.zeros((N, ITEMS), dtype=int)
    np.put_along_axis(position, order, np.arange(1, LENGTH + 1)[None], axis=1)
    clicked = rng.random((N, ITEMS)) > price
    flat = position.ravel().tolist()
    return pl.DataFrame(
        {
            "request_id": [f"r{i}" for i in range(N) for _ in range(ITEMS)],
            "item_id": [f"i{j}" for _ in range(N) for j in range(ITEMS)],
            "position": [at or None for at in flat],
            "clicked": [click if at else None for at, click in zip(flat, clicked.ravel().tolist(), strict=True)],
            "propensity": [(1 / (ITEMS - at + 1)) if at else None for at in flat],
            "price": price.ravel(),
            "age": age.ravel(),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("logs")
    frame = log_frame()
    frame.write_parquet(where / "log.parquet")
    log_frame(1).write_parquet(where / "later.parquet")
    frame.drop("propensity").write_csv(where / "bare.csv")
    run(where, "fit", "--log", "log.parquet", "--length", "2", "-o", "online.listwright")
    return where


def run(folder: Path, *arguments: str) -> int:
    named = [str(folder / one) if (folder / one).exists() or one.endswith(ENDINGS) else one for one in arguments]
    with pytest.raises(SystemExit) as ended:
        main(named)
    return int(ended.value.code or 0)


def test_models_of_exports_read_plain_tables_and_the_other_way_round(tmp_path: Path, capsys) -> None:
    log_frame().drop("price", "age").with_columns(
        price=pl.Series(np.random.default_rng(2).random(N * ITEMS))
    ).write_parquet(tmp_path / "log.parquet")
    Log.from_parquet(tmp_path / "log.parquet", catalogue="item_id").to_parquet(tmp_path / "own.parquet")
    empty = dict.fromkeys(["size", "pinned", "created", "state", "uses"], pl.lit(None, pl.Float64))
    pl.read_parquet(tmp_path / "own.parquet").with_columns(**empty).write_parquet(tmp_path / "export.parquet")
    plain = pl.read_parquet(tmp_path / "log.parquet").head(5 * ITEMS)
    plain.select("request_id", "item_id", "price").write_parquet(tmp_path / "new.parquet")
    exported = ["--log", "export.parquet", "--length", "2", "-o"]
    for more in (
        [],
        ["--catalogue", "item"],
        ["--features", "price"],
        ["--features", "feature: price", "--catalogue", "item"],
    ):
        assert run(tmp_path, "fit", *exported, "second.listwright", *more) == 0, capsys.readouterr().err
        assert lw.load(tmp_path / "second.listwright").signature_.feature_names == ("price",)
        ids = ["--problem-column", "request_id", "--item-column", "item_id"]
        assert run(tmp_path, "predict", "second.listwright", "new.parquet", *ids, "-o", "a.csv") == 0
        assert run(tmp_path, "predict", "second.listwright", "export.parquet", "-o", "b.csv") == 0
        told, again = (pl.read_csv(tmp_path / name).head(10)["item"].to_list() for name in ("a.csv", "b.csv"))
        assert told == again
    assert run(tmp_path, "fit", *exported, "third.listwright", "--ignore", "price") == 0
    assert lw.load(tmp_path / "third.listwright").signature_.n_features == 0
    assert run(tmp_path, "fit", *exported, "third.listwright", "--features", "colour") == 1
    assert "no column 'colour' among its features: price" in " ".join(capsys.readouterr().err.split())


ENDINGS = (".listwright", ".parquet", ".csv")


def test_a_log_becomes_a_model_that_knows_its_columns(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = lw.load(folder / "online.listwright")
    assert isinstance(model, lw.OnlineSCP)
    assert model.version == N
    assert model.columns_.features == ("price", "age")
    log_frame(2).select("request_id", "item_id", "price", "age").write_csv(folder / "new.csv")
    assert run(folder, "predict", "online.listwright", "new.csv", "-o", "lists.csv") == 0
    lists = pl.read_csv(folder / "lists.csv")
    assert len(lists) == LENGTH * N
    prices = log_frame(2).join(lists, left_on=["request_id", "item_id"], right_on=["problem", "item"])["price"]
    assert prices.mean() < 0.3
    assert run(folder, "explain", "online.listwright", "new.csv", "--problem", "r7") == 0
    assert "relevance" in capsys.readouterr().out


def test_evaluate_on_a_log(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(folder, "evaluate", "online.listwright", "--log", "later.parquet") == 0
    told = capsys.readouterr().out
    assert "cascade dr" in told
    assert "Roll out the policy: against the log it brings +" in told
    assert run(folder, "evaluate", "online.listwright", "--log", "later.parquet", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["recommended"] == "switch"
    assert found["estimates"]["cascade_dr"]["low"] < 5 / 6 + 4 / 6 < found["estimates"]["cascade_dr"]["high"]
    assert found["against_log"]["verdict"] == "roll out"


def test_propensities_can_be_estimated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(folder, "evaluate", "online.listwright", "--log", "bare.csv") == 1
    assert "pass --propensity model" in capsys.readouterr().err
    assert run(folder, "evaluate", "online.listwright", "--log", "bare.csv", "--propensity", "model") == 0
    assert "Propensities were estimated (model)" in capsys.readouterr().out


def test_notes_on_a_log_look_like_all_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    frame = log_frame(2).with_columns(pl.lit(1.0).alias("propensity"))
    frame.with_columns(
        pl.when(pl.col("position").is_null()).then(None).otherwise(1.0).alias("propensity")
    ).write_parquet(folder / "certain.parquet")
    assert run(folder, "evaluate", "online.listwright", "--log", "certain.parquet") == 0
    notes = [line for line in capsys.readouterr().err.splitlines() if "effective sample size" in line]
    assert len(notes) == 1
    assert notes[0].startswith("Note: The effective sample size is ")


def test_a_model_fitted_on_a_table_is_evaluated_on_a_log(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    table = log_frame(3).select(pl.col("request_id").alias("problem"), pl.col("item_id").alias("item"), "price", "age")
    table = table.with_columns(clicked=pl.Series(rng.random(len(table)) > table["price"].to_numpy()).cast(pl.Int8))
    table.write_csv(folder / "past.csv")
    out = "scp.listwright"
    options = ("--reward", "any:clicked", "--length", "2", "--effort", "fast")
    assert run(folder, "fit", "past.csv", *options, "-o", out) == 0
    capsys.readouterr()
    assert run(folder, "evaluate", out, "--log", "later.parquet", "--value", "any") == 0
    assert "switch" in capsys.readouterr().out


def test_inspect_tells_of_a_model_learned_from_clicks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(folder, "inspect", "online.listwright") == 0
    told = capsys.readouterr().out
    assert "learned from: feedback on 1,200 lists; shows lists with InverseGap()" in told
    assert "certificate" not in told
    assert run(folder, "inspect", "online.listwright", "--json") == 0
    assert json.loads(capsys.readouterr().out)["columns"]["features"] == ["price", "age"]


def test_options_of_learning(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--learner", "boosting", "--half-life", "500", "--propensity", "examination", "--features", "price")
    assert run(folder, "fit", "--log", "bare.csv", "--length", "2", *options, "-o", "trees.listwright") == 0
    model = lw.load(folder / "trees.listwright")
    assert (model.learner, model.half_life, model.signature_.feature_names) == ("boosting", 500.0, ("price",))
    capsys.readouterr()
    named = ("--list-column", "request_id", "--position-column", "position", "--outcome-column", "clicked")
    assert run(folder, "fit", "--log", "bare.csv", "--length", "2", *named, "--json", "-o", "named.listwright") == 0
    assert json.loads(capsys.readouterr().out)["lists"] == N


WRONG: list[tuple[tuple[str, ...], int, str]] = [
    (("fit", "--length", "2", "-o", "m.listwright"), 2, "give a table, or a log with --log"),
    (("fit", "past.csv", "--length", "2", "-o", "m.listwright"), 2, "define the value of a list"),
    (("fit", "--log", "log.parquet", "past.csv", "--length", "2", "-o", "m.listwright"), 2, "replaces DATA"),
    (("fit", "--log", "none.parquet", "--length", "2", "-o", "m.listwright"), 1, "no file"),
    (("fit", "--log", "log.parquet", "-o", "m.listwright"), 2, "give the length of lists"),
    (("fit", "--log", "log.parquet", "--length", "9", "-o", "m.listwright"), 1, "5 candidates"),
    (("fit", "--log", "log.parquet", "--length", "2", "--learner", "x", "-o", "m.listwright"), 1, "ridge or boosting"),
    (("fit", "--log", "log.parquet", "--length", "2", "--half-life", "0", "-o", "m.listwright"), 1, "above 0"),
    (("fit", "--log", "log.parquet", "--length", "2", "--propensity", "x", "-o", "m.listwright"), 2, "one of logged"),
    (("fit", "--log", "past.csv", "--length", "2", "-o", "m.listwright"), 1, "a log needs a column for the position"),
    (("evaluate", "online.listwright"), 2, "give a table, or a log with --log"),
    (("evaluate", "online.listwright", "--log", "log.parquet", "--value", "x"), 1, "one of sum, any"),
    (("evaluate", "--log", "log.parquet", "log.parquet"), 1, "model"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG)
def test_wrong_inputs_end_in_one_message_and_no_file(
    arguments: tuple[str, ...], code: int, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "past.csv").write_text("problem,item,price,clicked\nq,a,1,0\nq,b,2,1\n")
    capsys.readouterr()
    assert run(folder, *arguments) == code
    told = capsys.readouterr().err
    assert message in " ".join(told.split())
    assert "Traceback" not in told
    assert not (folder / "m.listwright").exists()


@pytest.mark.parametrize("extra", [(), ("--problem-column", "request_id")])
def test_a_log_that_is_read_as_a_table_is_hinted_at(
    extra: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame: Any = pl.read_parquet(folder / "log.parquet").filter(pl.col("position").is_not_null())
    frame.with_columns(pl.col("clicked").cast(pl.Int8)).write_parquet(folder / "shown.parquet")
    capsys.readouterr()
    options = ("--reward", "any:clicked", *extra, "--length", "1", "--effort", "fast")
    code = run(folder, "fit", "shown.parquet", *options, "-o", "h.listwright")
    assert code == (0 if extra else 1)
    assert "listwright fit --log FILE" in capsys.readouterr().err


def test_columns_of_other_names_in_one_of_two_logs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = {"request_id": "page", "item_id": "sku", "position": "at", "clicked": "bought", "propensity": "odds"}
    renamed = log_frame(3).with_columns(request_id=pl.lit("b") + pl.col("request_id")).rename(other)
    renamed.write_parquet(folder / "other.parquet")
    columns = ["--list-column", "page", "--item-column", "sku", "--position-column", "at", "--outcome-column", "bought"]
    columns += ["--propensity-column", "odds"]
    both = ["--log", "log.parquet", "--log", "other.parquet", *columns]
    assert run(folder, "fit", *both, "--length", "2", "-o", "both.listwright") == 0
    assert f"{2 * N:,} lists" in capsys.readouterr().out
    for command in (["evaluate", "both.listwright"], ["plan", "both.listwright"], ["check"]):
        assert run(folder, *command, *both) == 0
    assert run(folder, "check", "--log", "log.parquet", "--log", "other.parquet", "--item-column", "nothing") == 1
    assert "None of the files has a column 'nothing'" in capsys.readouterr().err
    renamed.select("page", "sku", "price", "age").write_csv(folder / "pages.csv")
    named = ["--problem-column", "page", "--item-column", "sku", "-o", "pages-lists.csv"]
    assert run(folder, "predict", "online.listwright", "pages.csv", *named) == 0
    assert pl.read_csv(folder / "pages-lists.csv")["problem"][0] == "br0"


def test_a_log_with_faults_is_refused_with_all_of_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = log_frame()
    pl.concat([frame, frame.filter(pl.col("position") == 1).head(2)]).write_parquet(folder / "bad.parquet")
    assert run(folder, "fit", "--log", "bad.parquet", "--length", "2", "-o", "never.listwright") == 1
    error = capsys.readouterr().err
    assert "duplicates (2)" in error
    assert "--drop-bad" in error


def test_files_may_have_items_that_are_new_to_the_catalogue(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = log_frame(4).drop("price", "age")
    new = old.with_columns(pl.col("item_id").replace("i4", "brand new"), request_id="n" + pl.col("request_id"))
    old.write_parquet(folder / "old.parquet")
    new.rename({"item_id": "product_id"}).write_parquet(folder / "new.parquet")
    out = "named.listwright"
    assert run(folder, "fit", "--log", "old.parquet", "--length", "2", "-o", out) == 0
    assert run(folder, "evaluate", out, "--log", "new.parquet") == 0
    assert "switch" in capsys.readouterr().out
    renamed = ("--item-column", "product_id")
    assert run(folder, "predict", out, "new.parquet", *renamed, "-o", "new_lists.csv") == 0
    assert run(folder, "predict", out, "old.parquet", "-o", "old_lists.csv") == 0
    told, before = (pl.read_csv(folder / name) for name in ("new_lists.csv", "old_lists.csv"))
    assert (told["item"] == "brand new").mean() < 0.05
    assert told.filter(pl.col("item") != "brand new")["item"].unique().sort().to_list() == sorted(
        set(before["item"]) - {"i4"}
    )
    assert run(folder, "fit", "--log", "old.parquet", "--log", "new.parquet", "--length", "2", "-o", out) == 0
    lw.feedback.Log.from_parquet(folder / "old.parquet").to_parquet(folder / "written.parquet")
    assert run(folder, "fit", "--log", "written.parquet", "--log", "new.parquet", "--length", "2", "-o", out) == 0
    assert run(folder, "predict", out, "written.parquet", "-o", "written_lists.csv") == 0
    capsys.readouterr()
    pl.read_parquet(folder / "written.parquet").with_columns(  # as the service exports it
        size=pl.lit(None, pl.Float64), state=pl.when(pl.col("position") == 1).then(1)
    ).write_parquet(folder / "written.parquet")
    assert run(folder, "check", "--log", "written.parquet") == 0
    assert "No faults" in capsys.readouterr().out
    assert run(folder, "fit", "--log", "written.parquet", "--drop-bad", "--length", "2", "-o", out) == 0
    assert f"{N:,} lists" in capsys.readouterr().out
    alike = pl.read_csv(folder / "written_lists.csv").join(before, on=["problem", "item"], how="semi")
    assert len(alike) > 0.9 * len(before)


def test_a_log_with_rules_stands_beside_a_table_in_either_order(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(5)
    features = rng.random((300, ITEMS, 2))
    brands = np.tile(["x", "y", "x", "y", "x"], (300, 1))
    problems = lw.Problems.from_arrays(features, groups=brands, feature_names=["age", "price"])
    learner, log = lw.OnlineSCP(LENGTH, random_state=0), lw.feedback.Log()
    for part in (problems[:150].with_constraints(per_group=1), problems[150:]):
        lists = learner.recommend(part)
        log.append(lists)
        log.feedback(list(lists.list_ids), rng.random(lists.rows.shape) > lists.problems.features[lists.rows, 1])
    log.to_parquet(folder / "ruled.parquet")
    worth = {}
    for number, files in enumerate((["log.parquet", "ruled.parquet"], ["ruled.parquet", "log.parquet"])):
        both = [argument for file in files for argument in ("--log", file)]
        out = f"ruled{number}.listwright"
        assert run(folder, "fit", *both, "--length", "2", "--drop-bad", "-o", out) == 0
        assert f"{N + 300:,} lists" in capsys.readouterr().out
        assert run(folder, "evaluate", out, *both, "--json") == 0
        worth[number] = json.loads(capsys.readouterr().out)["estimates"]["direct"]["value"]
        assert run(folder, "evaluate", "online.listwright", *both) == 0
        assert run(folder, "plan", out, *both) == 0
        capsys.readouterr()
    assert worth[0] == pytest.approx(worth[1], abs=0.01)
    assert worth[0] > 1.3  # of two cheap items; an even draw earns 1.0


def test_columns_that_cannot_be_read_are_a_fault_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log_frame().with_columns(
        pl.col("propensity").cast(pl.String) + "?", user_id=pl.int_range(pl.len()), row=pl.lit("low")
    ).write_parquet(folder / "text.parquet")
    assert run(folder, "check", "--log", "text.parquet", "--ignore", "user_id") == 1
    told = capsys.readouterr().out
    assert "columns that must hold numbers: propensity" in told
    assert "user_id" not in told
    assert run(folder, "check", "--log", "text.parquet") == 1
    assert "columns that look like ids: user_id" in capsys.readouterr().out
    log_frame().with_columns(pl.col("position").cast(pl.String)).write_parquet(folder / "places.parquet")
    assert run(folder, "check", "--log", "places.parquet") == 1
    told = capsys.readouterr().out
    assert "columns that must hold numbers: position" in told
    assert "not shown" not in told
