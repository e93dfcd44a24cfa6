"""Labelled questions for `ContextPacker.fit`, `score` and `certify`, read from frames or from records.

Three kinds of supervision are understood: a label per passage, the text of the answer, and the passages that a model
cited. Each is turned into numbered *facts* that a context must hold. Labels and citations make one fact per
marked passage; an answer is a single fact that any passage with its text states. The reward of a context is the share
of the facts that it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats
from listwright.baselines import MMR
from listwright.context.passages import read_passages, sizes_of
from listwright.errors import InputError
from listwright.evaluation.values import list_values
from listwright.guarantees import HeldOutCertificate
from listwright.guarantees.held_out import certificate_of
from listwright.problems import Problems
from listwright.rewards import Coverage
from listwright.selection import greedy
from listwright.text.passages import question_problems

KINDS = ("label", "answer", "cited")
_EMPTY = ("NAType", "NaTType")


class Example(NamedTuple):
    """A question, its passages, and the facts that each of them states: numbers from 0, -1 for none."""

    query: str  # the question
    texts: list[str]  # the passages and their titles, "" for a passage without one
    titles: list[str]
    facts: list[int]  # one number per passage

    def key(self) -> str:
        """Return a hash of the question and its passages, by which `certify` recognises what `fit` has seen."""
        return blake2b("\0".join([self.query, *self.texts]).encode(), digest_size=8).hexdigest()

    def share(self, positions: Sequence[int]) -> float:
        """Return the share of the facts that the passages at these positions hold, from 0 to 1."""
        held = {self.facts[position] for position in positions} - {-1}
        return len(held) / len(set(self.facts) - {-1})


def read_examples(
    data: Any,
    *,
    query: str = "query",
    passages: str = "passages",
    label: str | None = None,
    answer: str | None = None,
    cited: str | None = None,
    titles: str | None = None,
) -> list[Example]:
    """Read labelled questions from a frame or from records, and leave out those with nothing to learn from."""
    given = {kind: name for kind, name in zip(KINDS, (label, answer, cited), strict=True) if name is not None}
    if len(given) != 1:
        raise InputError(f"Give one of label, answer and cited, the name of a column or key. Got {given or 'none'}.")
    ((kind, name),) = given.items()
    records = data if isinstance(data, list) else _group_frame(data, query, passages, kind, name, titles)
    found = [_example(record, i, query, passages, kind, name, titles) for i, record in enumerate(records)]
    told = [example for example in found if max(example.facts, default=-1) >= 0]
    if not told:
        raise InputError(f"No question has a passage to learn from, by {name!r}. Got {len(found)} questions.")
    return told


def example_problems(examples: Sequence[Example], sizes: Sequence[Floats] | None = None) -> Problems:
    """Turn examples into `Problems` whose reward is the share of the facts that a list holds."""
    facts = np.concatenate([example.facts for example in examples])
    rows = np.flatnonzero(facts >= 0)
    table = sparse.csr_array((np.ones(len(rows)), (rows, facts[rows])), shape=(len(facts), int(facts.max()) + 1))
    return question_problems(
        [example.query for example in examples],
        [example.texts for example in examples],
        titles=[example.titles for example in examples],
        sizes=sizes,
        reward=Coverage(table),
    )


def _group_frame(
    data: Any, query: str, passages: str, kind: str, name: str, titles: str | None
) -> list[dict[str, Any]]:
    """Groups a frame with one row per passage into one record per question, in order of first appearance."""
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError as error:
        raise InputError(f"Pass a frame or a list of records. Got {type(data).__name__}.") from error
    wanted = [query, passages, name, *([titles] if titles else [])]
    missing = [column for column in wanted if column not in frame.columns]
    if missing:
        raise InputError(f"The frame has no column {missing[0]!r}. It has {', '.join(frame.columns)}.")
    records: dict[str, dict[str, Any]] = {}
    for row in frame.select(list(dict.fromkeys(wanted))).iter_rows(named=True):
        record = records.setdefault(str(row[query]), {query: str(row[query]), passages: []})
        record[passages].append(str(row[passages] or ""))
        if titles:
            record.setdefault(titles, []).append(row[titles])
        value = None if _is_missing(row[name]) else row[name]
        if kind == "answer":
            told = record.setdefault(name, [])
            told += [one for one in _several(value) if one not in told]
        else:
            record.setdefault(name, []).append(bool(value))
    return list(records.values())


def _example(record: Any, number: int, query: str, passages: str, kind: str, name: str, titles: str | None) -> Example:
    """Read one record: its passages, and the facts by the kind of supervision in use."""
    # Errors name the record by its number, so that a user can find it in a large file.
    if not isinstance(record, Mapping):
        raise InputError(f"Record {number} is not a dictionary. Got {type(record).__name__}.")
    missing = [key for key in (query, passages) if record.get(key) is None]
    if missing:
        raise InputError(f"Record {number} has no {missing[0]!r}. It has {', '.join(map(str, record))}.")
    found = read_passages(record[passages], titles=record.get(titles) if titles else None)
    flags = _FLAGS[kind](record, found.texts, found.titles, passages, name, number)
    if kind == "answer":
        return Example(str(record[query]), found.texts, found.titles, [0 if flag else -1 for flag in flags])
    numbers = np.where(flags, np.cumsum(flags) - 1, -1)
    return Example(str(record[query]), found.texts, found.titles, numbers.tolist())


def _label_flags(record: Any, texts: list[str], titles: list[str], passages: str, name: str, number: int) -> list[bool]:
    """Read one flag per passage from a list in the record, or else from a field of each passage."""
    if name in record:
        labels = list(record[name])
    else:
        labels = [one.get(name) if isinstance(one, Mapping) else getattr(one, name, None) for one in record[passages]]
        if all(label is None for label in labels):
            raise InputError(f"Record {number} has no {name!r}, and neither have its passages.")
    if len(labels) != len(texts):
        raise InputError(f"Record {number} has {len(texts)} passages and {len(labels)} labels.")
    return [bool(label) for label in labels]


def _answer_flags(
    record: Any, texts: list[str], titles: list[str], passages: str, name: str, number: int
) -> list[bool]:
    """Flags the passages whose title or text holds one of the answers as whole words, without case or punctuation."""
    if name not in record:
        raise InputError(f"Record {number} has no {name!r}.")
    wanted = [plain for plain in (_plain(str(answer)) for answer in _several(record[name])) if plain.strip()]
    whole = [_plain(f"{title} {text}") for title, text in zip(titles, texts, strict=True)]
    return [any(answer in text for answer in wanted) for text in whole]


def _citation_flags(
    record: Any, texts: list[str], titles: list[str], passages: str, name: str, number: int
) -> list[bool]:
    """Flags the cited passages: from one boolean per passage, from positions counted from 0, or from titles."""
    cited = list(record.get(name) or [])
    if len(cited) == len(texts) and all(isinstance(one, bool | np.bool_) for one in cited):
        return [bool(one) for one in cited]
    outside = [one for one in cited if isinstance(one, int) and not 0 <= one < len(texts)]
    if outside:
        raise InputError(f"Record {number} cites passage {outside[0]} of {len(texts)}. Positions are from 0.")
    return [place in cited or (title != "" and title in cited) for place, title in enumerate(titles)]


def _is_missing(value: Any) -> bool:
    """Return whether a cell of a frame is empty: None, NaN, or the NA and NaT of pandas."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in _EMPTY


def _several(answers: Any) -> list[Any]:
    """Return one answer or several as a list; None is no answer."""
    if answers is None:
        return []
    return list(answers) if isinstance(answers, list | tuple | set | np.ndarray) else [answers]


def _plain(text: str) -> str:
    """Reduces a text to lower-case words between single blanks, so that an answer is found as whole words."""
    return f" {' '.join(''.join(c if c.isalnum() else ' ' for c in text.casefold()).split())} "


_FLAGS = {"label": _label_flags, "answer": _answer_flags, "cited": _citation_flags}


def held_out_certificate(
    packer: Any, examples: Sequence[Example], delta: float, *, budget: float | None, length: int | None
) -> HeldOutCertificate:
    """Compute the held-out certificate of a packer: see `ContextPacker.certify`."""
    sizes = [np.maximum(sizes_of(example.texts, None, packer.tokens), 1.0) for example in examples]
    problems = example_problems(examples, sizes)
    limits: dict[str, Any] = {"length": length, "budget": budget}
    best = greedy(problems, **limits).values
    assert best is not None
    sorted_by_words = MMR(0.0, relevance="bm25").fit(problems).predict(problems, **limits, allow_short=True)
    values: Floats = np.array([example.share(_positions(packer, example, limits)) for example in examples])
    rivals = {"BM25": list_values(sorted_by_words, problems)}
    return certificate_of(values, best, rivals, delta=delta, binary=False, length=length, budget=budget)


def refuse_learned(examples: Sequence[Example], learned: frozenset[str]) -> None:
    """Raise `InputError` if any example was used in `fit`, as a certificate needs independent questions."""
    # Examples are compared by `Example.key`, so that the same question with other passages counts as new.
    known = [example.query for example in examples if example.key() in learned]
    if known:
        raise InputError(
            f"{len(known)} of these {len(examples)} questions were learned from, such as {known[0]!r:.80}. A "
            "certificate needs questions that the packer has not seen: hold some back before fit."
        )


def _positions(packer: Any, example: Example, limits: dict[str, Any]) -> list[int]:
    """Pack one example and return the positions of the chosen passages."""
    found: list[int] = packer.pack(example.query, example.texts, titles=example.titles, **limits).positions
    return found
