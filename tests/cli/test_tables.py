"""From a table to lists on the command line: what each command prints and writes."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.tree import DecisionTreeRegressor

import listwright as lw
from listwright.cli import main
from listwright.estimators import search
from listwright.estimators.wide import learning_bytes
from listwright.loading import load
from tests.cli.readers import FIT, commands, lw_read, records, table

pytest.importorskip("typer")
ROOT = Path(__file__).parents[2]


# Every command


PRINT_LITTLE = ("backup", "pack", "serve", "warmup")  # a file, JSON lines anyway, a log, a time


def test_every_command_is_documented_and_has_an_example() -> None:
    for name, command in commands().items():
        assert len(command.help or "") > 40, f"{name} does not say what it does"
        assert (command.epilog or "").startswith(f"Example: listwright {name}"), f"{name} has no example"
        for option in command.params:
            assert getattr(option, "help", None), f"{option.name} of {name} is undocumented"
        options = {text for option in command.params for text in option.opts}
        assert name in PRINT_LITTLE or "--json" in options, f"{name}: no --json"


def test_every_example_can_be_parsed() -> None:
    for name, command in commands().items():
        words = shlex.split(command.epilog.removeprefix("Example: listwright "))
        with command.make_context(name, words[1:], resilient_parsing=False) as context:
            assert words[0] == name
            assert not context.args


def test_every_command_is_on_the_front_page() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf8")
    assert [name for name in commands() if not re.search(rf"(listwright|make) {name}\b", page)] == []


@pytest.mark.system
def test_the_commands_of_the_front_page_run(capsys, monkeypatch, tmp_path) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf8").partition("## Command line and service")[2]
    lines = page.partition("```sh\n")[2].partition("```")[0].splitlines()
    monkeypatch.chdir(tmp_path)
    printed = []
    for line in lines:
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(line, comments=True)[1:])
        assert not ended.value.code, line
        printed.append(capsys.readouterr().out)
    assert len(printed) == 8
    assert re.match(r"Problem r304: 3 items\n  1\. \w+: score \d", printed[5])


# fit


def test_fit_says_what_it_starts_with_and_what_came_of_it(call, folder) -> None:
    arguments = ["--reward", "any:clicked", "--length", "2", "--effort", "fast", "-o", "again.listwright"]
    code, out, _ = call("fit", "past.csv", *arguments)
    assert code == 0
    first, *measured, last = out.splitlines()
    assert first == "60 problems, 360 candidates, 3 features; learning takes about 1 MiB of memory."
    sentence = " ".join(measured)
    assert re.match(r"Lists of 2 items are worth 0\.\d+ \(.*\) on 60 problems out of fold\.", sentence)
    assert "sorting by the best column" in sentence
    assert "regret" not in out
    assert last.startswith("Wrote again.listwright after ")
    assert (folder / "again.listwright").read_bytes() == (folder / "m.listwright").read_bytes()


def test_problems_held_back_give_a_certificate_that_the_file_keeps(call) -> None:
    arguments = ["fit", "past.csv", "--reward", "any:clicked", "--length", "2", "--effort", "fast"]
    arguments += ["-o", "certified.listwright"]
    out = " ".join(call(*arguments, "--certify", "0.5")[1].splitlines())
    assert "Lists of 2 items are worth 0." in out
    assert "on 30 problems held out." in out
    claim = "On problems like these 30, with 95 % confidence in all of it: lists are worth at least 0."
    assert claim in out
    assert claim in " ".join(call("inspect", "certified.listwright")[1].split())


def test_fit_says_how_it_chose_to_learn_and_the_file_keeps_it(call) -> None:
    arguments = ["fit", "past.csv", "--reward", "any:clicked", "--length", "2", "-o", "chosen.listwright"]
    assert "\nChosen: " in call(*arguments)[1]
    chosen = json.loads(call(*arguments, "--json")[1])["chosen"]["chosen"]
    assert f"Chosen: {chosen}" in call("inspect", "chosen.listwright")[1]


def test_fit_takes_several_tables(call, folder) -> None:
    told = call("fit", "past.csv", "held_out.csv", *FIT[:-1], "two.listwright")[1]
    assert told.startswith("90 problems, 540 candidates, 3 features; ")


def test_fit_counts_in_words(call, folder) -> None:
    (folder / "small.csv").write_text("problem,item,x,clicked\nr1,a1,1,0\nr1,a2,2,1\n")
    told = call("fit", "small.csv", *FIT[:-1], "small.listwright")[1]
    assert told.startswith("1 problem, 2 candidates, 1 feature; learning takes about 1 MiB of memory.")
    assert "While learning, lists were worth 1.000 on average." in told


def test_nothing_is_promised_before_an_error(call) -> None:
    code, out, _ = call("fit", "past.csv", "--reward", "any:clicked", "--length", "9", "-o", "wrong.listwright")
    assert (code, out) == (1, "")


def test_fit_for_machines(call, folder) -> None:
    code, out, _ = call("fit", "past.csv", "--reward", "any:clicked", "--budget", "7", "-o", "b.listwright", "--json")
    assert code == 0
    told = json.loads(out)
    assert (told["problems"], told["candidates"], told["features"], told["model"]) == (60, 360, 3, "b.listwright")
    assert load(folder / "b.listwright").budget == 7.0


def test_a_model_remembers_its_columns(call, folder) -> None:
    text = (folder / "past.csv").read_text().replace("problem,item,sport", "reader,article,sport", 1)
    (folder / "named.csv").write_text(text)
    named = [
        "--problem-column",
        "reader",
        "--item-column",
        "article",
        "--features",
        "sport,music",
        "--features",
        "qual*",
    ]
    fit = ["fit", "named.csv", "--reward", "any:clicked", "--length", "2", "--effort", "fast", "-o", "n.listwright"]
    assert call(*fit, *named)[0] == 0
    swapped = [line.split(",") for line in text.splitlines()]
    (folder / "swapped.csv").write_text("\n".join(",".join(row[::-1][1:]) for row in swapped) + "\n")
    code, out, _ = call("predict", "n.listwright", "swapped.csv", "--json")
    assert code == 0
    expected = call("predict", "m.listwright", "past.csv", "--json")[1]
    assert [one["items"] for one in json.loads(out)] == [one["items"] for one in json.loads(expected)]


def test_contexts_catalogues_and_categories_come_through(call, folder) -> None:
    lines = (folder / "past.csv").read_text().splitlines()
    more = [f"{line},{['u', 'v'][i % 2]},{int(line.split(',')[0][1:]) % 3}" for i, line in enumerate(lines[1:])]
    (folder / "more.csv").write_text("\n".join([lines[0] + ",source,age", *more]) + "\n")
    named = ["--context", "age", "--catalogue", "item", "--categorical", "source", "--ignore", "music"]
    named += ["--effort", "fast"]
    assert (
        call(
            "fit",
            "more.csv",
            "--reward",
            "any:clicked",
            "--length",
            "2",
            "-o",
            "c.listwright",
            "--effort",
            "fast",
            *named,
        )[0]
        == 0
    )
    assert call("predict", "c.listwright", "more.csv")[0] == 0
    told = json.loads(call("inspect", "c.listwright", "--json")[1])
    assert told["columns"]["levels"] == {"source": ["u", "v"]}
    assert (told["columns"]["context"], told["columns"]["catalogue"]) == (["age"], "item")


def test_the_fast_effort_is_kept_with_the_model(call, folder, monkeypatch) -> None:
    quick = DecisionTreeRegressor(max_depth=2, random_state=0)  # in place of boosting and forests
    monkeypatch.setattr(search, "Boosting", lambda: quick)
    monkeypatch.setattr("sklearn.ensemble.ExtraTreesRegressor", lambda *_, **__: quick)
    arguments = ["--reward", "any:clicked", "--length", "2", "--effort", "fast", "--seed", "3", "-o", "fast.listwright"]
    (folder / "few.csv").write_text(table(10))
    assert call("fit", "few.csv", *arguments)[0] == 0
    assert load(folder / "fast.listwright").get_params()["effort"] == "fast"


def test_memory_grows_with_the_table() -> None:
    small, large = (lw.Problems.from_arrays(np.zeros((n, 5, 4))) for n in (4000, 8000))
    assert learning_bytes(large) == pytest.approx(2 * learning_bytes(small), rel=0.05)
    assert learning_bytes(small) > small.features.nbytes


# predict


def test_predict_writes_the_lists_of_the_model(call, folder) -> None:
    for ending in ("csv", "tsv", "jsonl", "parquet"):
        assert call("predict", "m.listwright", "new.csv", "-o", f"lists.{ending}")[0] == 0
    lists = load(folder / "m.listwright").predict(lw_read(folder / "new.csv", folder))
    expected = [item for items in lists.item_ids for item in items.tolist()]
    rows = records(folder / "lists.csv")
    assert [row["item"] for row in rows] == expected
    assert [row["position"] for row in rows] == ["1", "2"] * 5
    assert [row["item"] for row in records(folder / "lists.tsv", "\t")] == expected
    assert [json.loads(line)["item"] for line in (folder / "lists.jsonl").read_text().splitlines()] == expected
    assert parquet.read_table(folder / "lists.parquet")["item"].to_pylist() == expected


def test_predict_explains(call, folder) -> None:
    assert call("predict", "m.listwright", "new.csv", "-o", "why.jsonl", "--explain")[0] == 0
    rows = [json.loads(line) for line in (folder / "why.jsonl").read_text().splitlines()]
    assert all(sum(row["contributions"].values()) == pytest.approx(row["score"], abs=1e-6) for row in rows)
    assert all(row["runner_up"] and row["margin"] >= 0 for row in rows)
    assert call("predict", "m.listwright", "new.csv", "-o", "why.csv", "--explain")[0] == 0
    first = records(folder / "why.csv")[0]
    assert json.loads(first["contributions"]).keys() == rows[0]["contributions"].keys()


def test_predict_takes_other_limits(call) -> None:
    long = json.loads(call("predict", "m.listwright", "new.csv", "--length", "4", "--json")[1])
    assert [len(one["items"]) for one in long] == [4] * 5
    small = json.loads(call("predict", "m.listwright", "new.csv", "--budget", "3", "--json")[1])
    assert all(sum(int(item[1:]) + 1 for item in one["items"]) <= 3 for one in small)


def test_sizes_are_only_needed_for_a_budget(call, folder) -> None:
    (folder / "no_size.csv").write_text("problem,item,sport,music,quality\nr1,a1,1,0,0.5\nr1,a2,0,1,0.4\n")
    assert json.loads(call("predict", "m.listwright", "no_size.csv", "--json")[1])[0]["problem"] == "r1"


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_tables_come_from_standard_input(call, folder, kind: str) -> None:
    rows = records(folder / "new.csv")
    rows = [{key: value if key in ("problem", "item") else float(value) for key, value in row.items()} for row in rows]
    data = (folder / "new.csv").read_bytes()
    if kind == "jsonl":
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    elif kind == "parquet":
        sink = pa.BufferOutputStream()
        parquet.write_table(pa.Table.from_pylist(rows), sink)
        data = bytes(sink.getvalue())
    code, out, _ = call("predict", "m.listwright", "-", "--json", stdin=data)
    assert code == 0
    assert out == call("predict", "m.listwright", "new.csv", "--json")[1]


def test_models_go_through_pipes(call, folder) -> None:
    command = [sys.executable, "-c", "from listwright.cli import main; main()"]
    fit = [*command, "fit", "past.csv", "--reward", "any:clicked", "--length", "2", "--effort", "fast", "-o", "-"]
    model = subprocess.run(fit, cwd=folder, capture_output=True, check=True)
    assert b"60 problems" in model.stderr
    code, lists, _ = call("predict", "-", "new.csv", stdin=model.stdout)
    assert (code, lists.splitlines()[0]) == (0, '"problem","position","item","score"')
    assert lists.count("\n") == 11


def test_packed_tables_come_from_standard_input(call, folder) -> None:
    expected = call("predict", "m.listwright", "new.csv")[1]
    for packed in (gzip.compress, lambda data: pa.compress(data, codec="zstd", asbytes=True)):
        code, out, _ = call("predict", "m.listwright", "-", stdin=packed((folder / "new.csv").read_bytes()))
        assert (code, out) == (0, expected)


def test_a_full_disk_is_told_in_one_line(folder) -> None:
    if not Path("/dev/full").is_char_device():
        pytest.skip("needs /dev/full")
    command = [sys.executable, "-c", "from listwright.cli import main; main()"]
    for arguments in (["predict", "m.listwright", "new.csv"], ["evaluate", "m.listwright", "held_out.csv"]):
        with Path("/dev/full").open("w") as full:
            run = subprocess.run([*command, *arguments], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True)
        assert (run.returncode, run.stderr) == (1, "Error: No space left on device.\n")


def test_new_levels_can_be_read_as_none(call, wrong_files) -> None:
    assert call("predict", "level.listwright", "levels.csv", "--new-levels", "zeros")[0] == 0


# evaluate, explain, inspect, check, compare


def test_evaluate_measures_with_intervals(call, folder) -> None:
    code, out, _ = call("evaluate", "m.listwright", "held_out.csv", "--json")
    told = json.loads(out)
    assert code == 0
    names = {"value", "failure", "alpha_ndcg", "err_ia", "subtopic_recall", "intra_list_distance"}
    assert set(told["metrics"]) == names
    assert told["metrics"]["value"]["low"] < told["metrics"]["value"]["mean"] < told["metrics"]["value"]["high"]
    assert len(told["value_by_position"]) == 2
    told = call("evaluate", "m.listwright", "held_out.csv")[1]
    assert "30 problems: mean (95 % interval)" in told
    assert re.search(r"^ERR-IA +0\.\d+ \(.*\)  how early a reader finds", told, re.MULTILINE)


def test_evaluate_takes_another_reward(call) -> None:
    code, out, _ = call("evaluate", "m.listwright", "held_out.csv", "--reward", "any:sport", "--json")
    assert code == 0
    assert json.loads(out) != json.loads(call("evaluate", "m.listwright", "held_out.csv", "--json")[1])


def test_code_is_not_run_because_a_model_names_it(call, folder) -> None:
    (folder / "mine.py").write_text("def worth(problem, items):\n    return len(set(items)) / 6\n")
    fit = ["fit", "past.csv", "--ignore", "clicked", "--length", "2", "--effort", "fast", "-o", "own.listwright"]
    assert call(*fit, "--reward", "mine.py:worth")[0] == 0
    code, _, err = call("evaluate", "own.listwright", "held_out.csv")
    assert code == 1
    assert "which is code. Pass --reward to run it." in err
    code, _, err = call("inspect", "own.listwright", "held_out.csv")
    assert code == 1
    assert "which is code, and inspect runs none. Leave DATA out." in err
    assert call("evaluate", "own.listwright", "held_out.csv", "--reward", "mine.py:worth")[0] == 0


def test_explain_tells_the_reasons_of_one_list(call) -> None:
    code, out, _ = call("explain", "m.listwright", "new.csv", "--problem", "r92")
    assert code == 0
    assert out.startswith("Problem r92: 2 items\n  1. a")
    told = json.loads(call("explain", "m.listwright", "new.csv", "--problem", "r92", "--json")[1])
    assert [pick["position"] for pick in told["picks"]] == [1, 2]


def test_inspect_tells_what_a_model_is(call) -> None:
    code, out, _ = call("inspect", "m.listwright")
    assert code == 0
    assert all(text in out for text in ("class: SCP", "reward: any:clicked", "features: sport, music, quality"))
    told = json.loads(call("inspect", "m.listwright", "--json")[1])
    assert told["columns"]["problem"] == "problem"


def test_check_finds_what_spoils_learning(call, folder) -> None:
    lines = ["problem,item,x,flat,leak,hit"]
    lines += [
        f"p{i},{j},{0 if i == 0 else i + j},7,{int(j == 0 and i < 8)},{int(j == 0 and i < 8)}"
        for i in range(10)
        for j in range(3)
    ]
    (folder / "sick.csv").write_text("\n".join(lines) + "\n")
    code, out, _ = call("check", "sick.csv", "--reward", "any:hit", "--json")
    found = {one["check"]: one for one in json.loads(out)}
    assert code == 1
    assert {name: one["level"] for name, one in found.items()} == {
        "laws": "ok",
        "unreachable": "warning",
        "duplicates": "warning",
        "constant": "warning",
        "leak": "error",
    }
    assert "2 of 10 problems" in found["unreachable"]["message"]
    assert "1 of 30 candidates" in found["duplicates"]["message"]
    assert found["constant"]["message"].endswith(": flat.")
    assert "computed from leak:" in found["leak"]["message"]


def test_check_takes_sparse_tables(call, folder) -> None:
    lines = [f"{int(j == 1)} qid:{i} 1:{i + 10 * j} 2:3 5:{int(j == 1)}" for i in range(1, 9) for j in range(3)]
    (folder / "sparse.svmlight").write_text("\n".join(lines) + "\n")
    code, out, _ = call("check", "sparse.svmlight", "--reward", "any:label", "--json")
    found = {one["check"]: one for one in json.loads(out)}
    assert code == 1
    assert found["duplicates"]["level"] == "ok"
    assert found["constant"]["message"].startswith("3 of 5 features are constant")
    assert found["leak"]["level"] == "error"


def test_check_finds_a_reward_that_is_not_submodular(call, folder) -> None:
    (folder / "bad.py").write_text("def worth(problem, items):\n    return len(set(items)) ** 2 / 36\n")
    code, out, err = call("check", "past.csv", "--reward", "bad.py:worth")
    assert (code, err) == (1, "")
    assert re.search(r"^error +Gain of item a\d rose .* submodular", out, re.MULTILINE)


def test_compare_writes_a_report(call, folder) -> None:
    arguments = ["--methods", "scp-fast,top-k,random", "--lengths", "1,2", "--train-sizes", "0.5,30", "--folds", "2"]
    code, out, _ = call("compare", "past.csv", "held_out.csv", "--reward", "any:clicked", "-o", "out", *arguments)
    assert code == 0
    assert "90 problems, 540 candidates; 2 folds." in out
    assert re.search(r"scp-fast +50 % +1 ", out)
    assert re.search(r"scp-fast +30 +1 ", out)
    assert re.search(r"scp-fast is (ahead of|level with|behind) top-k.* random", " ".join(out.split()))
    assert len(json.loads((folder / "out" / "results.json").read_text())) == 3 * 2 * 2
    assert (folder / "out" / "figures" / "values.svg").exists()
    assert 'class="chart"' in (folder / "out" / "report.html").read_text()


def test_compare_for_machines(call) -> None:
    code, out, _ = call(
        "compare", "past.csv", "--reward", "any:clicked", "--methods", "top-k,random", "--lengths", "2", "--json"
    )
    told = json.loads(out)
    assert code == 0
    assert [record["method"] for record in told["means"]] == ["top-k", "random"]
    assert told["differences"][0]["low"] < told["differences"][0]["ahead"] < told["differences"][0]["high"]


def test_links_between_items_come_from_a_column(call, folder: Path) -> None:
    rows = [
        f"q{q},i{i},{(7 * q + 3 * i) % 5},i{(i + 1) % 4}|i{(i + 2) % 4},{int((q + i) % 4 == 0)}"
        for q in range(20)
        for i in range(4)
    ]
    (folder / "cited.csv").write_text("\n".join(["problem,item,age,cites,good", *rows]) + "\n")
    options = ("--reward", "any:good", "--length", "2", "--effort", "fast", "-o", "cited.listwright")
    code, _, err = call("fit", "cited.csv", "--links", "cites", *options)
    assert code == 0, err
    assert load(folder / "cited.listwright").columns_.links == ("cites",)
    assert call("predict", "cited.listwright", "cited.csv")[0] == 0
    code, _, err = call("fit", "cited.csv", "--links", "cited", *options)
    assert (code, "--links" in err, "'cited'" in err) == (1, True, True)
