"""How `ContextPacker.fit` learns: new trees, corrected ones or those it has, whichever do best on held-out folds, then
weights of scores, embeddings, positions and sources beside them, and probabilities; and how `certify` compares.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.progress import report_progress
from listwright.baselines import MMR
from listwright.context.examples import Example, example_problems
from listwright.context.model import (
    LENGTH,
    MOST_WEIGHT,
    Calibration,
    calibration_of,
    estimate_weight,
    fit_logistic,
    passage_model,
    pick_rows,
    scores_alone,
    sigmoid,
    text_probabilities,
    trust_texts,
    walk_passages,
    weigh_evidence,
)
from listwright.context.passages import MOST, passage_sizes, read_passages
from listwright.errors import InputError
from listwright.estimators.certification import with_earlier_uses
from listwright.estimators.scp import SCP
from listwright.evaluation.compare import fold_numbers
from listwright.evaluation.values import list_values
from listwright.guarantees import HeldOutCertificate
from listwright.guarantees.held_out import HeldOutValues, make_certificate
from listwright.problems import Problems
from listwright.selection import greedy
from listwright.text.passages import PassageFeatures, passage_features
from listwright.text.passages.columns import ranks

FOLDS = 3
MANY, LATEST = 20, 500  # questions from which it is estimated what scores weigh: so many at least, and at most
WORDS = ("bm25", "relative_cosine")  # features that retrievers by words have for scores
FEWEST = 12  # questions with which folds tell anything
LEAST_OF_SOURCE = 5  # passages from which something is learned of their source
MOST_OF_SOURCE = 2.0  # log-odds
_RIVALS = {"bm25": ("bm25", "BM25"), "scores": ("score", "your reranker's top k")}  # by what to sort, and the name


class _Fold(NamedTuple):
    model: SCP
    held_out: Ints


def fit_model(examples: Sequence[Example], current: SCP, *, new: bool) -> SCP:
    """Return a model that learned from the examples; the current one may stay as it is where these are `new` to it."""
    report_progress("reading passages", 0, 3)
    features = [example.features() for example in examples]
    problems = example_problems(examples, features)
    start = current.policy_.estimator.parts
    if len(examples) < FEWEST:
        model = passage_model(problems, start)
        model.calibration_ = calibration_of(current)  # type: ignore[attr-defined]
        return model
    report_progress("comparing ways to learn on folds", 1, 3)
    folds = fold_numbers(FOLDS, len(examples), 0)
    tried = {"keep": [_Fold(copy(current), np.arange(len(examples)))]} if new else {}
    tried |= {"correct": _try_folds(problems, start, folds), "anew": _try_folds(problems, (), folds)}
    chosen = max(tried, key=lambda way: _mean_shares(tried[way], examples, features))
    report_progress("growing trees", 2, 3)
    kept = chosen == "keep"
    model = copy(current) if kept else passage_model(problems, start if chosen == "correct" else ())
    model.calibration_ = _calibrate(tried[chosen], examples, features)  # type: ignore[attr-defined]
    report_progress("growing trees", 3, 3)
    return model


def _try_folds(problems: Problems, start: tuple[Any, ...], folds: Ints) -> list[_Fold]:
    return [
        _Fold(
            passage_model(problems[np.flatnonzero(folds != fold)], start, n_models=1, n_passes=1),
            np.flatnonzero(folds == fold),
        )
        for fold in range(FOLDS)
    ]


def _mean_shares(
    folds: Sequence[_Fold], examples: Sequence[Example], features: Sequence[PassageFeatures]
) -> tuple[float, float]:
    """Return the mean share of the facts in held-out lists of two to `LENGTH` passages, and that in the first ones."""
    shares = []
    for model, held_out in folds:
        for row in held_out:
            picks, _ = walk_passages(model, features[row], length=LENGTH, bonus=np.zeros(len(examples[row].texts)))
            shares.append([examples[row].share(picks[:length].tolist()) for length in range(1, LENGTH + 1)])
    table = np.array(shares)
    return round(float(table[:, 1:].mean()), 9), float(table[:, 0].mean())  # rounded: the folds differ in order


def _calibrate(folds: Sequence[_Fold], examples: Sequence[Example], features: Sequence[PassageFeatures]) -> Calibration:
    """Learn log-odds, weights of signals and probabilities of picks from questions that the models have not seen."""
    rows = [(model, int(row)) for model, held_out in folds for row in held_out]
    alone = [scores_alone(model, features[row]) for model, row in rows]
    labels = np.concatenate([np.array(examples[row].facts) >= 0 for _, row in rows]).astype(np.float64)
    signals = [examples[row].given.signals() for _, row in rows]
    names = sorted({name for signal in signals for name in signal})
    blank = [np.zeros(len(values)) for values in alone]
    columns = [
        np.concatenate([signal.get(name, no) for signal, no in zip(signals, blank, strict=True)]) for name in names
    ]
    table = np.column_stack([np.ones(len(labels)), np.concatenate(alone), *columns])
    fitted = fit_logistic(table, labels)
    fitted[2:] = np.clip(fitted[2:], 0.0, MOST_WEIGHT)
    weights = {name: float(weight) for name, weight in zip(names, fitted[2:], strict=True)}
    rest = labels - sigmoid(table @ fitted)
    calibration = Calibration(
        intercept=float(fitted[0]),
        slope=float(max(fitted[1], 0.1)),
        weights=weights,
        sources=_learn_sources([examples[row] for _, row in rows], rest, labels),
    )
    return replace(calibration, picks=_learn_picks(rows, examples, features, calibration))


def _learn_sources(examples: Sequence[Example], rest: Floats, labels: Floats) -> dict[str, float]:
    """Return by source the log-odds that its passages have beyond what text and signals say, drawn towards 0."""
    if any(example.given.sources is None for example in examples):
        return {}
    sources = np.array([str(source) for example in examples for source in example.given.sources or ()])
    learned = {}
    for source in np.unique(sources):
        own = sources == source
        if own.sum() >= LEAST_OF_SOURCE and own.sum() < len(own):
            seen, expected = labels[own].sum() + 1.0, (labels - rest)[own].sum() + 1.0
            learned[str(source)] = float(np.clip(np.log(seen / expected), -MOST_OF_SOURCE, MOST_OF_SOURCE))
    return learned


def _learn_picks(
    rows: Sequence[tuple[SCP, int]],
    examples: Sequence[Example],
    features: Sequence[PassageFeatures],
    calibration: Calibration,
) -> tuple[float, ...]:
    tables, labels = [], []
    for model, row in rows:
        model.calibration_ = calibration  # type: ignore[attr-defined]
        example = examples[row]
        evidence = weigh_evidence(model, features[row], example.given, calibration.weights)
        picks, values = walk_passages(model, features[row], length=LENGTH, bonus=evidence.bonus)
        odds = calibration.intercept + evidence.scale * values
        tables.append(pick_rows(odds + evidence.lift[picks]))
        labels.append(np.array(example.facts)[picks] >= 0)
    coefficients = fit_logistic(np.concatenate(tables), np.concatenate(labels).astype(np.float64))
    return tuple(coefficients.tolist())


class ScoreWeights:
    """What scores weigh for a packer, estimated from questions without labels."""

    def __init__(self, packer: Any) -> None:
        self.packer = packer
        self.products: deque[Floats] = deque(maxlen=LATEST)  # by question

    def add(self, query: str, passages: Sequence[Any], **known: Any) -> None:
        """Take in a question whose texts say something to compare scores with, unless their weight is known already."""
        model, read = self.packer._model(), read_passages(passages, **known)
        signals = {name: values for name, values in read.signals().items() if name != "position"}
        learned = self.packer.score_weight is not None or signals.keys() & calibration_of(model).weights
        if not signals or learned or not isinstance(query, str) or len(read) > MOST:
            return
        features = passage_features(query, read.texts, read.titles)
        if trust_texts(features):
            similar = features.table[:, [features.names.index(name) for name in WORDS]].astype(np.float64)
            words = (similar - similar.mean(axis=0)) / np.maximum(similar.std(axis=0), 1e-9)
            signal = np.mean(list(signals.values()), axis=0)  # of standardised scores and cosines
            text = text_probabilities(model, features)
            table = np.column_stack([text, words, np.ones(len(text)), signal, np.sqrt(text * (1.0 - text))])
            self.products.append(table.T @ table)

    def estimate(self) -> float | None:
        return None if len(self.products) < MANY else estimate_weight(self.products)


def certify_packer(
    packer: Any,
    examples: Sequence[Example],
    delta: float,
    rivals: Sequence[str],
    *,
    budget: float | None,
    length: int | None,
    stop: str | None,
) -> HeldOutCertificate:
    rivals = [rivals] if isinstance(rivals, str) else rivals
    unknown = [name for name in rivals if name not in _RIVALS]
    if unknown:
        raise InputError(f'rivals must be "bm25" or "scores". Got {unknown[0]!r}.')
    sizes = [np.maximum(passage_sizes(case.given, None, packer.tokens, packer.style), 1.0) for case in examples]
    columns = {"score": [-ranks(_scores_of(example)) for example in examples]} if "scores" in rivals else {}
    features = [example.features() for example in examples]
    problems = example_problems(examples, features, sizes=np.concatenate(sizes), columns=columns)
    limits: dict[str, Any] = {"length": length, "budget": budget}
    best = greedy(problems, **limits).values
    assert best is not None
    packed = [packer.pack(**example.arguments(), **limits, stop=stop) for example in examples]
    values = np.array([case.share(answer.positions) for case, answer in zip(examples, packed, strict=True)])
    others: dict[str, Floats] = {}
    remarks: dict[str, str] = {}
    for rival in rivals:
        column, name = _RIVALS[rival]
        lists = MMR(0.0, relevance=column).fit(problems).predict(problems, **limits, allow_short=True)
        others[name] = list_values(lists, problems)
        if rival == "scores":
            taken = sum(float(size[items].sum()) for size, items in zip(sizes, lists, strict=True))
            fewer = 1.0 - sum(answer.tokens for answer in packed) / max(taken, 1.0)
            remarks[name] = f", with {abs(100 * fewer):.0f} % {'fewer' if fewer >= 0 else 'more'} tokens"
    kinds, clusters = np.unique([case.key() for case in examples], return_inverse=True)
    copies = len(examples) - len(kinds)
    notes = (f"{copies} of these are repeated questions, and each question counts once.",) if copies else ()
    again = clusters if copies else None
    measured = HeldOutValues(values, best, others, clusters=again, notes=notes, remarks=remarks)
    keys = np.array([int(case.key(), 16) for case in examples], dtype=np.uint64)
    made = make_certificate(measured, delta=delta, length=length, budget=budget)
    return with_earlier_uses(made, replace(measured, keys=keys))


def _scores_of(example: Example) -> Floats:
    if example.given.scores is None:
        raise InputError(f'rivals=["scores"] needs a score of every passage. {example.query!r:.60} has none.')
    return example.given.scores


def refuse_learned(examples: Sequence[Example], learned: frozenset[str]) -> None:
    known = [example.query for example in examples if example.key() in learned]
    if known:
        raise InputError(
            f"{len(known)} of these {len(examples)} questions were learned from, such as {known[0]!r:.80}. A "
            "certificate needs questions that the packer has not seen: hold some back before fit."
        )
