"""Table 1 for someone who has DUC: years, tasks and pairs, what is missing, on trees in NIST's layout."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import pytest

from listwright.cli import main
from listwright.errors import InputError
from listwright.experiments import summaries
from listwright.experiments.records import point
from listwright.text.corpora import read_clusters, read_parts, shortfalls, splits
from listwright.text.readers import ReadingNote
from tests.duc_tools import DOCUMENTS, MODELS, write_duc

TRAIN, TEST = (30003, 30006, 30012), (30001, 30003)


@pytest.fixture
def duc(tmp_path: Path) -> Path:
    """Both years beside each other, with a set number that occurs in both and other tasks beside task 2."""
    sets = [(2003, 2, TRAIN), (2003, 3, [101]), (2004, 2, TEST), (2004, 5, [132, 133])]
    return write_duc(tmp_path / "data", sets=sets)


@pytest.fixture
def folders(duc: Path) -> dict[str, list[Path]]:
    """What to name with --train and --test."""
    return {
        "train": [duc / "DUC2003_Summarization_Documents", duc / "detagged.duc2003.abstracts"],
        "test": [duc / "DUC2004_Summarization_Documents", duc / "duc2004_results"],
    }


def quietly(read, *arguments, **options):
    """What a reader returns, without its notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingNote)
        return read(*arguments, **options)


def told_in(cluster) -> set[str]:
    """The set, year and task that documents and references name."""
    text = " ".join([*cluster.sentences, *cluster.references])
    return set(re.findall(r"set \d+ of (\d+, task \d)", text))


def options_of(folders: dict[str, list[Path]]) -> list[str]:
    return [part for name, paths in folders.items() for path in paths for part in (f"--{name}", str(path))]


@pytest.fixture
def call(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(one) for one in arguments])
        code = ended.value.code or 0
        out, err = capsys.readouterr()
        return code, out, " ".join(err.replace("│", " ").split())

    return run


@pytest.mark.parametrize("way", ["parts", "data"])
def test_2003_is_learned_from_and_2004_is_tested(duc, folders, way):
    if way == "parts":
        clusters = quietly(read_parts, **folders, task=2)
    else:
        clusters = quietly(read_clusters, duc, task=2, need_references=True)
    assert [(one.split, one.id) for one in clusters] == [
        *(("train", name) for name in ("train/d30003t", "d30006t", "d30012t")),
        *(("test", name) for name in ("d30001t", "test/d30003t")),
    ]
    for one in clusters:
        assert told_in(one) == {"2003, task 2" if one.split == "train" else "2004, task 2"}
    ((train, test),) = splits(clusters)
    assert (len(train), len(test)) == (3, 2)


def test_other_years_together_are_refused(duc):
    (duc / "duc2004_results").rename(duc / "duc2007_results")
    (duc / "DUC2004_Summarization_Documents").rename(duc / "DUC2007_Summarization_Documents")
    for place in [*duc.rglob("*2004*")][::-1]:
        place.rename(place.with_name(place.name.replace("2004", "2007")))
    with pytest.raises(InputError, match=r"holds DUC data of 2003 and 2007\. Name the folders of one each with train="):
        read_clusters(duc, task=2)


def test_the_same_clusters_on_both_sides_are_refused(folders):
    with pytest.raises(InputError, match=r"Cluster 'd30001t' is in both the training and the test data"):
        read_parts(folders["test"], folders["test"], task=2)


def test_shortfalls_are_told(folders):
    clusters = quietly(read_parts, **folders, task=2)
    assert shortfalls(clusters[:3], 2003, 2) == ["DUC 2003 task 2 has 30 clusters, and 3 were found."]
    assert shortfalls(clusters[:3], 2007, 1) == []


def test_all_30_and_50_clusters_leave_nothing_to_tell(tmp_path):
    root = write_duc(tmp_path / "data", sets=[(2003, 2, range(30001, 30031)), (2004, 2, range(31001, 31051))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        records = summaries.run(data=root, task=2, methods=["Lead", "Greedy (Oracle)"], sizes=[], seeds=1)
    assert {record["n_train"] for record in records} == {30}
    section = summaries.section(records, data=root, task=2)
    assert section.text.startswith("DUC 2004, task 2, after training on DUC 2003. A summary")
    assert "not all of it" not in section.text
    (table,) = (part for part in section.parts if "Table 1" in part.caption)
    assert "on the paper's own data: trained on DUC 2003, tested on DUC 2004, 665 bytes" in table.caption
    assert table.rows[0][0] == "Oracle"
    assert table.rows[0][-3:] == ["44.92", "45.14", "45.24"]


def test_command_reads_the_years_apart(call, folders, tmp_path):
    arguments = ["reproduce", "summaries", *options_of(folders), "--task", "2", "--seeds", "1", "--jobs", "1"]
    code, out, err = call(*arguments, "--out", tmp_path / "report")
    assert code == 0
    assert "Note: DUC 2003 task 2 has 30 clusters, and 3 were found." in err
    assert "Note: DUC 2004 task 2 has 50 clusters, and 2 were found." in err
    told = " ".join(out.split())
    assert "DUC 2004, task 2, after training on DUC 2003" in told
    assert "What was found is not all of it: DUC 2003 task 2 has 30 clusters" in told
    assert "Table 1 of the paper, on the paper's own data" in told
    records = json.loads((tmp_path / "report" / "results.json").read_text())
    assert point(records, "SCP", n_train=3, length=665, metric="pooled_rouge1_f")["mean"] > 0


def test_missing_references_are_named(folders, duc):
    for file in (duc / MODELS[2004, 2]).glob("D30003.*"):
        file.unlink()
    with pytest.raises(InputError, match=r"Cluster 'd30003t' in .* has no references"):
        quietly(read_parts, **folders, task=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trajectory", "--train", "a", "--test", "b"], "only the experiment 'summaries' takes --train"),
        (["news", "--task", "2"], "only the experiment 'summaries' takes --task"),
        (["summaries", "--train", "a"], "--train and --test must be given together"),
        (["summaries", "--train", "a", "--test", "b", "--data", "c"], "give either --data, or --train and --test"),
    ],
)
def test_options_that_make_no_sense_are_exit_2(call, arguments, message):
    code, _, err = call("reproduce", *arguments)
    assert code == 2
    assert message in err


def test_wrong_folders_are_exit_1(call, duc, tmp_path):
    code, _, err = call("reproduce", "summaries", "--train", tmp_path / "none", "--test", duc, "--task", "2")
    assert code == 1
    assert "none is not a folder" in err or "There is no" in err
    code, _, err = call("reproduce", "summaries", "--train", duc, "--test", duc, "--task", "2")
    assert code == 1
    assert "holds data of 2003 and 2004. Name the folder of one of them" in err
    documents = duc / DOCUMENTS[2004, 5]
    code, _, err = call("reproduce", "summaries", "--train", documents, "--test", documents, "--task", "2")
    assert code == 1
    assert "holds no sets of task 2. It has task 5" in err
