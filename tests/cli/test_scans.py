"""Data in parts on the command line: fit, predict, evaluate, compare and check with --max-memory, and checkpoints."""

from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

import listwright as lw
from listwright.cli import main
from tests.scan_tools import scanned, table, weights, written

pytest.importorskip("typer")
FIT = ["--reward", "any:clicked", "--ignore", "grade", "--length", "2", "--passes", "2"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command among two Parquet files; its exit code, and what it printed."""
    written(tmp_path, table(), (1204,))
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        printed = capsys.readouterr()
        return ended.value.code or 0, " ".join((printed.out + printed.err).split())

    return command


def test_from_files_to_lists_in_parts(run: Any, tmp_path: Path) -> None:
    code, told = run("fit", "part*.parquet", *FIT, "--max-memory", "50MB", "-o", "model.listwright")
    assert code == 0, told
    assert "300 problems, 2,400 candidates, 3 features; they are read in 1 parts, within 48 MiB of memory." in told
    model = lw.load("model.listwright")
    data = scanned(tmp_path, shard_size="64MB")
    same = lw.SCP(length=2, n_passes=2, effort="fast", random_state=0).fit(data)
    assert (weights(model) == weights(same)).all()
    code, told = run("predict", "model.listwright", "part*.parquet", "--max-memory", "50MB", "-o", "lists.parquet")
    assert (code, told) == (0, "Wrote 300 lists to lists.parquet.")
    assert parquet.read_table("lists.parquet").num_rows == 600
    code, told = run("evaluate", "model.listwright", "part*.parquet", "--max-memory", "50MB")
    assert told.startswith(f"300 problems: mean (95 % interval) value {model.score(data):.3f}")
    code, told = run("check", "part*.parquet", "--reward", "any:clicked", "--max-memory", "50MB")
    assert told.startswith("Problems: 300 problems")


def test_compare_takes_a_sample(run: Any) -> None:
    options = ["--reward", "any:clicked", "--methods", "random,oracle", "--lengths", "1", "--folds", "2"]
    code, told = run("compare", "part*.parquet", *options, "--max-memory", "50MB", "--json")
    assert code == 0
    assert '"method": "oracle"' in told


def test_a_fit_goes_on_from_its_checkpoint(run: Any) -> None:
    fit = ["fit", "part*.parquet", *FIT, "--checkpoint", "so_far.listwright", "--checkpoint-every", "1"]
    assert run(*fit, "-o", "one.listwright")[0] == 0
    assert lw.load("so_far.listwright").n_rounds_ == 600
    code, told = run(*fit, "--resume", "-o", "two.listwright")
    assert code == 0, told
    assert (weights(lw.load("one.listwright")) == weights(lw.load("two.listwright"))).all()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["fit", "part0.parquet", *FIT, "--resume", "-o", "m"], 2, "name the file to resume from with --checkpoint"),
        (
            ["fit", "part0.parquet", *FIT, "--checkpoint", "no", "--resume", "-o", "m"],
            1,
            "no checkpoint no to resume from",
        ),
        (["fit", "part0.parquet", *FIT, "--address", "auto", "-o", "m"], 2, "needs --engine ray"),
        (["fit", "part0.parquet", *FIT, "--engine", "spark", "-o", "m"], 1, "engine must be one of local, ray"),
        (["fit", "part0.parquet", *FIT, "--max-memory", "much", "-o", "m"], 1, "max_memory must be a size such as 1GB"),
        (["fit", "-", *FIT, "--max-memory", "1GB", "-o", "m"], 1, "--max-memory and --engine are for Parquet files"),
        (["fit", "part*.parquet", *FIT, "--max-memory", "1kB", "-o", "m"], 1, "max_memory is 0 MB: raise it"),
    ],
    ids=lambda value: " ".join(value[-4:-2]) if isinstance(value, list) else "",
)
def test_what_cannot_be_is_told(run: Any, arguments: list[str], code: int, message: str) -> None:
    found, told = run(*arguments)
    assert found == code
    assert message in told.replace("│ ", "").replace("│", "")


def test_lists_in_parts_go_to_parquet(run: Any) -> None:
    assert run("fit", "part*.parquet", *FIT, "--max-memory", "50MB", "-o", "model.listwright")[0] == 0
    code, told = run("predict", "model.listwright", "part*.parquet", "--max-memory", "50MB", "-o", "lists.csv")
    assert code == 1
    assert "go to a .parquet file" in told


@pytest.mark.system
def test_an_unreachable_cluster_is_named(run: Any) -> None:
    pytest.importorskip("ray", reason="needs ray, which is not installed")
    code, told = run("fit", "part*.parquet", *FIT, "--engine", "ray", "--address", "127.0.0.1:9", "-o", "m")
    assert code == 1
    assert "There is no Ray cluster at 127.0.0.1:9" in told
