"""The DUC and TAC layouts, on tiny sets in the same format."""

from __future__ import annotations

import re
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest

from listwright.errors import InputError
from listwright.text.clusters import Cluster
from listwright.text.duc import read_duc
from listwright.text.readers import ReadingNote
from tests.duc_tools import DOCUMENTS, MODELS, write, write_duc

NEWSWIRE = """<DOC>
<DOCNO> {name} </DOCNO>
<DOCTYPE> NEWS </DOCTYPE>
<TEXT>
Talks on the bridge &amp; the port ended in
Port Vell on Friday. Both sides agreed.
   A second meeting is set for Nov. 5. ``We are
glad,'' said Gov. A. Holt.&UR;
</TEXT>
</DOC>
"""
SENTENCES = (
    "Talks on the bridge & the port ended in Port Vell on Friday.",
    "Both sides agreed.",
    "A second meeting is set for Nov. 5.",
    "``We are glad,'' said Gov. A. Holt.",
)
UPDATE = """<DOC id="AFP_{part}" type="story" >
<HEADLINE>
A headline
</HEADLINE>
<TEXT>
<P>
Part {part} begins
here
</P>
<P>
It ends.
</P>
</TEXT>
</DOC>
"""
SEE = """<html><head><title>D30002.M.100.T.C</title></head><body bgcolor="white">
<a name="1">[1]</a> <a href="#1" id=1>The bridge opened.</a>
<a name="2">[2]</a> <a href="#2" id=2>People came.</a></body></html>
"""


@pytest.fixture
def duc(tmp_path: Path) -> Path:
    docs = tmp_path / "tasks1and2" / "docs"
    write(docs / "d30001t" / "APW19981016.0240", NEWSWIRE.format(name="APW19981016.0240"))
    write(docs / "d30001t" / "NYT19981017.0001", NEWSWIRE.format(name="NYT19981017.0001"))
    write(docs / "d30002t" / "APW19981020.0001", NEWSWIRE.format(name="APW19981020.0001"))
    models = tmp_path / "ROUGE" / "eval" / "models" / "2"
    write(models / "D30001.M.100.T.B", "The port talks\nended.\n")
    write(models / "D30001.M.100.T.A", "Talks ended.\n")
    write(models / "D30002.M.100.T.C.html", SEE)
    write(models / "D30001.M.100.T.17", "A system wrote this.")
    write(models.parent / "1" / "D30001.P.10.T.A.APW19981016.0240", "Talks end")
    write(models.parents[1] / "peers" / "2" / "D30001.M.100.T.D", "Not by a person.")
    return tmp_path


def test_duc_2004_documents_and_models_meet(duc: Path) -> None:
    first, second = read_duc(duc, need_references=True, split="test")
    assert (first.id, second.id, first.split) == ("d30001t", "d30002t", "test")
    assert first.sentences == SENTENCES * 2
    assert first.document_names == ("APW19981016.0240", "NYT19981017.0001")
    assert first.references == ("Talks ended.", "The port talks ended.")
    assert second.references == ("The bridge opened. People came.",)


def test_models_may_lie_elsewhere(duc: Path) -> None:
    clusters = read_duc(duc / "tasks1and2", models=duc / "ROUGE")
    assert [len(cluster.references) for cluster in clusters] == [2, 1]


def test_missing_references_are_an_error_only_when_asked_for(duc: Path) -> None:
    assert read_duc(duc / "tasks1and2")[0].references == ()
    with pytest.raises(InputError, match=r"'d30001t' in .*tasks1and2 has no references"):
        read_duc(duc / "tasks1and2", need_references=True)


def test_tac_update_sets_stay_apart(tmp_path: Path) -> None:
    for part in "AB":
        write(tmp_path / "docs" / "D0801A" / f"D0801A-{part}" / f"AFP_{part}", UPDATE.format(part=part))
        write(tmp_path / "models" / f"D0801-{part}.M.100.A.E", f"Summary of {part}.")
    initial, update = read_duc(tmp_path, need_references=True)
    assert initial.id == "D0801A-A"
    assert initial.sentences == ("Part A begins here", "It ends.")
    assert initial.document_names == ("AFP_A",)
    assert update.references == ("Summary of B.",)


def test_marked_sentences_are_kept_as_marked(tmp_path: Path) -> None:
    marked = '<DOC><TEXT><s docid="x" num="1">One. Two.</s>\n<s docid="x" num="2">Three\nfour.</s></TEXT></DOC>'
    write(tmp_path / "d100a" / "file", marked)
    (cluster,) = read_duc(tmp_path)
    assert cluster.sentences == ("One. Two.", "Three four.")
    assert cluster.document_names == ("file",)


def test_wrong_folders_and_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no DUC document sets"):
        read_duc(tmp_path)
    write(tmp_path / "d30001t" / "notes", "No tags here.")
    with pytest.raises(InputError, match="notes holds no document text"):
        read_duc(tmp_path)


def tree(root: Path, *, in_2003: tuple[int, ...] = (30003, 30006), in_2004: tuple[int, ...] = (30001, 30003)) -> Path:
    """Both years, with a set number that occurs in both, and another task beside task 2 in each."""
    return write_duc(root, sets=[(2003, 2, in_2003), (2003, 3, [101]), (2004, 2, in_2004), (2004, 5, [132])])


def says(cluster: Cluster) -> tuple[set[str], set[str]]:
    """The year, task and set that the documents and the references of a cluster name."""
    texts = (" ".join(cluster.sentences), " ".join(cluster.references))
    found = [set(re.findall(r"set (\d+ of \d+, task \d)", text)) for text in texts]
    return found[0], found[1]


@pytest.mark.parametrize(("year", "names"), [(2003, ["d30003t", "d30006t"]), (2004, ["d30001t", "d30003t"])])
def test_years_and_tasks_stay_apart(tmp_path: Path, year: int, names: list[str]) -> None:
    """Documents and results are siblings, and set 30003 is in both years."""
    clusters = read_noting(tree(tmp_path), year=year, task=2)
    assert [cluster.id for cluster in clusters] == names
    for cluster in clusters:
        own = {f"{cluster.id[1:-1]} of {year}, task 2"}
        assert says(cluster) == (own, own)
        assert len(cluster.references) == 4


def read_noting(path: Path, **options: Any) -> list[Cluster]:
    """Summaries of other tasks in the one folder of 2003 are told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingNote)
        return read_duc(path, need_references=True, **options)


def test_several_folders_are_read_together(tmp_path: Path) -> None:
    root = tree(tmp_path)
    parts = [root / "DUC2004_Summarization_Documents", root / "duc2004_results"]
    assert [cluster.id for cluster in read_duc(parts, task=2)] == ["d30001t", "d30003t"]
    assert [cluster.id for cluster in read_duc(parts[0], models=parts[1], task=5)] == ["d132d"]
    deep = root / DOCUMENTS[2004, 2]
    assert len(read_duc([deep, root / MODELS[2004, 2]], need_references=True)) == 2  # both say the same task


def test_summaries_of_other_tasks_are_told(tmp_path: Path) -> None:
    """Only the documents of task 2 were unpacked, but the abstracts of all tasks lie in one folder."""
    root = tree(tmp_path)
    shutil.rmtree(root / DOCUMENTS[2003, 3])
    with pytest.warns(ReadingNote, match=r"Left out 4 summaries of 1 sets of other tasks, such as D101"):
        clusters = read_duc(root, year=2003, task=2, need_references=True)
    assert len(clusters) == 2


def test_what_is_ambiguous_is_refused_by_name(tmp_path: Path) -> None:
    root = tree(tmp_path)
    with pytest.raises(InputError, match=r"holds data of 2003 and 2004\. Name the folder of one"):
        read_duc(root)
    with pytest.raises(InputError, match=r"holds data of 2003 and 2004\. Got year=2005"):
        read_duc(root, year=2005)
    with pytest.raises(InputError, match=r"d132d is of task 5, d30001t of task 1 and 2\. Choose one with task="):
        read_duc(root, year=2004)
    with pytest.raises(InputError, match=r"no sets of task 7\. It has task 5"):
        read_duc(root, year=2004, task=7)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("more/d30007t/APW", r"more/d30007t does not say of which year it is, and others are of 2003 and 2004"),
        ("DUC2004/d30007t/APW", r"d30007t does not say of which task it is, and .* is of task"),
        ("DUC2004/tasks1and2/d30001t/APW", r"Set D30001 occurs twice: .*DUC2004/tasks1and2/d30001t and .*DUC2004_S"),
        ("DUC2004/duc2003/d30009t/APW", r"d30009t lies below folders of 2003 and 2004"),
    ],
)
def test_documents_in_doubt_are_refused_by_name(tmp_path: Path, place: str, message: str) -> None:
    root = tree(tmp_path)
    write(root / place, NEWSWIRE.format(name="APW"))
    with pytest.raises(InputError, match=message):
        read_duc(root, year=2004, task=2)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("duc2004_results/models/2/D30099.M.100.T.A", r"D30099\.M\.100\.T\.A is a summary of set D30099, which has no"),
        (
            "duc2004_results/abstracts/D30099.M.100.T.A",
            r"D30099\.M\.100\.T\.A is a summary of set D30099, which has no",
        ),
        ("duc2004_results/other/models/2/D30001.M.100.T.A", r"have the same name and different texts"),
    ],
)
def test_summaries_in_doubt_are_refused_by_name(tmp_path: Path, place: str, message: str) -> None:
    root = tree(tmp_path)
    write(root / place, "Who wrote this?")
    with pytest.raises(InputError, match=message):
        read_duc(root, year=2004, task=2)


def test_a_summary_found_twice_counts_once(tmp_path: Path) -> None:
    root = tree(tmp_path)
    own = root / MODELS[2004, 2] / "D30001.M.100.T.A"
    write(root / "duc2004_results" / "copy" / "models" / "2" / own.name, own.read_text())
    assert len(read_duc(root, year=2004, task=2)[0].references) == 4


def test_the_letter_tells_sets_of_one_number_apart(tmp_path: Path) -> None:
    root = tree(tmp_path)
    models = root / MODELS[2003, 2]
    write(models / "D30003.M.100.E.A", "A summary of set 30003 of the viewpoint task.")
    clusters = read_noting(root, year=2003, task=2)
    assert all("viewpoint" not in text for text in clusters[0].references)
    (root / DOCUMENTS[2003, 2] / "d30003t").rename(root / DOCUMENTS[2003, 2] / "d30003x")
    with pytest.raises(InputError, match=r"d30003x has summaries of sets D30003E and D30003T: see"):
        read_noting(root, year=2003, task=2)


def test_tasks_of_summaries_tell_those_of_documents(tmp_path: Path) -> None:
    """All document sets in one folder that names no task."""
    root = tree(tmp_path)
    docs = tmp_path / "DUC2004" / "docs"
    docs.mkdir(parents=True)
    for task in (2, 5):
        for folder in (root / DOCUMENTS[2004, task]).iterdir():
            folder.rename(docs / folder.name)
    assert [cluster.id for cluster in read_duc([docs, root / "duc2004_results"], task=2)] == ["d30001t", "d30003t"]
    with pytest.raises(InputError, match="d132d is of task 5, d30001t of task 2"):
        read_duc([docs, root / "duc2004_results"])


def test_text_of_a_graphic_is_read(tmp_path: Path) -> None:
    write(tmp_path / "d100a" / "file", "<DOC><GRAPHIC>Rain fell. Rivers rose.</GRAPHIC></DOC>")
    assert read_duc(tmp_path)[0].sentences == ("Rain fell.", "Rivers rose.")
