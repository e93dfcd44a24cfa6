"""How long a large log takes: a million shown items, with all the candidates that were not shown."""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import listwright as lw

LISTS, CANDIDATES, LENGTH, COLUMNS = 200_000, 30, 5, 10


def large_log() -> dict[str, Any]:
    """Seconds of the clock, and of the processor in brackets: other programs may run beside this one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        pq.write_table(_table(), path)
        figures: dict[str, Any] = {"lists": LISTS, "shown": LISTS * LENGTH, "candidates": LISTS * CANDIDATES}
        log = _timed(figures, "read", lambda: lw.feedback.Log.from_parquet(path))
        model = _timed(figures, "fit_log", lambda: lw.OnlineSCP(LENGTH, random_state=0).fit_log(log))
        _timed(figures, "evaluate", lambda: lw.feedback.evaluate(log, model.predict))
        figures["memory, GiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return figures


def _timed(figures: dict[str, Any], name: str, work: Any) -> Any:
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    figures[name] = [time.perf_counter() - clock, time.process_time() - processor]
    return result


def _table() -> pa.Table:
    """Lists drawn by a softmax of the first column, position by position."""
    rng = np.random.default_rng(0)
    features = rng.random((LISTS, CANDIDATES, COLUMNS), dtype=np.float32)
    left = 2.0 * features[..., 0].astype(np.float64)
    position, chance = np.zeros((LISTS, CANDIDATES)), np.full((LISTS, CANDIDATES), np.nan)
    for at in range(1, LENGTH + 1):
        mass = np.exp(left)
        mass /= mass.sum(axis=1, keepdims=True)
        drawn = (mass.cumsum(axis=1) > rng.random((LISTS, 1))).argmax(axis=1)
        rows = np.arange(LISTS), drawn
        position[rows], chance[rows], left[rows] = at, mass[rows], -np.inf
    clicks = rng.random(position.shape) < 1.0 / (1.0 + np.exp(3.0 - 4.0 * features[..., 1]))
    shown = (position > 0).ravel()
    columns: dict[str, Any] = {
        "request_id": np.repeat(np.arange(LISTS), CANDIDATES),
        "item_id": np.tile(np.arange(CANDIDATES), LISTS),
        "position": pa.array(position.ravel(), mask=~shown),
        "clicked": pa.array(clicks.ravel().astype(float), mask=~shown),
        "propensity": pa.array(chance.ravel(), mask=~shown),
    }
    return pa.table(columns | {f"x{j}": features[..., j].ravel() for j in range(COLUMNS)})
