"""A large set of problems as Parquet files, made at the speed of the disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

ITEMS, FEATURES, GROUP = 25, 32, 50_000  # candidates a problem, features, rows of a row group
ROW = 8 * FEATURES + 8 + 2 + 1  # bytes
FILE = 1_000_000_000  # bytes of a file, about


def generate(folder: Path, n_bytes: int) -> int:
    """Writes files of about so many bytes together, and gives the number of rows.

    All row groups hold the same random features, under other problem ids: what is to be measured does not care.
    """
    n_groups, a_file = -(-n_bytes // (ROW * GROUP)), FILE // (ROW * GROUP)
    table = _group(GROUP // ITEMS)
    for number, first in enumerate(range(0, n_groups, a_file)):
        path = folder / f"part{number:03}.parquet"
        with parquet.ParquetWriter(path, table.schema, compression="none", use_dictionary=False) as writer:
            for group in range(first, min(first + a_file, n_groups)):
                ids = np.repeat(np.arange(GROUP // ITEMS) + group * (GROUP // ITEMS), ITEMS)
                writer.write_table(table.set_column(0, "problem", pa.array(ids)), row_group_size=GROUP)
    return n_groups * GROUP


def _group(n_problems: int) -> pa.Table:
    rng = np.random.default_rng(0)
    features = rng.random((n_problems * ITEMS, FEATURES))
    clicked = features[:, 0] + features[:, 1] * rng.random(len(features)) > 1.2
    columns = {
        "problem": np.zeros(len(features), np.int64),
        "item": np.tile(np.arange(ITEMS, dtype=np.int16), n_problems),
    }
    columns |= {f"f{i}": features[:, i] for i in range(FEATURES)}
    return pa.table(columns | {"clicked": clicked.astype(np.int8)})
