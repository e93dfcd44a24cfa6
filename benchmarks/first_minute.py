"""What the first minute with listwright costs, in a fresh environment: run `python -m benchmarks.first_minute`.

Each line is a process of its own. Cold lines have an empty NUMBA_CACHE_DIR, so their kernels are compiled. Processor
time is that of the process (resource.getrusage), which other work on the machine changes little; the service is timed
by the clock, too, from the start of the process until /readyz says yes. Writes benchmarks/first_minute.json and the
section of docs/performance.md.
"""

from __future__ import annotations

import compileall
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import listwright
from benchmarks.reliability.server import start

RESULTS = Path(__file__).with_suffix(".json")
PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
HEADING = "## The first minute\n"
PROBLEMS = """
import resource, sys
import numpy as np, listwright as lw
from listwright import SCP, ContextPacker
x = np.random.default_rng(0).random((200, 10, 4), dtype=np.float32)
noise = np.random.default_rng(1).random((200, 10))
problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] * noise > 0.6))
"""
FIT = "SCP(3, effort='fast', random_state=0).fit(problems[:150]).predict(problems[150:])"
PACK = "ContextPacker().pack('Who wrote it?', ['Ada wrote it.', 'The sea is wide.'], budget=50)"
SAVE = "SCP(3, effort='fast', random_state=0).fit(problems[:150]).save(sys.argv[1])"
COUNT = """
def spent():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
before = spent()
{call}
print(before, spent() - before)
"""
SECTION = """
What a new user waits for, by `python -m benchmarks.first_minute`: processor time of a process of its own, and for the
service also the time by the clock until `/readyz` says yes. Cold means that no kernel is compiled yet
(an empty `NUMBA_CACHE_DIR`); `listwright warmup` compiles them ahead of time. Load of the machine: {load}.

| what | cold | warm | imports | at most, cold | at most, warm |
|---|---:|---:|---:|---:|---:|
"""


class Line(NamedTuple):
    """One line of the table, in seconds."""

    what: str
    cold: float
    warm: float
    imports: float | None  # what importing takes beside it
    at_most: float
    at_most_warm: float | None

    def cells(self) -> list[str]:
        """Return the line as text."""
        numbers = (self.cold, self.warm, self.imports, self.at_most, self.at_most_warm)
        return [self.what, *("" if number is None else f"{number:.1f} s" for number in numbers)]


def call(code: str, cache: str, *arguments: str) -> tuple[float, float]:
    """Return the processor time of the imports and of a call, in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-c", PROBLEMS + COUNT.format(call=code), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=_environment(cache))
    imports, took = done.stdout.split()
    return float(imports), float(took)


def serve(model: Path, cache: str) -> tuple[float, float]:
    """Return the time by the clock until a service is ready, and its processor time."""
    with tempfile.TemporaryDirectory() as folder:
        started, before = time.perf_counter(), _children()
        server = start(model, f"sqlite:///{folder}/lists.db", Path(folder), environment=_environment(cache))
        ready = time.perf_counter() - started
        server.kill()
        return ready, _children() - before


def measure() -> list[Line]:
    """Run everything cold, then warm."""
    lines = []
    compileall.compile_dir(Path(listwright.__file__).parent, quiet=1)  # as an installation does
    calls = (("first `SCP(effort='fast')` fit and predict", FIT), ("first `ContextPacker().pack`", PACK))
    for what, code in calls:
        with tempfile.TemporaryDirectory() as cache:
            (imports, cold), (_, warm) = call(code, cache), call(code, cache)
        lines.append(Line(f"{what}, processor time", cold, warm, imports, 6.0, None))
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.listwright"
        call(SAVE, f"{folder}/kernels", str(model))
        (cold, cold_cpu), (warm, warm_cpu) = serve(model, cache), serve(model, cache)
    lines.append(Line("`listwright serve` ready, by the clock", cold, warm, None, 10.0, 2.0))
    lines.append(Line("`listwright serve` ready, processor time", cold_cpu, warm_cpu, None, 10.0, 2.0))
    return lines


def section() -> str:
    """Return the section of the page from what was last measured."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    rows = ("| " + " | ".join(Line(*line).cells()) + " |\n" for line in results["lines"])
    return "".join([HEADING, SECTION.format(load=results["load"]), *rows])


def main() -> None:
    """Measure, and write what was seen."""
    load, lines = f"{os.getloadavg()[0]:.1f}", measure()
    RESULTS.write_text(json.dumps({"load": load, "lines": lines}, indent=1) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8").partition("\n" + HEADING)[0]
    PAGE.write_text(f"{page}\n{section()}", encoding="utf-8")
    print(section())


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _environment(cache: str) -> dict[str, str]:
    return os.environ | {"NUMBA_CACHE_DIR": cache}


if __name__ == "__main__":
    main()
