"""Estimates the memory that a selection needs before it starts, and how much is free."""

from __future__ import annotations

import os
from pathlib import Path

from listwright.errors import InputError

CGROUPS = (("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),)  # limit and use of a container


def available() -> int:
    """Return the free memory in bytes, also inside a container; a very large number if the system does not say."""
    free = _from_meminfo()
    for limit, used in CGROUPS:
        try:
            free = min(free, int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # there is none, or it is "max"
            continue
    return max(free, 0)


def _from_meminfo() -> int:
    """Return the free memory of the machine from /proc/meminfo, or else its total memory."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 1 << 62


def in_words(size: float) -> str:
    """Format a number of bytes."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def must_fit(size: int, what: str, advice: str) -> None:
    """Raise `InputError` if more memory is needed than is free."""
    free = available()
    if size > free:
        raise InputError(f"{what} needs about {in_words(size)} of memory, and {in_words(free)} are free. {advice}")


def n_bytes(n: int, d: int, k: int, *, reward: str, metric: str, neighbors: int | None, on_disk: bool = False) -> int:
    """Return the bytes that a selection needs besides its input."""
    scaled = 0 if on_disk else 4 * n * d
    work = 64 * 1024**2 + 160 * n  # tiles and marks
    if reward == "feature_based":
        return 40 * n * d
    if reward == "log_det":
        return work + scaled + (4 * n * k if metric == "rbf" else 8 * k * d)
    return work + scaled + (44 * n * neighbors if neighbors is not None else 0)


def describe_memory(
    path: Path, column: str | None, k: int | None, *, reward: str, metric: str, neighbors: int | None
) -> str:
    """Return a sentence about the memory that a selection from a file will need, for the command line."""
    from listwright.selection.intake import shape_of

    (n, d), on_disk = shape_of(path, column), path.suffix == ".npy"
    size = n_bytes(n, d, k or n, reward=reward, metric=metric, neighbors=neighbors, on_disk=on_disk)
    size += 0 if on_disk else 4 * n * d
    return f"{n:,} rows of {d:,} numbers: about {in_words(size)} of memory, and {in_words(available())} are free."
