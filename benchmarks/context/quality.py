"""Share of questions whose first passages hold all that the answer needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

import listwright as lw
from benchmarks.shipped_models import MIN_LEAF, Labelled, labelled_problems, read_labelled, variants
from listwright.baselines import MMR, TopK
from listwright.context import ContextPacker
from listwright.context.model import passage_model, passage_policy_features
from listwright.evaluation.compare import fold_numbers
from listwright.evaluation.values import list_values
from listwright.learners import Aggregate
from listwright.learners.boosting import Boosting
from listwright.simulate.questions import questions
from listwright.text import hashed_tf_idf, tokens

LENGTHS = (2, 3, 5)
FOLDS = 5
WIDTH = 1 << 18  # columns of tf-idf
N_MADE_UP = 300
RELEVANCES = ("bm25", "relative_cosine", "ridge")  # what the tuned MMR chooses from: two scores, and a learned one
DIVERSITIES = (0.0, 0.1, 0.2, 0.3, 0.5)
Method = Callable[[lw.Problems, Sequence[Labelled]], Any]  # from training questions to a model


def _shipped_way(problems: lw.Problems, asked: Sequence[Labelled]) -> Any:
    """The recipe of the shipped model, on the training questions alone."""
    return passage_model(_with_vectors(variants(asked)), min_leaf=MIN_LEAF)


def _conseqopt(problems: lw.Problems, asked: Sequence[Labelled]) -> Any:
    model = lw.ConSeqOpt(
        max(LENGTHS),
        learner=Aggregate(Boosting()),
        features=passage_policy_features(),
        weighting="uniform",
        allow_short=True,
        n_passes=1,
        batch_size=len(problems),
        random_state=0,
    )
    return model.fit(problems)


def _tuned_mmr(problems: lw.Problems, asked: Sequence[Labelled]) -> Any:
    """MMR with the relevance and the diversity that do best on the training questions."""
    ways = [MMR(diversity, relevance=by).fit(problems) for by in RELEVANCES for diversity in DIVERSITIES]
    return max(ways, key=lambda way: float(_whole(way, problems).mean()))


def _fitted(model: Any) -> Method:
    return lambda problems, asked: clone(model).fit(problems)


UNTRAINED: dict[str, Method] = {
    "BM25": _fitted(MMR(0.0, relevance="bm25")),
    "TF-IDF": _fitted(MMR(0.0, relevance="cosine")),
    "MMR, lambda 0.5": _fitted(MMR(0.5, relevance="relative_cosine")),
    "MMR, lambda 0.7": _fitted(MMR(0.3, relevance="relative_cosine")),
}  # sorting by given scores is the first row where these are those of BM25, and the second where they are cosines
TRAINED: dict[str, Method] = {
    "packer as shipped, without the test questions": _shipped_way,
    "MMR, tuned": _tuned_mmr,
    "ridge, sorted": _fitted(TopK("ridge", length=max(LENGTHS))),
    "boosted trees, sorted": _fitted(TopK(Boosting(), length=max(LENGTHS))),
    "extra-trees, sorted": _fitted(TopK("extra_trees", length=max(LENGTHS), random_state=0)),
    "ConSeqOpt, boosted trees": _conseqopt,
    "packer, fitted": lambda problems, asked: passage_model(problems),
}


def hotpotqa(seeds: int, only: str = "") -> dict[str, dict[str, Any]]:
    """By method whose name holds `only`: the shares at each length, over all folds and seeds."""
    asked = read_labelled("multihop_qa")
    problems = _with_vectors(asked)
    chosen = {name: method for name, method in (UNTRAINED | TRAINED).items() if only in name}
    return {name: _crossed(name, method, problems, asked, seeds) for name, method in chosen.items()}


def _with_vectors(asked: Sequence[Labelled]) -> lw.Problems:
    """Problems with tf-idf within each question, for MMR."""
    rows = [
        hashed_tf_idf(
            [tokens(f"{title} {text}") for title, text in zip(question.titles, question.texts, strict=True)], WIDTH
        )
        for question in asked
    ]
    return labelled_problems(asked, vectors=sparse.vstack(rows))


def _crossed(name: str, method: Method, problems: lw.Problems, asked: list[Labelled], seeds: int) -> dict[str, Any]:
    seeds = seeds if name in TRAINED else 1
    whole = np.zeros((seeds, len(problems), len(LENGTHS)))
    for seed in range(seeds):
        folds = fold_numbers(FOLDS, len(problems), seed)
        for fold in range(FOLDS):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            model = method(problems[train], [asked[i] for i in train])
            whole[seed, test] = _whole(model, problems[test])
    shares = whole.mean(axis=(0, 1)).round(4).tolist()
    print(name, shares, flush=True)
    return {"shares": shares, "seeds": seeds}


def _whole(model: Any, problems: lw.Problems) -> Any:
    """(problems, lengths): whether the first passages hold all support."""
    lists = [model.predict(problems, length=length, allow_short=True) for length in LENGTHS]
    return np.stack([np.isclose(list_values(ranked, problems), 1.0) for ranked in lists], axis=1)


def made_up() -> dict[str, dict[str, Any]]:
    """The same on made-up questions of two to four steps, 25 passages each; the packer is the one that is shipped."""
    asked = questions(N_MADE_UP, random_state=7, steps=(2, 4))
    steps = [[passage.step for passage in question.passages] for question in asked]
    labelled = [
        Labelled(
            question.text,
            [p.title for p in question.passages],
            [p.text for p in question.passages],
            [s is not None for s in passage_steps],
        )
        for question, passage_steps in zip(asked, steps, strict=True)
    ]
    problems = _with_vectors(labelled)
    by_method = {
        name: [_told(steps, model.predict(problems, length=length)) for length in LENGTHS]
        for name, model in ((name, method(problems, labelled)) for name, method in UNTRAINED.items())
    }
    packer = ContextPacker()
    for name in ("packer as shipped", "packer as shipped, with the scores of BM25"):
        scores = problems.features[:, list(problems.feature_names or ()).index("bm25")] if "scores" in name else None
        by_method[name] = [_packed(packer, labelled, steps, problems, length, scores) for length in LENGTHS]
    return {name: {"shares": shares} for name, shares in by_method.items()}


def _packed(packer: ContextPacker, asked: Any, steps: Any, problems: lw.Problems, length: int, scores: Any) -> float:
    rows = np.full((len(asked), length), -1)
    for i, question in enumerate(asked):
        start, end = problems.offsets[i], problems.offsets[i + 1]
        given = None if scores is None else scores[start:end]
        packed = packer.pack(
            question.question, question.texts, titles=question.titles, length=length, budget=None, scores=given
        )
        rows[i, : len(packed)] = np.array(packed.positions) + start
    return _told(steps, lw.Lists(problems, rows))


def _told(steps: Sequence[Sequence[int | None]], lists: lw.Lists) -> float:
    """Share of the questions whose list tells every step at least once."""
    whole = [
        {passage_steps[row] for row in lists[i]} - {None} == set(passage_steps) - {None}
        for i, passage_steps in enumerate(steps)
    ]
    return round(float(np.mean(whole)), 4)
