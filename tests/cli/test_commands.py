"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import listwright
from listwright.cli import main
from listwright.experiments import EXPERIMENTS, Experiment, demo
from listwright.report import ReportTable, Section

COMMANDS = ("demo", "reproduce", "summarize")
RECORD = {"experiment": "tiny", "method": "SCP", "n_train": 3, "length": 1, "metric": "failure", "mean": 0.25}


@pytest.fixture
def call(capsys):
    """`call("demo", "--help")` gives (exit code, standard output, standard error)."""

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        code = ended.value.code
        return (0 if code is None else code, *capsys.readouterr())

    return run


@pytest.fixture
def tiny(monkeypatch):
    """An experiment that takes no time and notes how it was called."""
    module = ModuleType("tiny_experiment")
    module.calls = []

    def run(**settings):
        module.calls.append(settings)
        return [RECORD]

    module.run = run
    module.section = lambda records, **source: Section(
        "Tiny", "How.", [ReportTable(["method", "1"], [["SCP", "25.0"]])]
    )
    module.findings = lambda records, **source: "SCP fails in 25.0%."
    monkeypatch.setitem(sys.modules, "tiny_experiment", module)
    monkeypatch.setitem(EXPERIMENTS, "news", Experiment("news", "tiny", "tiny_experiment"))
    return module


def test_help_lists_the_commands(call):
    code, out, _ = call("--help")
    assert code == 0
    assert all(name in out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(call, name):
    code, out, _ = call(name, "--help")
    assert code == 0
    assert f"Example: listwright {name}" in out


def test_help_imports_nothing_heavy():
    call = "import sys, listwright.cli\ntry:\n    listwright.cli.main(['reproduce', '--help'])\n"
    script = call + "finally:\n    print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "listwright.cli.reproduce" in loaded
    assert not loaded & {"altair", "numba", "numpy", "scipy", "sklearn"}


def test_version(call):
    assert call("--version") == (0, f"listwright {listwright.__version__}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("reproduce", "nonsense"),
        ("reproduce", "news", "--seeds", "0"),
        ("reproduce", "news", "--data", "."),
    ],
)
def test_wrong_usage_is_exit_2(call, arguments):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert "Traceback" not in err


def test_unknown_experiment_names_the_known_ones(call):
    assert "Choose one of trajectory, news, summaries, all" in " ".join(
        call("reproduce", "nonsense")[2].replace("│", " ").split()
    )


def test_missing_data_is_exit_1(call, tmp_path):
    code, out, err = call("reproduce", "trajectory", "--data", str(tmp_path))
    assert (code, out) == (1, "")
    missing = f"There is no scp_trajectory.npz or traj_train.txt in {tmp_path}."
    assert err == f"Error: {missing} Leave --data out to use the simulated arm.\n"


def test_unreadable_data_is_exit_1(call, tmp_path):
    (tmp_path / "scp_trajectory.npz").write_text("not numbers")
    code, _, err = call("reproduce", "trajectory", "--data", str(tmp_path))
    assert code == 1
    assert err.startswith(f"Error: Cannot read {tmp_path / 'scp_trajectory.npz'}")
    assert "Traceback" not in err


def test_reproduce_prints_tables_and_writes_files(call, tiny, tmp_path):
    code, out, _ = call("reproduce", "news", "--seeds", "3", "--jobs", "2", "--out", str(tmp_path / "out"))
    assert code == 0
    assert tiny.calls == [{"seeds": 3, "jobs": 2}]
    assert all(text in out for text in ("Tiny", "How.", "25.0", "SCP fails in 25.0%."))
    assert json.loads((tmp_path / "out" / "results.json").read_text()) == [RECORD]
    assert "SCP fails in 25.0%." in (tmp_path / "out" / "report.html").read_text()


def test_reproduce_for_machines(call, tiny, tmp_path):
    code, out, _ = call("reproduce", "news", "--json", "--out", str(tmp_path))
    assert code == 0
    assert json.loads(out) == [RECORD]


def test_unwritable_out_is_exit_1(call, tiny, tmp_path):
    (tmp_path / "taken").write_text("")
    code, _, err = call("reproduce", "news", "--json", "--out", str(tmp_path / "taken"))
    assert code == 1
    assert "Cannot write" in err
    assert "Traceback" not in err


class Elsewhere:
    """Takes the place of another process: all lists of its methods are worth one half."""

    def __init__(self, *arguments, **settings):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def submit(self, work):
        half = demo.MethodRun(np.full((len(demo.LENGTHS), 30), 0.5), 7.0)
        return SimpleNamespace(result=lambda: dict.fromkeys(demo.APART, half))


@pytest.fixture
def small_demo(monkeypatch):
    """A demo on a few questions, without the methods that take longest."""
    run = demo.run
    monkeypatch.setattr(demo, "run", lambda **settings: run(n_train=20, n_test=30, **settings))
    monkeypatch.setattr("listwright.cli.reproduce.ProcessPoolExecutor", Elsewhere)


def test_demo_writes_a_page_and_fits_one_screen(call, tmp_path, small_demo, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    code, out, _ = call("demo")
    assert code == 0
    lines = out.splitlines()
    assert len(lines) <= 39  # a longer path of the page comes on top
    assert max(map(len, lines)) <= 80
    assert all(
        name in out for name in ("sorted by relevance", "MMR, tuned", "DPP, tuned", "ConSeqOpt", "SCP", "oracle")
    )
    assert 'with effort="auto", 7.0 s' in " ".join(out.split())
    assert "On problems like these 30, with 95 % confidence" in out
    assert "made up" in out
    assert "docs/results.md" in out
    page = (tmp_path / "report.html").read_text()
    assert page.count('class="chart"') == 1
    assert page.count('<details class="problem">') == 10


def test_demo_for_machines(call, tmp_path, small_demo):
    code, out, _ = call("demo", "--json", "--out", str(tmp_path / "page.html"))
    assert code == 0
    assert {record["metric"] for record in json.loads(out)} == {"value"}


def test_missing_typer_names_the_extra(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "listwright.cli.app", raising=False)
    monkeypatch.delitem(sys.modules, "listwright.cli.reproduce", raising=False)
    code, _, err = call("--help")
    assert code == 1
    assert err == 'Error: The command line needs typer. Run: pip install "listwright[cli]"\n'
