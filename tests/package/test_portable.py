"""The library and the command line need nothing that only Linux has."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = r"""
import builtins, importlib, importlib.util, os, pkgutil, signal, sys, tempfile, warnings
import joblib, numba, numpy as np, pyarrow.dataset, scipy.sparse, sklearn.linear_model, skops.io
EXTRAS = ("altair", "pandas", "sqlalchemy", "typer", "uvicorn")
THERE = {name: importlib.util.find_spec(name) is not None for name in EXTRAS}
for name in EXTRAS:
    if THERE[name]:
        importlib.import_module(name)

ABSENT = {"fcntl", "grp", "posix", "pwd", "resource", "termios", "tty"}
for module, names in {
    os: "fork getloadavg getuid geteuid sched_getaffinity sched_setaffinity statvfs sysconf uname",
    signal: "SIGALRM SIGHUP SIGKILL SIGQUIT SIGUSR1 SIGUSR2 alarm pthread_sigmask",
}.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
imports = builtins.__import__

def without_linux(name, globals=None, *rest, **more):
    if name in ABSENT and str((globals or {}).get("__name__")).startswith("listwright"):
        raise ImportError(name)
    return imports(name, globals, *rest, **more)

builtins.__import__ = without_linux
import listwright as lw

for info in pkgutil.walk_packages(lw.__path__, "listwright."):
    if info.name != "listwright.__main__":
        try:
            importlib.import_module(info.name)
        except ImportError as error:  # of an extra that is not installed
            assert "pip install" in str(error) or not (error.name or "").startswith("listwright"), error
            assert error.name not in ABSENT and str(error) not in ABSENT, error
warnings.simplefilter("ignore")
x = np.random.default_rng(0).random((40, 6, 2))
problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.8))
model = lw.SCP(2, effort="fast", random_state=0).fit(problems[:30])
with tempfile.TemporaryDirectory() as folder:
    model.save(os.path.join(folder, "model.listwright"))
    again = lw.load(os.path.join(folder, "model.listwright"))
assert (again.predict(problems[30:]).rows == model.predict(problems[30:]).rows).all()
lw.select(x[0], 2)
if THERE["uvicorn"]:
    importlib.import_module("listwright.serve.server")._allow_connections(10**6)
if THERE["typer"]:
    try:
        importlib.import_module("listwright.cli").main(["check", "--help"])
    except SystemExit as end:
        assert not end.code
print("works")
"""


@pytest.mark.system
def test_everything_works_without_what_only_linux_has() -> None:
    # Kernels run as plain Python: what is compiled calls no operating system.
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
    assert done.stderr == ""
    assert done.stdout.endswith("works\n")
