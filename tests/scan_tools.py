"""What the tests of scans and engines share: a table of problems, written as Parquet files."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import listwright as lw
from listwright.tables import Scan, scan


def table(n: int = 300, items: int = 8, *, seed: int = 0) -> pa.Table:
    """Two features of three tell what succeeds, and items of the kind that a list has already do not help."""
    rng = np.random.default_rng(seed)
    features = rng.random((n * items, 3)).astype(np.float32)
    clicked = features[:, 0] + 0.5 * features[:, 1] > 1.0 + 0.3 * rng.random(n * items)
    columns = {"problem": np.repeat(np.arange(n), items), "item": np.tile(np.arange(items), n)}
    columns |= {f"f{i}": features[:, i] for i in range(3)}
    columns |= {
        "clicked": clicked.astype(np.int64),
        "grade": rng.integers(4, size=n * items),
        "size": 1.0 + columns["item"],
    }
    return pa.table(columns)


def written(folder: Path, rows: pa.Table, cuts: tuple[int, ...] = (), *, group: int = 120) -> list[Path]:
    """The rows in one file more than there are cuts, in row groups that problems do not care for."""
    ends = [0, *cuts, rows.num_rows]
    paths = [folder / f"part{i}.parquet" for i in range(len(ends) - 1)]
    for path, low, high in zip(paths, ends[:-1], ends[1:], strict=True):
        parquet.write_table(rows.slice(low, high - low), path, row_group_size=group)
    return paths


def scanned(folder: Path, **options: Any) -> Scan:
    """About a dozen shards that are cut within row groups and across two files."""
    written(folder, table(), (1204,))
    return scan(folder, **({"reward": "any:clicked", "shard_size": 9_000, "ignore": ["grade"]} | options))


def weights(model: lw.SCP) -> Any:
    """What was learned."""
    return model.policy_.weights
