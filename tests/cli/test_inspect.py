"""What a model file tells on the command line, in words, bars and charts; compiling ahead; progress in plain lines."""

from __future__ import annotations

import io
import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import listwright as lw
from listwright import _kernels
from listwright.cli import main, show

pytest.importorskip("typer")


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = ["problem,item,quality,age,clicked"]
    for i in range(80):
        for j in range(6):
            quality = rng.random()
            lines.append(f"q{i},a{j},{quality:.3f},{rng.random():.3f},{int(quality + 0.2 * rng.random() > 0.8)}")
    Path("past.csv").write_text("\n".join(lines[:361]) + "\n")
    Path("held_out.csv").write_text("\n".join([lines[0], *lines[361:]]) + "\n")

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        return (ended.value.code or 0, *capsys.readouterr())

    assert run("fit", "past.csv", "--reward", "any:clicked", "--length", "2", "-o", "m.listwright")[0] == 0
    return run


def test_inspect_shows_bars_of_weights_and_of_importance(call):
    code, out, _ = call("inspect", "m.listwright", "held_out.csv")
    assert code == 0
    lines = out.splitlines()
    weights = lines.index("weights, per standard deviation of a feature:")
    assert lines[weights + 1].split()[0] == "quality"
    assert lines[weights + 1].endswith("█" * 30)
    important = lines.index("importance: what lists lose without a feature:")
    assert lines[important + 1].startswith("  quality  +0.")
    assert "measured: Lists of 2 items are worth 0." in out
    assert "importance" not in call("inspect", "m.listwright")[1]


def test_inspect_for_machines(call):
    told = json.loads(call("inspect", "m.listwright", "held_out.csv", "--json")[1])
    assert told["importance"][0]["feature"] == "quality"
    assert told["history"][0]["held_out_value"] is None
    assert {"feature", "group", "weight"} == set(told["weights"][0])


def test_inspect_draws_a_page(call):
    pytest.importorskip("vl_convert")
    pytest.importorskip("altair")
    assert call("inspect", "m.listwright", "held_out.csv", "-o", "model.html")[0] == 0
    page = Path("model.html").read_text(encoding="utf8")
    assert all(title in page for title in ("What it looks at", "Weights", "How it learned"))
    code, _, err = call("inspect", "m.listwright", "-o", "model.png")
    assert (code, err) == (1, "Error: The report must be a file that ends in .html. Got model.png.\n")


def test_inspect_needs_to_know_what_lists_are_worth(call):
    x = np.random.default_rng(0).random((30, 5, 2))
    given = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7), feature_names=["quality", "age"])
    lw.SCP(2, effort="fast", random_state=0).fit(given).save("own.listwright")
    code, _, err = call("inspect", "own.listwright", "held_out.csv")
    assert code == 1
    assert "does not know what lists are worth" in err


def test_mistakes_are_notes(call):
    table = Path("past.csv").read_text().splitlines()
    rows = [f"{line},{1 + i % 6}" for i, line in enumerate(table[1:])]
    Path("log.csv").write_text("\n".join([table[0] + ",slot", *rows]) + "\n")
    code, _, err = call("fit", "log.csv", "--reward", "any:clicked", "--length", "2", "-o", "n.listwright")
    assert code == 0
    assert "Note: Column slot counts the candidates" in err
    assert "leave it out with --ignore" in err


def test_progress_is_told_in_plain_lines_where_nobody_watches(capsys, monkeypatch):
    monkeypatch.setattr(show, "EVERY", 0.0)
    with show.progress("learning") as report:
        report("learning", 3, 40)
    assert capsys.readouterr().err == "learning: 3 of 40\n"


def test_nothing_is_told_of_what_is_short(capsys):
    with show.progress("learning") as report:
        report("learning", 3, 40)
    assert capsys.readouterr().err == ""


def test_warmup_compiles_ahead(call):
    code, _, err = call("warmup")
    assert code == 0
    assert err.splitlines()[-1].startswith("Compiled in ")


def test_long_compiling_is_announced_once(capsys, monkeypatch):
    monkeypatch.setattr(_kernels, "SOON", 0.05)
    announcer = _kernels.Announcer()
    for seconds in (0.0, 0.3, 0.3):
        announcer.on_start(None)
        announcer.on_start(None)  # a function that the first one calls
        announcer.on_end(None)
        time.sleep(seconds)
        announcer.on_end(None)
    assert capsys.readouterr().err.count("Compiling once: about") == 1


def test_compiling_is_counted_on_a_terminal(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "__stderr__", terminal)
    monkeypatch.setattr(_kernels, "SOON", 0.0)
    announcer = _kernels.Announcer()
    announcer.on_start(None)
    announcer.on_start(None)
    announcer.on_end(None)
    shown = terminal.getvalue()
    announcer.on_end(None)
    assert [" 0 functions," in shown, " 1 functions," in shown] == [True, True]
    assert terminal.getvalue() == shown + "\r\x1b[K"
