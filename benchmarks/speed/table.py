"""What is written: results.json for programs, docs/performance.md for people."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

from benchmarks import first_minute
from benchmarks.speed.growth import Slope
from benchmarks.speed.limits import Limit
from benchmarks.speed.timing import Record

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "performance.md"

INTRODUCTION = """# Performance

Written by `make bench`. Each row compares listwright with another library on the same input: the two run alternately
in one process, and times are medians after a warm-up. `ratio` is the other library's time divided by ours, and `at
least` is the ratio required. The benchmark checks that results agree for facility location from a given similarity
and the pairwise hinge (value as good to 1e-6), coverage (no fewer topics over several draws of the data), ROUGE (the
same numbers) and MMR (the same list). It does not check facility location from vectors, DPP lists, or learned
policies, which are a different method from the MMR and SSD that they are timed against. Times of the authors' C++
code are constants, measured once on a machine with two cores, on other data than the simulated arm that ours is timed
on.

This run: {machine}. If the load exceeds the number of cores, everything is slower, multi-threaded code most of all,
and ratios mean little.

| work | peer | ours | peer's | ratio | at least |
|---|---|---:|---:|---:|---:|
"""

GROWTH = """
## Growth

How CPU time grows with the size of an input, as an exponent: 1 is linear, 0 is constant.

| what | grows with | power | at most |
|---|---|---:|---:|
"""

LIMITS = """
## Limits

| what | measured | required |
|---|---|---|
"""


def save(records: list[Record]) -> None:
    """results.json."""
    text = json.dumps([record.as_dict() for record in records], indent=2)
    (HERE / "results.json").write_text(text + "\n", encoding="utf-8")


def write_page(records: list[Record], slopes: list[Slope], limits: list[Limit]) -> None:
    """docs/performance.md."""
    cores, load = os.cpu_count(), os.getloadavg()[1]
    machine = f"{cores} cores ({platform.machine()}), Python {platform.python_version()}, load {load:.1f}"
    notes = dict.fromkeys(f"- {record.work}, {record.peer}: {record.note}.\n" for record in records if record.note)
    growth = (f"| {slope.what} | {slope.by} | {slope.power:.2f} | {slope.at_most:g} |\n" for slope in slopes)
    parts = [INTRODUCTION.format(machine=machine), *map(_line, records), "\n", *notes, GROWTH, *growth]
    parts += [LIMITS, *(f"| {limit.what} | {limit.seen} | {limit.asked} |\n" for limit in limits)]
    parts += ["\n", first_minute.section()]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("".join(parts), encoding="utf-8")


def show(record: Record) -> str:
    """One line for the terminal."""
    mark = "" if record.ratio >= record.at_least else "   BELOW"
    return f"{record.ratio:9.1f}x (at least {record.at_least:g}x){mark}  {record.work}; {record.peer}"


def _line(record: Record) -> str:
    cells = [record.work, record.peer, _time(record.ours_s), _time(record.peer_s)]
    digits = 1 if record.ratio < 10 else 0
    low = "" if record.ratio >= record.at_least else " (below)"
    return f"| {' | '.join(cells)} | {record.ratio:.{digits}f}x{low} | {record.at_least:g}x |\n"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"
