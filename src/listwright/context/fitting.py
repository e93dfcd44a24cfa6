"""How `ContextPacker.fit` learns: trees by folds, weights of scores and other signals, probabilities; and `certify`."""

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

FOLDS = 5  # with fewer, new trees learn from too little beside corrected ones
MANY, LATEST = 20, 500  # questions from which it is estimated what scores weigh: so many at least, and at most
WORDS = ("bm25", "relative_cosine")  # features that retrievers by words have for scores
FEWEST = 12  # questions with which folds tell anything
LEAST_OF_SOURCE = 5  # passages from which something is learned of their source
MOST_OF_SOURCE = 2.0  # log-odds
KEPT = (0.0, 0.15, 0.25, 0.35, 0.5, 0.7, 1.0)  # shares of their weights that signals may keep
_RIVALS = {"bm25": ("bm25", "BM25"), "scores": ("score", "your reranker's top k")}  # by what to sort, and the name


class _Case(NamedTuple):
    model: SCP  # which has not seen the question
    example: Example
    features: PassageFeatures


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
    ways = {"keep": [copy(current)] * FOLDS} if new else {}
    ways |= {way: _try_folds(problems, parts, folds) for way, parts in (("correct", start), ("anew", ()))}
    tried = {
        way: [
            _Case(models[fold], *case) for fold, case in zip(folds, zip(examples, features, strict=True), strict=True)
        ]
        for way, models in ways.items()
    }
    chosen = max(tried, key=lambda way: _mean_shares(tried[way]))
    report_progress("growing trees", 2, 3)
    kept = chosen == "keep"
    model = copy(current) if kept else passage_model(problems, start if chosen == "correct" else ())
    model.calibration_ = _calibrate(tried[chosen])  # type: ignore[attr-defined]
    report_progress("growing trees", 3, 3)
    return model


def _try_folds(problems: Problems, start: tuple[Any, ...], folds: Ints) -> list[SCP]:
    rests = (problems[np.flatnonzero(folds != fold)] for fold in range(FOLDS))
    return [passage_model(rest, start, n_models=1, n_passes=1) for rest in rests]


def _mean_shares(cases: Sequence[_Case], calibration: Calibration | None = None) -> tuple[float, float]:
    """Return the mean share of the facts in held-out lists of two to `LENGTH` passages, and that in the first ones."""
    walks = [(case.example, _walk(case, calibration)[0].tolist()) for case in cases]
    table = np.array([[example.share(picks[: n + 1]) for n in range(LENGTH)] for example, picks in walks])
    return round(float(table[:, 1:].mean()), 9), float(table[:, 0].mean())  # rounded: sums differ in their last digits


def _walk(case: _Case, calibration: Calibration | None) -> tuple[Ints, Floats]:
    """Return the picks and their log-odds; without a calibration those of the texts alone."""
    model, example, features = case
    if calibration is None:
        return walk_passages(model, features, length=LENGTH, bonus=np.zeros(len(example.facts)))
    model.calibration_ = calibration  # type: ignore[attr-defined]
    evidence = weigh_evidence(model, features, example.given, calibration.weights)
    picks, values = walk_passages(model, features, length=LENGTH, bonus=evidence.bonus)
    return picks, calibration.intercept + evidence.scale * values + evidence.lift[picks]


def _calibrate(cases: Sequence[_Case]) -> Calibration:
    """Learn log-odds, weights of signals and probabilities of picks from questions that the models have not seen."""
    alone = np.concatenate([scores_alone(case.model, case.features) for case in cases])
    labels = np.concatenate([np.array(case.example.facts) >= 0 for case in cases]).astype(np.float64)
    given = [case.example.given.signals() for case in cases]
    names = sorted({name for signals in given for name in signals})
    blanks = [np.zeros((len(case.example.facts), 1)) for case in cases]
    columns = [
        np.column_stack([blank, *(signals.get(name, blank) for name in names)])[:, 1:]
        for signals, blank in zip(given, blanks, strict=True)
    ]
    table = np.column_stack([np.ones(len(labels)), alone, np.concatenate(columns)])
    fitted = fit_logistic(table, labels)
    fitted[2:] = np.clip(fitted[2:], 0.0, MOST_WEIGHT)
    calibration = Calibration(
        intercept=float(fitted[0]),
        slope=float(max(fitted[1], 0.1)),
        weights=dict(zip(names, fitted[2:].tolist(), strict=True)),
        sources=_learn_sources([case.example for case in cases], labels - sigmoid(table @ fitted), labels),
    )
    calibration = _weaken_signals(cases, calibration)
    return replace(calibration, picks=_learn_picks(cases, calibration))


def _weaken_signals(cases: Sequence[_Case], calibration: Calibration) -> Calibration:
    """Choose how much of their weights signals keep by what lists hold: behind the first passage trees know more."""
    weights = [{name: share * weight for name, weight in calibration.weights.items()} for share in KEPT]
    tried = [replace(calibration, weights=some) for some in weights]
    values = [round(float(np.average(_mean_shares(cases, one), weights=(LENGTH - 1, 1))), 9) for one in tried]
    best = [one for one, value in zip(tried, values, strict=True) if value == max(values)]
    return best[len(best) // 2]


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


def _learn_picks(cases: Sequence[_Case], calibration: Calibration) -> tuple[float, ...]:
    tables, labels = [], []
    for case in cases:
        picks, odds = _walk(case, calibration)
        tables.append(pick_rows(odds))
        labels.append(np.array(case.example.facts)[picks] >= 0)
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
            columns = np.column_stack([text, words, np.ones(len(text))])
            table = np.column_stack([columns, signal, np.sqrt(text * (1.0 - text)), signal**2])
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
