"""The DUC and TAC layouts, on tiny sets in the same format."""

from __future__ import annotations

from pathlib import Path

import pytest

from listwright.errors import InputError
from listwright.text.duc import read_duc

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


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


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


def test_one_set_in_two_folders_counts_once(duc: Path) -> None:
    write(duc / "task0" / "d30001t" / "APW19981016.0240", NEWSWIRE.format(name="other"))
    first, _ = read_duc(duc)
    assert len(first.document_names) == 2


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
