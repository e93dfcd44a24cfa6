"""Functions without a wrapper for Python are called by kernels only, and each kernel is compiled once per type."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

import listwright
from listwright import _kernels

SOURCES = Path(listwright.__file__).parent


def _inner_functions() -> set[tuple[str, str]]:
    """Returns (module, name) of all functions that Python cannot call."""
    found = set()
    for info in pkgutil.iter_modules(_kernels.__path__, "listwright._kernels."):
        for one in vars(importlib.import_module(info.name)).values():
            if isinstance(one, Dispatcher) and one.targetoptions.get("no_cpython_wrapper"):
                found.add((one.py_func.__module__, one.py_func.__name__))
    return found


def test_only_kernels_import_inner_functions() -> None:
    inner = _inner_functions()
    assert ("listwright._kernels.rows", "best_of") in inner
    for path in SOURCES.rglob("*.py"):
        if path.parent.name != "_kernels":
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom):
                    assert not inner & {(node.module or "", name.name) for name in node.names}, path


PROGRAM = """
from collections import Counter
import numpy as np
from numba.core import event
import listwright as lw
from listwright.baselines import DPP, MMR, TopK

class Counts(event.Listener):
    found = Counter()
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if "listwright" in function.__module__:
            self.found[f"{function.__module__}.{function.__name__}"] += 1
    def on_end(self, event):
        pass

event.register("numba:compile", Counts())
x = np.random.default_rng(0).random((12, 5, 2)).astype(np.float32)
problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7))
for model in (lw.SCP(effort="fast"), MMR(0.5, relevance="ridge"), DPP(relevance="ridge"), TopK("ridge")):
    model.set_params(length=2).fit(problems).predict(problems.without_reward())
print(*(f"{name}={count}" for name, count in Counts.found.items()))
"""


@pytest.mark.system
def test_nothing_is_compiled_twice(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    counts = dict(part.split("=") for part in done.stdout.split())
    assert {"walk.walk_lists", "mmr._measure", "dpp._along", "losses.sort_within"} <= {
        name.removeprefix("listwright._kernels.") for name in counts
    }
    assert {name: count for name, count in counts.items() if count != "1"} == {}


def test_a_cache_that_another_version_wrote_is_not_read(tmp_path: Path) -> None:
    program = "from listwright.guarantees import lower_mean; print(lower_mean([0.5, 0.7, 0.9]))"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", program]
    first = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    (index,) = tmp_path.rglob("*count_winners*.nbi")
    renamed = b"cno_such_module\nNoSuchClass\n."  # a pickle of a class that is no longer there
    index.write_bytes(b"Vanother version\n." + renamed)
    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert again.stdout == first.stdout
