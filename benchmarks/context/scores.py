"""Packers behind rerankers: all support in the first passages, with scores of several strengths, on two data sets."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import listwright as lw
from listwright.baselines import MMR, TopK
from listwright.evaluation.compare import fold_numbers
from listwright.evaluation.values import list_values
from listwright.experiments.shipped_models import Labelled, labelled_problems, read_labelled, widen_questions
from listwright.rewards import Coverage
from listwright.text import question_problems

SETS = {"HotpotQA": "multihop_qa/hotpotqa200.jsonl.gz", "2WikiMultihopQA": "multihop_qa/2wiki500.jsonl.gz"}
STRENGTHS = {"no score": 0.0, "weak": 1.0, "medium": 2.0, "strong": 4.0}  # scores are strength * label + N(0, 1)
LENGTHS = (2, 3, 5)
N_PASSAGES = 20
DIVERSITIES = (0.0, 0.1, 0.3, 0.5)
Lists = list[list[int]]


def measured(n_questions: int, n_folds: int, only: str = "") -> dict[str, Any]:
    """By data set, method and strength: the shares at each length; and the processor time of a fit."""
    tables = {name: _one_set(file, n_questions, n_folds, only) for name, file in SETS.items()}
    return {"questions": n_questions, "folds": n_folds, "tables": tables}


def _one_set(file: str, n_questions: int, n_folds: int, only: str) -> dict[str, Any]:
    questions = widen_questions(read_labelled(file), N_PASSAGES)[:n_questions]
    folds = fold_numbers(n_folds, len(questions), 0)
    found: dict[str, Any] = {}
    for strength_name, strength in STRENGTHS.items():
        scores = _draw_scores(questions, strength)
        for method, run in METHODS.items():
            if only not in method or (method == "sorted by score" and not strength):
                continue
            start = time.process_time()
            lists: Lists = [[] for _ in questions]
            for fold in range(n_folds):
                train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
                picks = run(questions, scores if strength else None, train, test)
                for row, items in zip(test, picks, strict=True):
                    lists[row] = items
            shares = [_share(questions, lists, length) for length in LENGTHS]
            found.setdefault(method, {})[strength_name] = shares
            print(file, strength_name, method, shares, f"{time.process_time() - start:.0f} s", flush=True)
    return found


def _draw_scores(questions: Sequence[Labelled], strength: float) -> list[Any]:
    rng = np.random.default_rng(5)
    return [strength * np.array(one.supports) + rng.normal(size=len(one.supports)) for one in questions]


def _share(questions: Sequence[Labelled], lists: Lists, length: int) -> float:
    whole = [
        sum(one.supports) == sum(np.array(one.supports)[items[:length]])
        for one, items in zip(questions, lists, strict=True)
    ]
    return round(float(np.mean(whole)), 4)


def _records(questions: Sequence[Labelled], scores: Any, rows: Any) -> list[dict[str, Any]]:
    known = [{} if scores is None else {"s": scores[i]} for i in rows]
    return [
        {"query": questions[i].question, "passages": questions[i].texts, "t": questions[i].titles}
        | {"label": questions[i].supports}
        | more
        for i, more in zip(rows, known, strict=True)
    ]


def _pack(packer: lw.ContextPacker, questions: Sequence[Labelled], scores: Any, test: Any) -> Lists:
    return [
        packer.pack(
            questions[i].question,
            questions[i].texts,
            titles=questions[i].titles,
            scores=None if scores is None else scores[i],
            budget=None,
            length=max(LENGTHS),
        ).positions
        for i in test
    ]


def _untrained(questions: Any, scores: Any, train: Any, test: Any) -> Lists:
    return _pack(lw.ContextPacker(), questions, scores, test)


def _fitted(questions: Any, scores: Any, train: Any, test: Any) -> Lists:
    names = {"label": "label", "titles": "t"} | ({} if scores is None else {"scores": "s"})
    packer = lw.ContextPacker().fit(_records(questions, scores, train), progress=False, **names)
    return _pack(packer, questions, scores, test)


def _by_score(questions: Any, scores: Any, train: Any, test: Any) -> Lists:
    return [np.argsort(-scores[i], kind="stable").tolist() for i in test]


def _problems(questions: Any, scores: Any) -> lw.Problems:
    plain = labelled_problems(questions)
    if scores is None:
        return plain
    reward = plain.reward
    assert isinstance(reward, Coverage)
    standard = [(own - own.mean()) / own.std() for own in scores]
    return question_problems(
        [one.question for one in questions],
        [one.texts for one in questions],
        titles=[one.titles for one in questions],
        columns={"score": standard},
        reward=reward,
    )


def _model(make: Callable[[Any], Any]) -> Callable[..., Lists]:
    def run(questions: Any, scores: Any, train: Any, test: Any) -> Lists:
        problems = _problems(questions, scores)
        model = make(problems[train])
        lists = model.predict(problems[test], length=max(LENGTHS), allow_short=True)
        return [items.tolist() for items in lists]

    return run


def _tuned_mmr(problems: lw.Problems) -> Any:
    names = [name for name in ("score", "bm25", "relative_cosine") if name in (problems.feature_names or ())]
    tried = [MMR(diversity, relevance=name).fit(problems) for name in names for diversity in DIVERSITIES]
    return max(tried, key=lambda one: list_values(one.predict(problems, length=3, allow_short=True), problems).mean())


METHODS: dict[str, Callable[..., Lists]] = {
    "sorted by score": _by_score,
    "MMR, tuned": _model(_tuned_mmr),
    "extra-trees, sorted": _model(lambda p: TopK("extra_trees", length=max(LENGTHS), random_state=0).fit(p)),
    "SCP()": _model(lambda p: lw.SCP(max(LENGTHS), random_state=0, allow_short=True).fit(p)),
    "packer, untrained": _untrained,
    "packer, fitted": _fitted,
}
