"""Packers behind rerankers: all support in the first passages, with scores of several strengths, on two data sets."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import listwright as lw
from benchmarks.shipped_models import (
    MIN_LEAF,
    Labelled,
    add_passages,
    labelled_problems,
    read_labelled,
    shuffle,
    variants,
)
from listwright.baselines import MMR, TopK
from listwright.context import Packed
from listwright.context.model import passage_model
from listwright.estimators.scp import SCP
from listwright.evaluation.compare import fold_numbers
from listwright.evaluation.values import list_values
from listwright.rewards import Coverage
from listwright.text import question_problems

SETS = {"HotpotQA": "multihop_qa/hotpotqa200.jsonl.gz", "2WikiMultihopQA": "multihop_qa/2wiki500.jsonl.gz"}
STRENGTHS = {"no score": 0.0, "weak": 1.0, "medium": 2.0, "strong": 4.0}  # scores are strength * label + N(0, 1)
LENGTHS = (2, 3, 5)
N_PASSAGES = 20
DIVERSITIES = (0.0, 0.1, 0.3, 0.5)
BINS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 1.0)  # of probabilities
Lists = list[list[int]]


class Pieces(NamedTuple):
    """What to run of all tables: only names that hold these."""

    data: str = ""
    method: str = ""
    strength: str = ""


class Asked(NamedTuple):
    """Questions of a data set, and their scores."""

    name: str
    questions: Sequence[Labelled]
    scores: list[Any] | None

    @property
    def start(self) -> SCP | None:
        """The model that the packer starts from."""
        return start_model(self.name)


def widen_questions(questions: Sequence[Labelled], n: int) -> list[Labelled]:
    """Return each question with up to n passages in random order: its own, and the most similar ones of others."""
    rng = np.random.default_rng(0)
    wide = add_passages(questions, n)
    return [
        shuffle(Labelled(question.question, question.titles[:n], question.texts[:n], question.supports[:n]), rng)
        for question in wide
    ]


def measured(n_questions: int, n_folds: int, only: Pieces) -> dict[str, Any]:
    """By data set, method and strength: the shares at each length; and what stopping saves, by packer."""
    tables: dict[str, dict[str, Any]] = {}
    stops: dict[str, dict[str, list[float]]] = {}
    calibration: dict[str, list[list[float]]] = {}
    for name, method, strength in itertools.product(SETS, METHODS, STRENGTHS):
        if only.data not in name or only.method not in method or only.strength not in strength:
            continue
        if method == "sorted by score" and not STRENGTHS[strength]:
            continue
        began = time.process_time()
        asked = ask(name, n_questions, STRENGTHS[strength])
        results = _cross_validate(asked, METHODS[method], n_folds)
        shares = [_share(asked.questions, results.lists, length) for length in LENGTHS]
        tables.setdefault(name, {}).setdefault(method, {})[strength] = shares
        stops |= {f"{name}, {method}, {strength}": totals for totals in results.stops}
        if results.stops:
            calibration[f"{name}, {method}, {strength}"] = _bins(results.chances)
        print(name, strength, method, shares, results.stops, f"{time.process_time() - began:.0f} s", flush=True)
    return {"questions": n_questions, "folds": n_folds, "tables": tables, "stops": stops, "calibration": calibration}


def merge_tables(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The tables of earlier runs with the cells of this one, as long as these are of as many questions."""
    if any(old.get(name) != new[name] for name in ("questions", "folds")):
        return new
    known, fresh = old["tables"], new["tables"]
    tables = {
        name: {method: known.get(name, {}).get(method, {}) | fresh.get(name, {}).get(method, {}) for method in METHODS}
        for name in SETS
    }
    return new | {"tables": tables} | {part: old.get(part, {}) | new[part] for part in ("stops", "calibration")}


class Results(NamedTuple):
    """Lists of all questions, and of a packer: what five passages and stopping hold and take, and its probabilities."""

    lists: Lists
    stops: list[dict[str, list[float]]]
    chances: list[tuple[float, bool]]  # by pick: the probability that it is needed, and whether it is


def _cross_validate(asked: Asked, method: Callable[..., Any], n_folds: int) -> Results:
    folds = fold_numbers(n_folds, len(asked.questions), 0)
    lists: Lists = [[] for _ in asked.questions]
    totals = {"five passages": np.zeros(2), "stop": np.zeros(2)}
    chances: list[tuple[float, bool]] = []
    for fold in range(n_folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        picks = method(asked, train, test)
        if isinstance(picks, lw.ContextPacker):
            five = pack(picks, asked, test)
            totals["five passages"] += _recall_and_tokens(asked, test, five)
            totals["stop"] += _recall_and_tokens(asked, test, pack(picks, asked, test, stop="auto"))
            picks = [packed.positions for packed in five]
            for row, packed in zip(test, five, strict=True):
                needed = np.array(asked.questions[row].supports)[packed.positions]
                chances += zip(packed.probabilities, needed, strict=True)
        for row, items in zip(test, picks, strict=True):
            lists[row] = items
    means = {way: (total / len(asked.questions)).round(4).tolist() for way, total in totals.items()}
    return Results(lists, [means] if totals["stop"].any() else [], chances)


def _bins(chances: Sequence[tuple[float, bool]]) -> list[list[float]]:
    """By bin: the mean probability of its picks, the share of them that is needed, and how many they are."""
    table = np.array(chances, dtype=np.float64)
    bins = np.clip(np.searchsorted(BINS, table[:, 0], side="right") - 1, 0, len(BINS) - 2)
    own = [table[bins == number] for number in range(len(BINS) - 1)]
    return [[*np.round(part.mean(axis=0), 3).tolist(), len(part)] if len(part) else [0.0, 0.0, 0] for part in own]


def _recall_and_tokens(asked: Asked, rows: Any, packed: Sequence[Packed]) -> Any:
    supports = [np.array(asked.questions[row].supports) for row in rows]
    shares = [held[context.positions].sum() / held.sum() for held, context in zip(supports, packed, strict=True)]
    return np.array([sum(shares), sum(context.tokens for context in packed)])


def ask(name: str, n_questions: int, strength: float) -> Asked:
    """The first questions of a data set, with scores unless their strength is 0."""
    questions = widen_questions(read_labelled(SETS[name]), N_PASSAGES)[:n_questions]
    return Asked(name, questions, _draw_scores(questions, strength) if strength else None)


@cache
def start_model(name: str) -> SCP | None:
    """The model that the packer starts from: the shipped one, but for HotpotQA, from which that learned, one of the
    same recipe that learned from 200 questions of 2WikiMultihopQA.
    """
    if name != "HotpotQA":
        return None
    questions = read_labelled(SETS["2WikiMultihopQA"])[-200:]
    return passage_model(labelled_problems(variants(questions)), min_leaf=MIN_LEAF)


def _draw_scores(questions: Sequence[Labelled], strength: float) -> list[Any]:
    rng = np.random.default_rng(5)
    return [strength * np.array(question.supports) + rng.normal(size=len(question.supports)) for question in questions]


def _share(questions: Sequence[Labelled], lists: Lists, length: int) -> float:
    whole = [
        sum(question.supports) == sum(np.array(question.supports)[items[:length]])
        for question, items in zip(questions, lists, strict=True)
    ]
    return round(float(np.mean(whole)), 4)


def _records(asked: Asked, rows: Any) -> list[dict[str, Any]]:
    known = [{} if asked.scores is None else {"s": asked.scores[i]} for i in rows]
    questions = [asked.questions[i] for i in rows]
    return [
        {"query": question.question, "passages": question.texts, "t": question.titles, "label": question.supports}
        | more
        for question, more in zip(questions, known, strict=True)
    ]


def pack(packer: lw.ContextPacker, asked: Asked, rows: Any, **options: Any) -> list[Packed]:
    """What the packer picks for each of these questions: five passages at most."""
    questions = [asked.questions[i] for i in rows]
    own = [{} if asked.scores is None else {"scores": asked.scores[i]} for i in rows]
    return [
        packer.pack(
            question.question,
            question.texts,
            titles=question.titles,
            budget=None,
            length=max(LENGTHS),
            **more,
            **options,
        )
        for question, more in zip(questions, own, strict=True)
    ]


def _untrained(asked: Asked, train: Any, test: Any) -> lw.ContextPacker:
    return lw.ContextPacker(asked.start)


def _fitted(asked: Asked, train: Any, test: Any) -> lw.ContextPacker:
    names = {"label": "label", "titles": "t"} | ({} if asked.scores is None else {"scores": "s"})
    return lw.ContextPacker(asked.start).fit(_records(asked, train), progress=False, **names)


def _at_once(asked: Asked, train: Any, test: Any) -> Lists:
    """Untrained, with what scores weigh estimated over the test questions, without labels."""
    questions = [asked.questions[i] for i in test]
    own = {} if asked.scores is None else {"scores": [asked.scores[i] for i in test]}
    packed = lw.ContextPacker(asked.start).pack_many(
        [question.question for question in questions],
        [question.texts for question in questions],
        titles=[question.titles for question in questions],
        budget=None,
        length=max(LENGTHS),
        **own,
    )
    return [context.positions for context in packed]


def _by_score(asked: Asked, train: Any, test: Any) -> Lists:
    assert asked.scores is not None
    return [np.argsort(-asked.scores[i], kind="stable").tolist() for i in test]


def _problems(questions: Any, scores: Any) -> lw.Problems:
    plain = labelled_problems(questions)
    if scores is None:
        return plain
    reward = plain.reward
    assert isinstance(reward, Coverage)
    standard = [(own - own.mean()) / own.std() for own in scores]
    return question_problems(
        [question.question for question in questions],
        [question.texts for question in questions],
        titles=[question.titles for question in questions],
        columns={"score": standard},
        reward=reward,
    )


def _model(make: Callable[[Any], Any]) -> Callable[..., Lists]:
    def run(asked: Asked, train: Any, test: Any) -> Lists:
        problems = _problems(asked.questions, asked.scores)
        model = make(problems[train])
        lists = model.predict(problems[test], length=max(LENGTHS), allow_short=True)
        return [items.tolist() for items in lists]

    return run


def _tuned_mmr(problems: lw.Problems) -> Any:
    names = [name for name in ("score", "bm25", "relative_cosine") if name in (problems.feature_names or ())]
    tried = [MMR(diversity, relevance=name).fit(problems) for name in names for diversity in DIVERSITIES]
    return max(
        tried, key=lambda method: list_values(method.predict(problems, length=3, allow_short=True), problems).mean()
    )


METHODS: dict[str, Callable[..., Lists | lw.ContextPacker]] = {
    "sorted by score": _by_score,
    "MMR, tuned": _model(_tuned_mmr),
    "extra-trees, sorted": _model(lambda p: TopK("extra_trees", length=max(LENGTHS), random_state=0).fit(p)),
    "SCP()": _model(lambda p: lw.SCP(max(LENGTHS), random_state=0, allow_short=True).fit(p)),
    "packer, untrained": _untrained,
    "packer, untrained, pack_many": _at_once,
    "packer, fitted": _fitted,
}
