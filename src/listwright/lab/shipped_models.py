"""Writes the models that the package ships anew.

`python -m listwright.lab.shipped_models` writes the model of summaries, which learns from made-up reports. With a file
of HotpotQA questions (CC BY-SA 4.0) behind it, it writes the model of passages too.
"""

import sys
from pathlib import Path

from listwright.context import model as passages
from listwright.lab.question_variants import labelled_problems, read_labelled, variants
from listwright.lab.simulate.corpus import corpus
from listwright.storage import save
from listwright.summarize.model import SHIPPED, summary_model

N_CLUSTERS = 120
MIN_LEAF = 50  # rows: every question comes in five variants


def write_summaries() -> Path:
    """Trains the summary model on 120 made-up clusters and writes it, slim, to its place in the package.

    Returns
    -------
    Path
        The file.
    """
    save(summary_model(corpus(N_CLUSTERS)), SHIPPED, slim=True)
    return SHIPPED


def write_passages(file: str) -> Path:
    """Trains the passage model on all variants of a file's questions and writes it, slim, to its place in the package.

    Parameters
    ----------
    file : str
        A file in one of the forms of `datasets.read_questions`.
    """
    problems = labelled_problems(variants(read_labelled(file)))
    save(passages.passage_model(problems, min_leaf=MIN_LEAF), passages.SHIPPED, slim=True)
    return passages.SHIPPED


if __name__ == "__main__":
    for written in [write_summaries(), *map(write_passages, sys.argv[1:2])]:
        print(f"Wrote {written.name}, {written.stat().st_size:,} bytes.")
