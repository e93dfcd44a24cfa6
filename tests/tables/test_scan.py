"""Scans: Parquet files as blocks of whole problems."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import listwright as lw
from listwright.errors import InputError
from listwright.tables import read, scan
from listwright.tables.shards import as_bytes
from tests.scan_tools import scanned, table, written


def test_blocks_are_whole_problems_and_all_of_them(tmp_path: Path) -> None:
    data = scanned(tmp_path, max_memory=120_000)
    whole = lw.Problems.from_frame(table(), reward="any:clicked", ignore=["grade"])
    blocks = list(data)
    assert len(data.shards) > 8
    assert len(blocks) > len(data.shards)
    assert max(block.n_rows for block in blocks) < 2 * data.block_rows + 8
    assert np.array_equal(np.concatenate([block.problem_ids for block in blocks]), whole.problem_ids)
    assert np.array_equal(np.concatenate([block.features for block in blocks]), whole.features)
    assert (np.concatenate([block.counts for block in blocks]) == 8).all()
    assert [block.reward.gains(block.reward.start(block)).sum() for block in blocks] == pytest.approx(
        [float(block.reward.tables["success"].values.sum()) for block in blocks]
    )


def test_a_problem_may_go_on_in_the_next_file(tmp_path: Path) -> None:
    rows = table(20)
    written(tmp_path, rows, (11, 13, 90), group=7)
    data = scan(tmp_path, reward="any:clicked", shard_size=1)
    together = lw.Problems.concat(list(data))
    assert len(data) == len(together) == 20
    assert np.array_equal(together.item_ids, np.asarray(rows["item"]))
    assert sum(shard.n_problems for shard in data.shards) == 20
    assert {len({piece.path for piece in shard.pieces}) for shard in data.shards} > {1}


def test_levels_catalogue_and_grades_are_those_of_all_files(tmp_path: Path) -> None:
    kinds = pa.array([f"kind {problem % 7}" for problem in np.repeat(np.arange(300), 8)])
    rows = table().append_column("kind", kinds).append_column("name", table()["item"].cast(pa.string()))
    written(tmp_path, rows, (1204,))
    options = {"reward": "graded:grade", "categorical": ["kind"], "catalogue": "name", "ignore": ["clicked"]}
    blocks = list(scan(tmp_path, shard_size=12_000, max_memory=300_000, **options))
    whole = read(tmp_path / "part0.parquet", **options)
    levels = [f"kind=kind {i}" for i in range(7)]
    assert all(set(levels) <= set(block.feature_names) for block in blocks)
    assert all(block.catalogue.max() == 7 for block in blocks)
    first = len(blocks[0])
    mine, theirs = (part.reward.gains(part.reward.start(part)) for part in (blocks[0], whole[:first]))
    assert np.array_equal(mine, theirs)


def test_a_sample_fits_the_memory_and_is_the_same_again(tmp_path: Path) -> None:
    data = scanned(tmp_path)
    everything, some = data.sample(), data.sample(max_memory=60_000)
    assert len(everything) == 300
    assert 0 < len(some) < 150
    assert np.array_equal(some.problem_ids, data.sample(max_memory=60_000).problem_ids)
    assert set(some.problem_ids) <= set(everything.problem_ids)
    compared = lw.compare({"static": lw.baselines.Random()}, data, lengths=[2])
    assert len(compared.table().records()) == 1


def test_unsorted_rows_are_reported_with_the_command_that_sorts(tmp_path: Path) -> None:
    rows = table(20)
    written(tmp_path, pa.concat_tables([rows.slice(4), rows.slice(0, 4)]))
    with pytest.raises(InputError, match=r"problem 0 are not contiguous.*row 0 and .*part0.parquet, row 156") as told:
        scan(tmp_path, reward="any:clicked")
    command = str(told.value).partition('python -c "')[2].removesuffix('"')
    subprocess.run([sys.executable, "-c", command], cwd=tmp_path, check=True)
    (tmp_path / "part0.parquet").unlink()
    assert len(scan(tmp_path, reward="any:clicked")) == 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop_columns(["f1"]), "part1.parquet has no column 'f1', which .*part0.parquet has"),
        (
            lambda rows: rows.append_column("new", rows["f1"]),
            "part0.parquet has no column 'new', which .*part1.parquet",
        ),
        (
            lambda rows: rows.set_column(2, "f0", rows["f0"].cast(pa.string())),
            "Column 'f0' is float in .*part0.parquet and string in .*part1.parquet",
        ),
        (lambda rows: rows.slice(0, 0), "part1.parquet has no rows"),
    ],
    ids=["a column less", "a column more", "another type", "no rows"],
)
def test_files_that_are_not_alike_are_named(tmp_path: Path, change, message: str) -> None:
    first, second = written(tmp_path, table(20), (80,))
    parquet.write_table(change(parquet.read_table(second)), second)
    with pytest.raises(InputError, match=message):
        scan([first, second], reward="any:clicked")


def test_files_that_vanish_or_change_are_named(tmp_path: Path) -> None:
    data = scanned(tmp_path)
    parquet.write_table(table(7), tmp_path / "part0.parquet")
    with pytest.raises(InputError, match=r"part0.parquet has changed since the scan"):
        list(data)
    (tmp_path / "part0.parquet").unlink()
    with pytest.raises(InputError, match=r"There is no file .*part0.parquet"):
        lw.SCP(length=2, effort="fast").fit(data)


def test_bad_values_are_named_by_file_and_row(tmp_path: Path) -> None:
    values = np.asarray(table()["f1"]).copy()
    values[1500] = np.nan
    written(tmp_path, table().set_column(3, "f1", pa.array(values)), (1204,))
    with pytest.raises(InputError, match=r"part1.parquet, row 296 \(from 0\), column 'f1': the value is missing"):
        list(scan(tmp_path, reward="any:clicked"))


def test_what_cannot_be_says_what_to_do(tmp_path: Path) -> None:
    data = scanned(tmp_path)
    with pytest.raises(InputError, match=r"Problem \d+ has 8 candidates, .* max_memory is 0 MB: raise it"):
        scan(tmp_path, reward="any:clicked", max_memory=1000)
    with pytest.raises(InputError, match=r"max_memory must be a size such as 1GB or 500MB. Got 'lots'"):
        scan(tmp_path, max_memory="lots")
    with pytest.raises(InputError, match="reward as text"):
        scan(tmp_path, reward=lw.rewards.AnySuccess([[1.0]]))
    with pytest.raises(InputError, match=r"tune=True.*scan.sample\(\)"):
        lw.SCP(length=2, tune=True).fit(data)
    with pytest.raises(InputError, match=r"not a Scan. Pass scan.sample\(\)"):
        lw.baselines.TopK(length=2).fit(data)
    with pytest.raises(InputError, match=r"in memory. Pass scan.sample\(\)"):
        lw.ContextFreeSCP(length=2).fit(data)
    with pytest.raises(InputError, match="fit needs a reward"):
        lw.SCP(length=2, effort="fast").fit(data.without_reward())
    (tmp_path / "log.csv").write_text("problem,clicked\n")
    with pytest.raises(InputError, match=r"reads Parquet files, and .*log.csv is csv"):
        scan(tmp_path)
    with pytest.raises(InputError, match=r"No file matches .*nothing\*.parquet"):
        scan(tmp_path / "nothing*.parquet")


def test_sizes_in_words() -> None:
    assert [as_bytes(text, "x") for text in ("2kb", "1 MB", "0.5GiB", 17)] == [2000, 1_000_000, 500_000_000, 17]
