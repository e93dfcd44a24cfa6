"""Trees in the layout that NIST ships DUC 2003 and 2004 in, with made-up texts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from listwright.simulate.corpus import corpus

DOCUMENT = """<DOC>
<DOCNO> {name} </DOCNO>
<DOCTYPE> NEWS </DOCTYPE>
<TEXT>
{text}
</TEXT>
</DOC>
"""
DOCUMENTS = {
    (2003, 2): "DUC2003_Summarization_Documents/duc2003_testdata/task2/docs",
    (2003, 3): "DUC2003_Summarization_Documents/duc2003_testdata/task3/docs",
    (2004, 2): "DUC2004_Summarization_Documents/duc2004_testdata/tasks1and2/duc2004_tasks1and2_docs/docs",
    (2004, 5): "DUC2004_Summarization_Documents/duc2004_testdata/task5/duc2004_task5_docs/docs",
}
# The abstracts of 2003 lie in one folder, whatever their task; those of 2004 by task.
MODELS = {
    (2003, 2): "detagged.duc2003.abstracts/models",
    (2003, 3): "detagged.duc2003.abstracts/models",
    (2004, 2): "duc2004_results/ROUGE/eval/models/2",
    (2004, 5): "duc2004_results/ROUGE/eval/models/5",
}
LETTERS = {2: "t", 3: "a", 5: "d"}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def write_set(
    root: Path,
    year: int,
    task: int,
    number: int,
    *,
    documents: int = 2,
    references: int = 4,
    letter: str | None = None,
    cluster: int | None = None,
) -> Path:
    """The documents and the summaries by people of one set; every text names its year, task and set."""
    letter = letter or LETTERS[task]
    made_up = corpus(1, seed=1000 * year + number if cluster is None else cluster)[0]
    folder = root / DOCUMENTS[year, task] / f"d{number}{letter}"
    for index in range(documents):
        own = [text for text, place in zip(made_up.sentences, made_up.documents, strict=True) if place == index]
        name = f"APW{year}{index + 1:04d}.0{number % 1000:03d}"
        text = "\n".join([f"This is document {index} of set {number} of {year}, task {task}.", *own])
        write(folder / name, DOCUMENT.format(name=name, text=text))
    for author, reference in zip("ABCDEFGH"[:references], made_up.references, strict=False):
        name = f"D{number}.M.100.{letter.upper()}.{author}"
        write(
            root / MODELS[year, task] / name,
            f"Reference {author} of set {number} of {year}, task {task}.\n{reference}\n",
        )
    return folder


def write_duc(root: Path, *, sets: Iterable[tuple[int, int, Iterable[int]]]) -> Path:
    """A folder with the documents and the results of both years beside each other, as they come out of the archives.

    The evaluation of 2004 also holds very short summaries of task 1, and summaries by systems.
    """
    for year, task, numbers in sets:
        for number in numbers:
            write_set(root, year, task, number)
    write(root / "duc2004_results/ROUGE/eval/models/1/D30001.P.10.T.A.APW19981016.0240", "Very short")
    write(root / "duc2004_results/ROUGE/eval/peers/2/D30001.M.100.T.D", "By a system.")
    write(root / "duc2004_results/ROUGE/eval/peers/2/D30001.M.100.T.17", "By a system.")
    return root
