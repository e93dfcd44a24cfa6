"""Our code and the peers' on the same inputs: `python -m benchmarks.speed [names of works]`."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module

from benchmarks.speed.growth import slopes
from benchmarks.speed.limits import limits
from benchmarks.speed.table import save, show, write_page
from benchmarks.speed.timing import Record

WORKS = ("facility", "selection", "coverage", "rouge", "pairwise", "one_list", "many_lists", "trajectory")


def main(wanted: list[str]) -> None:
    """Runs the works named, or all; only a full run is written down."""
    warnings.simplefilter("ignore")  # the peers' own
    records: list[Record] = []
    for work in wanted or WORKS:
        for record in import_module(f"benchmarks.speed.{work}").records():
            records.append(record)
            print(show(record), flush=True)
    if not wanted:
        save(records)
        write_page(records, slopes(), limits())


if __name__ == "__main__":
    main(sys.argv[1:])
