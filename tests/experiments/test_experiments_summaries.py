"""The experiment on summaries and its command, on tiny settings."""

from __future__ import annotations

import json

import pytest

from listwright.cli import main
from listwright.experiments import EXPERIMENTS, summaries
from listwright.experiments.records import point
from listwright.experiments.summaries import AVERAGED, CURVE, LESS, PAPER, POOLED
from listwright.report import Figure, ReportTable

METHODS = ["SCP", "SubMod", "Lead", "Greedy (Oracle)"]


@pytest.fixture(scope="module")
def records():
    return summaries.run(seeds=2, sizes=[3], methods=METHODS, n_clusters=12)


@pytest.fixture
def call(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(one) for one in arguments])
        return (ended.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def reports(tmp_path):
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "a.txt").write_text("Floods hit Oslo on Monday. The river rose by two metres. Nobody was hurt.")
    (folder / "b.txt").write_text("The river in Oslo rose. Trains stopped after the floods.")
    return folder


def test_knowledge_pays(records):
    found = [point(records, name, n_train=8, length=665, metric="rouge1_r") for name in METHODS]
    scp, _, lead, oracle = (one["mean"] for one in found)
    assert lead < scp < oracle < 1
    assert all(one["low"] < one["mean"] < one["high"] for one in found)


def test_records_are_paired_and_curved(records):
    less = point(records, "Lead", n_train=8, length=665, metric=LESS)["mean"]
    means = [point(records, name, n_train=8, length=665, metric="rouge1_r")["mean"] for name in ("SCP", "Lead")]
    assert less == pytest.approx(means[0] - means[1], abs=1e-5)
    curve = [(one["method"], one["n_train"]) for one in records if one["metric"] == CURVE]
    assert curve == [("SCP", 3), ("SubMod", 3), ("SCP", 8), ("SubMod", 8)]
    assert json.loads(json.dumps(records)) == records


def test_full_curve_is_the_table(records):
    """The reward learned from and the score reported are the same number."""
    table = point(records, "SubMod", n_train=8, length=665, metric="rouge1_r")["mean"]
    assert point(records, "SubMod", n_train=8, length=665, metric=CURVE)["mean"] == pytest.approx(table, abs=1e-5)


def test_section_tells_the_budget_and_the_papers_numbers(records):
    section = summaries.section(records)
    assert [type(part) for part in section.parts] == [ReportTable, ReportTable, ReportTable, Figure]
    paper = section.parts[2]
    assert [row[0] for row in paper.rows] == ["SubMod", "Oracle"]  # of the methods that were run
    assert paper.rows[0][-3:] == list(PAPER["SubMod"][1:]) == ["37.39", "36.86", "37.99"]
    ours = [point(records, "SubMod", n_train=8, length=665, metric=one)["mean"] for one in (*AVERAGED, *POOLED)]
    assert paper.rows[0][1:7] == [f"{100 * score:.2f}" for score in ours]
    assert "which is on other data" in paper.caption
    assert "skip what no longer fits" in section.text
    text = summaries.findings(records)
    assert "665 bytes after 8 training clusters: SCP" in text
    assert "the oracle" in text


def test_summarize_prints_sentences_and_reasons(call, reports):
    code, out, err = call("summarize", reports, "--budget", "60b", "--explain")
    assert (code, err) == (0, "")
    sentence, why = out.splitlines()[:2]
    assert sentence in (reports / "a.txt").read_text() + (reports / "b.txt").read_text()
    assert ".txt, sentence " in why
    code, out, _ = call("summarize", reports, "--budget", "60b", "--json")
    (summary,) = json.loads(out)
    assert code == 0
    assert len(summary["summary"].encode()) <= 60


def test_summarize_notes_other_encodings(call, reports):
    (reports / "c.txt").write_bytes("Vannet steg på mandag.".encode("latin-1"))
    code, _, err = call("summarize", reports)
    assert code == 0
    assert err == f"Note: {reports / 'c.txt'} is not UTF-8; read as Windows-1252.\n"


@pytest.mark.parametrize(
    ("content", "budget", "message"),
    [
        (b"", "665b", "c.txt is empty"),
        (b"\0\1\2", "665b", "c.txt is not a text file"),
        (b"Rain.", "3b", "No sentence of reports fits 3 bytes: the shortest takes 5"),
        (b"Rain.", "much", "A budget is a number and a unit"),
    ],
)
def test_summarize_tells_what_is_wrong(call, reports, content, budget, message):
    (reports / "c.txt").write_bytes(content)
    code, out, err = call("summarize", reports, "--budget", budget)
    assert (code, out) == (1, "")
    assert message in err
    assert "Traceback" not in err


def test_training_without_references_is_told(call, tmp_path, reports):
    code, _, err = call("reproduce", "summaries", "--data", reports.parent, "--out", tmp_path / "out")
    assert code == 1
    assert "Cluster 'reports'" in err
    assert "has no references" in err


def test_unknown_models_are_told(call, reports):
    code, _, err = call("summarize", reports, "--model", reports / "a.txt")
    assert code == 1
    assert "a.txt" in err


def test_folders_go_to_the_experiments_that_read_them(call, tmp_path):
    found = {one.name: one.finds(tmp_path) for one in EXPERIMENTS.values()}
    assert found == {"trajectory": False, "news": False, "summaries": False}
    code, _, err = call("reproduce", "all", "--data", tmp_path)
    assert code == 2
    assert "no experiment can read" in " ".join(err.replace("│", " ").split())
    (tmp_path / "some.jsonl").write_text("{}")
    assert EXPERIMENTS["summaries"].finds(tmp_path)
    assert not EXPERIMENTS["trajectory"].finds(tmp_path)
