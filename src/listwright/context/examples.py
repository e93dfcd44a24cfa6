"""Labelled questions for `ContextPacker.fit`, `score` and `certify`, as numbered *facts* that a context must hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from scipy import sparse

from listwright.context.passages import Passages, field_of, is_missing, is_number, read_passages
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import Coverage
from listwright.text.passages import PassageFeatures, passage_features
from listwright.text.passages.problems import join_features
from listwright.text.readers import read_text

KINDS = ("label", "answer", "cited")
KNOWN = ("titles", "scores", "sources", "embeddings", "query_embedding")


class QuestionColumns(NamedTuple):
    """The names of columns or keys that hold a question, its passages and what is known of them."""

    query: str = "query"
    passages: str = "passages"
    label: str | None = None
    answer: str | None = None
    cited: str | None = None
    shown: str | None = None
    titles: str | None = None
    scores: str | None = None
    sources: str | None = None
    embeddings: str | None = None
    query_embedding: str | None = None
    question_id: str | None = None

    @property
    def supervision(self) -> tuple[str, str]:
        """Which of `KINDS` is given, and the name of its column or key."""
        given = {kind: getattr(self, kind) for kind in KINDS if getattr(self, kind) is not None}
        if len(given) != 1:
            raise InputError(
                f"Give one of label, answer and cited, the name of a column or key. Got {given or 'none'}."
            )
        return next(iter(given.items()))


class Example(NamedTuple):
    """A question, its passages, and the facts that each of them states: numbers from 0, -1 for none."""

    query: str  # the question
    given: Passages
    facts: list[int]  # one number per passage

    @property
    def texts(self) -> list[str]:
        return self.given.texts

    @property
    def titles(self) -> list[str]:
        return self.given.titles

    def features(self) -> PassageFeatures:
        return passage_features(self.query, self.texts, self.titles)

    def key(self) -> str:
        """Return a hash of the question, by which `certify` knows it again, whatever its passages."""
        words = " ".join(self.query.lower().split())
        return blake2b(words.encode(errors="surrogatepass"), digest_size=8).hexdigest()

    def share(self, positions: Sequence[int]) -> float:
        held = {self.facts[position] for position in positions} - {-1}
        return len(held) / len(set(self.facts) - {-1})

    def arguments(self) -> dict[str, Any]:
        return {"query": self.query, "passages": self.texts} | {name: getattr(self.given, name) for name in KNOWN}


def read_examples(data: Any, **names: Any) -> list[Example]:
    """Read labelled questions from a frame or from records, and leave out those with nothing to learn from."""
    unknown = names.keys() - set(QuestionColumns._fields)
    if unknown:
        raise InputError(f"{min(unknown)!r} is not known. Name columns with {', '.join(QuestionColumns._fields)}.")
    columns = QuestionColumns(**names)
    _, name = columns.supervision
    if isinstance(data, str | Path):
        data = read_records(Path(data))
    records = data if isinstance(data, list) else _group_frame(data, columns)
    if not records:
        raise InputError("There are no records. Give one per question, or a frame with one row per passage.")
    _check_known(records, columns)
    examples = [_example(record, number, columns) for number, record in enumerate(records)]
    usable = [example for example in examples if max(example.facts, default=-1) >= 0]
    if not usable:
        raise InputError(f"No question has a passage to learn from, by {name!r}. Got {len(examples)} questions.")
    return usable


def read_records(file: Path) -> list[dict[str, Any]]:
    records = []
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise InputError(f"Line {number} of {file} is not valid JSON: {error}.") from None
            if not isinstance(records[-1], dict):
                raise InputError(f"Line {number} of {file} must hold a JSON object.")
    return records


def example_problems(examples: Sequence[Example], features: Sequence[PassageFeatures], **more: Any) -> Problems:
    """Turn examples into `Problems` whose reward is the share of the facts that a list holds."""
    facts = np.concatenate([example.facts for example in examples])
    rows = np.flatnonzero(facts >= 0)
    table = sparse.csr_array((np.ones(len(rows)), (rows, facts[rows])), shape=(len(facts), int(facts.max()) + 1))
    return join_features(features, reward=Coverage(table), **more)


def _group_frame(data: Any, columns: QuestionColumns) -> list[dict[str, Any]]:
    """Group a frame with one row per passage into one record per question, in order of first appearance."""
    # Questions are distinguished by `question_id`; without it by their text, and a passage that comes again begins
    # anew.
    kind, name = columns.supervision
    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError as error:
        raise InputError(f"Pass a frame or a list of records. Got {type(data).__name__}.") from error
    query, passages = columns.query, columns.passages
    lists = [column for column in (columns.titles, columns.scores, columns.sources, columns.embeddings) if column]
    once = [column for column in (columns.query_embedding, columns.question_id) if column]
    flags = [column for column in (columns.shown, None if kind == "answer" else name) if column]
    wanted = [query, passages, name, *lists, *once, *flags]
    missing = [column for column in wanted if column not in frame.columns]
    if missing:
        raise InputError(f"The frame has no column {missing[0]!r}. It has {', '.join(frame.columns)}.")
    records: list[dict[str, Any]] = []
    latest: dict[Any, dict[str, Any]] = {}
    for number, row in enumerate(frame.select(list(dict.fromkeys(wanted))).iter_rows(named=True)):
        if is_missing(row[query]):
            raise InputError(f"Row {number} of the frame has no {query!r}. Remove it, or say what was asked.")
        key, text = str(row[columns.question_id or query]), str(row[passages] or "")
        if key not in latest or (columns.question_id is None and text in latest[key][passages]):
            latest[key] = {query: str(row[query]), passages: [], **{column: row[column] for column in once}}
            records.append(latest[key])
        record = latest[key]
        record[passages].append(text)
        for column in lists:
            record.setdefault(column, []).append(row[column])
        for column in flags:
            record.setdefault(column, []).append(not is_missing(row[column]) and bool(row[column]))
        if kind == "answer":
            answers = record.setdefault(name, [])
            value = None if is_missing(row[name]) else row[name]
            answers += [answer for answer in _several(value) if answer not in answers]
    return records


def _check_known(records: Sequence[Any], columns: QuestionColumns) -> None:
    """Refuse names that no record knows, which would be ignored otherwise."""
    for name in (getattr(columns, option) for option in (*KNOWN, "shown", "question_id")):
        if name and not any(isinstance(record, Mapping) and name in record for record in records):
            raise InputError(f"No record has {name!r}.")


def _example(record: Any, number: int, columns: QuestionColumns) -> Example:
    # Errors name the record by its number, so that a user can find it in a large file.
    if not isinstance(record, Mapping):
        raise InputError(f"Record {number} is not a dictionary. Got {type(record).__name__}.")
    missing = [key for key in (columns.query, columns.passages) if record.get(key) is None]
    if missing:
        raise InputError(f"Record {number} has no {missing[0]!r}. It has {', '.join(map(str, record))}.")
    kind, name = columns.supervision
    known = {option: record.get(getattr(columns, option)) for option in KNOWN if getattr(columns, option)}
    try:
        given = read_passages(record[columns.passages], **known)
    except InputError as error:
        raise InputError(f"Record {number}: {error}") from None
    flags = _FLAGS[kind](record, given, columns.passages, name, number)
    if columns.shown is not None:
        shown = np.flatnonzero(_positions(record, given, columns.passages, columns.shown, number))
        given, flags = given.take(shown), [flags[row] for row in shown]
    facts = np.where(flags, 0 if kind == "answer" else np.cumsum(flags) - 1, -1)
    return Example(str(record[columns.query]), given, facts.tolist())


def _label_flags(record: Any, given: Passages, passages: str, name: str, number: int) -> list[bool]:
    labels = (
        [field_of(passage, name) for passage in record[passages]] if record.get(name) is None else list(record[name])
    )
    if len(labels) != len(given):
        raise InputError(f"Record {number} has {len(given)} passages and {len(labels)} labels.")
    if labels and all(label is None for label in labels):
        raise InputError(f"Record {number} has no {name!r}, and neither have its passages.")
    odd = [
        label for label in labels if not (is_missing(label) or is_number(label) or isinstance(label, bool | np.bool_))
    ]
    if odd:
        raise InputError(f"{name!r} of record {number} must hold flags or numbers. Got {odd[0]!r:.80}.")
    return [not is_missing(label) and bool(label > 0) for label in labels]


def _answer_flags(record: Any, given: Passages, passages: str, name: str, number: int) -> list[bool]:
    """Return the passages whose title or text holds one of the answers as whole words, without case or punctuation."""
    if name not in record:
        raise InputError(f"Record {number} has no {name!r}.")
    wanted = [plain for plain in (_plain(str(answer)) for answer in _several(record[name])) if plain.strip()]
    whole = [_plain(f"{title} {text}") for title, text in zip(given.titles, given.texts, strict=True)]
    return [any(answer in text for answer in wanted) for text in whole]


def _positions(record: Any, given: Passages, passages: str, name: str, number: int) -> list[bool]:
    """Return which passages are named: by one boolean each, by positions counted from 0, or by titles."""
    cited = [] if record.get(name) is None else record[name]
    if isinstance(cited, str | Mapping) or not hasattr(cited, "__len__"):
        raise InputError(
            f"{name!r} of record {number} must be a list of positions, titles or flags. Got {cited!r:.80}."
        )
    cited = list(cited)
    if len(cited) == len(given) and all(isinstance(entry, bool | np.bool_) for entry in cited):
        return [bool(entry) for entry in cited]
    outside = [entry for entry in cited if isinstance(entry, int | np.integer) and not 0 <= entry < len(given)]
    if outside:
        raise InputError(f"Record {number} cites passage {outside[0]} of {len(given)}. Positions are from 0.")
    unknown = [entry for entry in cited if isinstance(entry, str) and entry not in {"", *given.documents}]
    if unknown:
        raise InputError(f"{name!r} of record {number} names {unknown[0]!r:.80}, which is no title of its passages.")
    return [place in cited or (title != "" and title in cited) for place, title in enumerate(given.documents)]


def _several(answers: Any) -> list[Any]:
    if answers is None:
        return []
    return list(answers) if isinstance(answers, list | tuple | set | np.ndarray) else [answers]


def _plain(text: str) -> str:
    """Reduce a text to lower-case words between single blanks, so that an answer is found as whole words."""
    return f" {' '.join(''.join(c if c.isalnum() else ' ' for c in text.casefold()).split())} "


_FLAGS = {"label": _label_flags, "answer": _answer_flags, "cited": _positions}
