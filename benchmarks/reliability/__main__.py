"""Proofs of the service: `python -m benchmarks.reliability NAME [arguments]`, with one of the names below."""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = ("load", "bare", "combined", "crash", "postgres", "replicas", "together", "hostile", "fuzz")

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"Name one of {', '.join(NAMES)}.")
    import_module(f"benchmarks.reliability.{sys.argv[1]}").main(sys.argv[2:])
