"""`ContextPacker`: passages for the context of a language model, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.parameters import Parameters
from listwright._internal.progress import progress_to
from listwright._internal.quotas import Quotas, as_rows
from listwright._kernels.constraints import NO_QUOTAS
from listwright.context.examples import KNOWN, read_examples
from listwright.context.fitting import ScoreWeights, certify_packer, fit_model, refuse_learned
from listwright.context.model import calibration_of, shipped_model, signal_weights, walk_passages, weigh_evidence
from listwright.context.packed import STYLES, Packed, Style, decreasing_scores, reasons_of
from listwright.context.passages import (
    MOST,
    Passages,
    check_limits,
    cut_passages,
    distinct_rows,
    is_number,
    near_copies,
    passage_quotas,
    passage_sizes,
    read_passages,
    token_counter,
)
from listwright.context.windows import find_overlaps, new_parts, window_tokens
from listwright.errors import InputError
from listwright.estimators.scp import SCP
from listwright.guarantees import HeldOutCertificate
from listwright.loading import load
from listwright.text.passages import passage_features, shortlist

STOP = 0.04  # the probability of being needed below which stop="auto" leaves a passage out
TEXT_STOP = 0.07  # and where only texts tell, of which nothing was learned: chosen on 2WikiMultihopQA
_FIRST = 1e6  # what puts passages that must be included before all others


class _Limits(NamedTuple):
    token_limit: float  # tokens
    length: int | None
    quotas: Quotas | None
    excluded: Ints
    must_include: Sequence[int]
    least: float  # probability of being needed


class ContextPacker(Parameters):
    """Chooses passages for a question that together hold what the answer needs, within a budget of tokens.

    Use it between retrieval and generation: retrieve more passages than fit, and let the packer choose. It is made for
    questions whose answers need several passages (multi-hop) and for retrieval that returns near copies. If every
    answer is in a single passage, sorting by a strong reranker may do as well: compare them with `certify`.

    It works untrained: a model is shipped that learned from 200 questions of HotpotQA (CC BY-SA 4.0; Yang et al. 2018)
    which passages support an answer together. It looks at what each passage holds of the question, how passages lead to
    each other, and what the passages picked so far leave uncovered: see `text.passage_features`. With labelled
    questions of your own, `fit` adapts it and `certify` bounds what it achieves.

    Parameters
    ----------
    model : SCP or path, optional
        A model of passages, or its file; the shipped one by default.
    tokens : str, callable or tokenizer
        How passages are counted. "estimate", the default, counts from above: one token for each four letters of a word
        or fewer, or each two where a text is no English prose, for each digit and sign, and for each byte of other
        characters (on English Wikipedia over a third more than GPT-4's). "words" counts words between blanks;
        "tiktoken:cl100k_base" and "huggingface:tokenizer.json" name a tokenizer; else a function of a text, or an
        object with `encode`.
    score_weight : float, optional
        What given scores weigh beside the text: log-odds for one standard deviation within the question. Cosines of
        embeddings count like scores, and share the weight with them where both are given. 0 ignores them. By default
        what `fit` learned, or else 2.5: for scores that are little better than chance use less, and more for a reranker
        that is nearly always right.
    style : {"plain", "numbered"}
        How the passages are written by `Packed.text`, so that titles, numbers and blank lines count too.

    Attributes
    ----------
    model_ : SCP
        The model in use, once `fit` or `load` was called or `model` was read.
    learned_ : frozenset of str
        Keys of the questions that `fit` has seen, which `certify` refuses.

    See Also
    --------
    Packed : The answer of `pack`.
    listwright.text.question_problems : The same features as problems, to train an estimator of your own.
    listwright.baselines.MMR : Sorting by relevance with a penalty on similarity.

    Examples
    --------
    >>> packer = ContextPacker()
    >>> packed = packer.pack(
    ...     "Where was the director of Alien born?",
    ...     [
    ...         "Rain fell on the town.",
    ...         "Ridley Scott was born in South Shields in 1937.",
    ...         "Alien is a film of 1979, directed by Ridley Scott.",
    ...     ],
    ...     budget=44,
    ... )
    >>> sorted(packed.positions), packed.tokens
    ([1, 2], 40)
    """

    def __init__(
        self,
        model: SCP | str | Path | None = None,
        *,
        tokens: Any = "estimate",
        score_weight: float | None = None,
        style: Style = "plain",
    ) -> None:
        self.model = model
        self.tokens = tokens
        self.score_weight = score_weight
        self.style = style

    def pack(
        self,
        query: str,
        passages: Sequence[Any],
        *,
        budget: float | None = 2000,
        length: int | None = None,
        titles: Sequence[str | None] | None = None,
        sources: Sequence[Any] | None = None,
        scores: Any = None,
        embeddings: Any = None,
        query_embedding: Any = None,
        sizes: Any = None,
        per_source: int | tuple[int | None, int | None] | dict[Any, Any] | list[Any] | None = None,
        must_include: Sequence[int] = (),
        exclude: Sequence[int] = (),
        budgets: Sequence[tuple[Any, float]] | None = None,
        stop: str | None = None,
        min_probability: float | None = None,
        truncate: bool = False,
    ) -> Packed:
        """Return the passages to put into the context, best first.

        Empty passages are never picked, nor are near copies of a picked passage: passages with nearly the same words,
        or with the same meaning by their embeddings, that contain no new number. Of windows of one document that
        overlap, what is picked already is left out and not counted again. Passages that no longer fit the budget are
        skipped. Of more than 256 passages, the 256 most promising ones are looked at closely: by the words of the
        question, by names in the best ones, by scores and by embeddings.

        Parameters
        ----------
        query : str
            The question.
        passages : sequence
            Strings, dictionaries, or objects with `text` or `page_content`. Titles, sources, scores and embeddings are
            taken from these unless they are given separately.
        budget : float or None
            Largest total number of tokens; None for no limit.
        length : int, optional
            Largest number of passages.
        titles, sources : sequence, optional
            The title and the source of each passage. Names of files, and titles of more than a third of the passages,
            are ignored. Nested sources are tuples from coarse to fine, such as (site, page).
        scores : sequence of numbers, optional
            The score of each passage from a retriever or reranker; higher is better. They are added to the log-odds of
            the text: see `score_weight`. Where the words tell nothing, as in another language, they decide.
        embeddings, query_embedding : arrays, optional
            Vectors of the passages and of the question, whose cosines count like scores. Embeddings also identify near
            copies.
        sizes : sequence of numbers, optional
            The number of tokens of each passage, if known.
        per_source : int, tuple, dict or list, optional
            Largest number of passages from one source, or (least, most), where None is no limit; the same for all
            sources or by source, as in `Problems.with_constraints`. For nested sources a list of these, one per level.
            The least come first.
        must_include : sequence of int
            Positions of passages that are picked in any case, before all others.
        exclude : sequence of int
            Positions of passages that are not picked.
        budgets : sequence of (sequence of numbers, float), optional
            Further budgets: what each passage uses, such as its price, and how much there is.
        stop : "auto", optional
            Leave out passages behind the first that are needed with a probability below 0.04, given those before them;
            below 0.07 without scores, embeddings and `fit`.
        min_probability : float, optional
            The same with a probability of your own.
        truncate : bool
            Cut passages that are too long for the budget behind the last sentence that fits beside those picked before,
            instead of leaving them out.

        Returns
        -------
        Packed
            The chosen passages with scores, probabilities and reasons; empty where all passages are blank or too long.

        Raises
        ------
        InputError
            If passages have no text, arrays do not have one entry per passage, a limit is not positive, or what must be
            included does not fit.
        """
        if not isinstance(query, str):
            raise InputError(f"query must be a string. Got {type(query).__name__}.")
        given = read_passages(
            passages,
            titles=titles,
            sources=sources,
            scores=scores,
            embeddings=embeddings,
            query_embedding=query_embedding,
        )
        if self.score_weight is not None and not (is_number(self.score_weight) and 0 <= self.score_weight < np.inf):
            raise InputError(f"score_weight must be a number from 0, or None. Got {self.score_weight!r}.")
        least = self._least_probability(stop, min_probability, given)
        token_limit = check_limits(budget, length, per_source)
        _check_places(must_include, len(given))
        self._model()
        if is_number(exclude):
            raise InputError(f"exclude must be a list of positions. Got {exclude!r}.")
        excluded = as_rows(exclude, len(given), "exclude")
        counted = passage_sizes(given, sizes, self.tokens, self._style())
        quotas = passage_quotas(given, per_source, budgets)
        limits = _Limits(token_limit, length, quotas, excluded, must_include, least)
        if not truncate or (counted <= token_limit).all():
            return self._choose(query, given, counted, limits)
        whole, long = counted, counted > token_limit
        given, counted = cut_passages(given, counted, long, token_limit, self.tokens, self._style())
        packed = self._choose(query, given, counted, limits)
        long[packed.positions] = False
        if long.any():  # what came before leaves them less room
            given, counted = cut_passages(given, counted, long, token_limit - packed.tokens, self.tokens, self._style())
            packed = self._choose(query, given, counted, limits)
        cut = sorted(row for row in packed.positions if counted[row] < whole[row])
        notes = [f"Passage {row} is cut from {whole[row]:g} to {counted[row]:g} tokens." for row in cut]
        return replace(packed, notes=notes + packed.notes)

    def _choose(self, query: str, given: Passages, counted: Floats, limits: _Limits) -> Packed:
        rows = np.setdiff1d(distinct_rows(given, limits.must_include), limits.excluded)
        notes = [
            f"Passage {row} is too long for the budget: it has {counted[row]:g} tokens."
            for row in rows
            if counted[row] > limits.token_limit
        ]
        rows = _shortlist_rows(query, given, rows[counted[rows] <= limits.token_limit], limits.must_include)
        missing = set(limits.must_include) - set(rows.tolist())
        if missing:
            raise InputError(_say_why_missing(min(missing), given, counted, limits))
        if not len(rows):
            return Packed([], [], 0, [], style=self._style(), notes=notes)
        quotas = limits.quotas and limits.quotas[rows]
        walk = _Walk(self, query, given.take(rows), counted[rows], limits.length or len(rows), quotas)
        packed = walk.pack(limits.token_limit, np.isin(rows, limits.must_include), limits.least)
        return replace(packed, positions=rows[packed.positions].tolist(), notes=notes)

    def pack_many(self, queries: Sequence[str], passages: Sequence[Sequence[Any]], **options: Any) -> list[Packed]:
        """Pack the passages of many questions.

        With scores or embeddings of at least 20 questions, and neither `score_weight` nor `fit`, what they weigh is
        estimated from how far they agree with the texts over the last 500 questions.

        Parameters
        ----------
        queries : sequence of str
            The questions.
        passages : sequence of sequences
            The passages of each, as in `pack`.
        **options
            Arguments of `pack`. `titles`, `sources`, `scores`, `embeddings`, `query_embedding`, `sizes`,
            `must_include` and `exclude` are sequences with one entry per question; the others are for all questions.

        Returns
        -------
        list of Packed
            One per question.
        """
        if isinstance(queries, str):
            raise InputError(f"queries must be a list of questions. Got {queries!r:.80}.")
        queries = list(queries)
        several = {name: options.pop(name) for name in _BY_QUESTION if options.get(name) is not None}
        for name, values in {"passages": passages, **several}.items():
            if not hasattr(values, "__len__") or isinstance(values, str):
                raise InputError(f"{name} must be a list with one entry per question. Got {type(values).__name__}.")
            if len(values) != len(queries):
                raise InputError(f"{name} must have one entry per question ({len(queries)}). Got {len(values)}.")
        own = [{name: values[i] for name, values in several.items()} for i in range(len(queries))]
        weights = ScoreWeights(self)
        for number, (query, given, known) in enumerate(zip(queries, passages, own, strict=True)):
            _name_question(number, weights.add, query, given, **{name: known[name] for name in KNOWN if name in known})
        weight = weights.estimate()
        packer = self if weight is None else copy(self).set_params(score_weight=weight)
        return [
            _name_question(number, packer.pack, query, given, **known, **options)
            for number, (query, given, known) in enumerate(zip(queries, passages, own, strict=True))
        ]

    def fit(self, data: Any, *, progress: Any = "auto", **columns: Any) -> Self:
        """Learn from questions which passages answers need.

        Everything that is given is learned from: texts, scores, embeddings, sources and the order of the passages. With
        12 questions or more, the trees of the current model are compared on folds with trees that correct them and with
        trees that are grown anew, and the best ones are kept. With fewer questions the current model is corrected,
        which changes little.

        Parameters
        ----------
        data : frame, list of dict or path
            A frame of pandas, polars or pyarrow with one row per passage, or one record per question; or a file of such
            records as JSON lines, such as `listwright export --passages` writes.
        progress : "auto", bool or callable
            Where progress is shown, as in `SCP.fit`.
        **columns : str
            Names of columns, or keys.

            - query, passages: the question and its passage or passages ("query" and "passages" by default).
            - label: whether a passage supports the answer; in records, the key of a list with one entry per passage, or
              a key of each passage.
            - answer: the answer, or several answers: passages that contain one of them count.
            - cited: the passages that a model cited, as a list of positions or titles; in frames, a column of flags.
            - shown: the passages that were in the prompt, in the same form. Nothing is learned of the others.
            - titles, scores, sources, embeddings, query_embedding: what is known, unless the passages say it.
            - question_id: in frames, tells questions apart that were asked in the same words.

        Returns
        -------
        ContextPacker
            Itself. A second call learns on top of the first.

        Raises
        ------
        InputError
            If not exactly one of `label`, `answer` and `cited` is given, or no question has a passage to learn from.
        """
        examples = read_examples(data, **columns)
        known: frozenset[str] = getattr(self, "learned_", frozenset())
        keys = {example.key() for example in examples}
        with progress_to(progress):
            self.model_ = fit_model(examples, self._model(), new=not known & keys)
        self.learned_ = known | keys
        return self

    def score(
        self,
        data: Any,
        *,
        budget: float | None = 2000,
        length: int | None = None,
        stop: str | None = None,
        **columns: Any,
    ) -> float:
        """Pack labelled questions and return the mean share of what their answers need that the contexts hold.

        Parameters
        ----------
        data : frame or list of dict
            Questions, as in `fit`.
        budget, length, stop : optional
            The limits of `pack`.
        **columns
            The names of columns or keys, as in `fit`.

        Returns
        -------
        float
            From 0 to 1. It is an estimate only; `certify` gives a bound.
        """
        examples = read_examples(data, **columns)
        limits: dict[str, Any] = {"budget": budget, "length": length, "stop": stop}
        packed = [self.pack(**example.arguments(), **limits) for example in examples]
        return float(np.mean([case.share(answer.positions) for case, answer in zip(examples, packed, strict=True)]))

    def certify(
        self,
        data: Any,
        delta: float = 0.05,
        *,
        rivals: Sequence[str] = ("bm25",),
        budget: float | None = 2000,
        length: int | None = None,
        stop: str | None = None,
        **columns: Any,
    ) -> HeldOutCertificate:
        """Compute lower bounds on the quality of contexts, from questions that the packer has not learned from.

        Parameters
        ----------
        data : frame or list of dict
            Questions, as in `fit`; `columns` are those of `fit` too. Those that this packer was fitted on are refused,
            whatever their passages; a packer from a file does not remember them.
        delta : float
            Probability that one of the statements is wrong.
        rivals : sequence of {"bm25", "scores"}
            What to compare with: sorting by BM25, or by the scores of the passages, within the same budget and length.
        budget, length, stop : optional
            The limits of `pack`.

        Returns
        -------
        HeldOutCertificate
            Lower confidence bounds on the mean share of what answers need that contexts hold, on that as a share of
            what greedy gets when it knows which passages help, and on how far it is ahead of the rivals.

        Examples
        --------
        >>> books = [(f"Book{i}", f"Author{i}") for i in range(40)]
        >>> records = [
        ...     {"query": f"Who wrote {b}?", "passages": [f"{b} is by {a}.", f"{b[::-1]} fell."], "cited": [0]}
        ...     for b, a in books
        ... ]
        >>> round(ContextPacker().certify(records, cited="cited", length=1).value, 2)
        0.9
        """
        examples = read_examples(data, **columns)
        refuse_learned(examples, getattr(self, "learned_", frozenset()))
        return certify_packer(self, examples, delta, rivals, budget=budget, length=length, stop=stop)

    def save(self, path: str | Path) -> None:
        """Write the model to a file that `load` reads. How tokens are counted is not stored: pass it to `load`."""
        self._model().save(path, slim=True)

    @classmethod
    def load(cls, path: str | Path, **settings: Any) -> Self:
        """Return a packer with the model of a file that `save` wrote.

        Parameters
        ----------
        path : path
            The file.
        **settings
            `tokens`, `score_weight` and `style`, as in the constructor.

        Raises
        ------
        InputError
            If the file does not contain a packer.
        """
        packer = cls(**settings)
        packer.model_ = _validate_model(load(path), str(path))
        return packer

    def _model(self) -> SCP:
        if not hasattr(self, "model_"):
            if self.model is None:
                return shipped_model()
            self.model_ = _validate_model(
                load(self.model) if isinstance(self.model, str | Path) else self.model, "model"
            )
        return self.model_

    def _least_probability(self, stop: str | None, least: float | None, given: Passages) -> float:
        if stop not in (None, "auto"):
            raise InputError(f'stop must be "auto" or None. Got {stop!r}.')
        if least is not None and not (is_number(least) and 0 <= least <= 1):
            raise InputError(f"min_probability must be from 0 to 1. Got {least!r}.")
        if least is not None or stop is None:
            return least or 0.0
        signals = set() if self.score_weight == 0 else given.signals().keys() - {"position"}
        return STOP if signals or calibration_of(self._model()).weights else TEXT_STOP

    def _style(self) -> Style:
        if self.style not in STYLES:
            raise InputError(f'style must be "plain" or "numbered". Got {self.style!r}.')
        return self.style


_BY_QUESTION = (*KNOWN, "sizes", "must_include", "exclude")


def _name_question(number: int, run: Callable[..., Any], *given: Any, **known: Any) -> Any:
    try:
        return run(*given, **known)
    except InputError as error:
        raise InputError(f"Question {number}: {error}") from None


class _Walk:
    def __init__(
        self, packer: ContextPacker, query: str, given: Passages, sizes: Floats, length: int, quotas: Quotas | None
    ) -> None:
        self.packer, self.given, self.sizes = packer, given, sizes
        self.length, self.quotas = length, quotas
        self.model = packer._model()
        self.features = passage_features(query, given.texts, given.titles)
        self.evidence = weigh_evidence(
            self.model, self.features, given, signal_weights(self.model, given, packer.score_weight)
        )
        self.overlaps, self.count = find_overlaps(given.texts), token_counter(packer.tokens)

    def pack(self, token_limit: float, forced: Any, least: float) -> Packed:
        picks, values = self._walk(token_limit, forced)
        if forced[picks].sum() < forced.sum():
            raise InputError(
                f"The {forced.sum()} passages that must be included do not fit the limits together. They have "
                f"{self.sizes[forced].sum():g} tokens: raise budget or length, or loosen per_source and budgets."
            )
        calibration = calibration_of(self.model)
        odds = calibration.intercept + self.evidence.scale * values + self.evidence.lift[picks]
        probabilities = calibration.probabilities(odds)
        likely = (probabilities >= least) | forced[picks] | self._asked_for_by_sources(picks)
        likely[:1] = True
        every, kept = self._without_overlaps(picks)[1].sum(), np.flatnonzero(likely)
        texts, sizes = self._without_overlaps(picks[kept])
        with_text = [place for place, text in enumerate(texts) if text]
        left = kept[with_text]
        chosen = picks[left].tolist()
        return Packed(
            positions=chosen,
            texts=[texts[place] for place in with_text],
            tokens=_whole(float(sizes.sum())),
            scores=decreasing_scores(odds[left].tolist()),
            probabilities=probabilities[left].tolist(),
            titles=[self.given.titles[pick] for pick in chosen],
            style=self.packer._style(),
            tokens_saved=_whole(float(every - sizes.sum())),
            explain=partial(reasons_of, self.features, chosen),
        )

    def _asked_for_by_sources(self, picks: Ints) -> Bools:
        """Return which picks the least numbers of passages per source ask for."""
        if self.quotas is None:
            return np.zeros(len(picks), dtype=bool)
        groups, least = self.quotas.groups[picks], self.quotas.least[picks]
        earlier = np.tri(len(picks), k=-1, dtype=bool)[:, :, None]
        return (((groups[:, None] == groups) & earlier).sum(axis=1) < least).any(axis=1)

    def _walk(self, token_limit: float, forced: Bools) -> tuple[Ints, Floats]:
        quotas = NO_QUOTAS
        if self.quotas is not None:
            quotas = self.quotas.limits(np.array([0, len(forced)]), self.length, needs_first=self.quotas.needs)
        of_text, shared = window_tokens(self.given.texts, self.overlaps, self.count)
        picks, values = walk_passages(
            self.model,
            self.features,
            length=self.length,
            bonus=self.evidence.bonus + _FIRST * forced,
            sizes=self.sizes,
            token_limit=token_limit,
            quotas=quotas,
            copies=near_copies(self.given, self.features) & ~forced[:, None],
            windows=(np.where(forced, np.inf, of_text), shared),
        )
        fits = np.cumsum(self._without_overlaps(picks)[1]) <= token_limit  # a tokenizer may not count quite by parts
        return picks[fits], (values - _FIRST * forced[picks])[fits]

    def _without_overlaps(self, picks: Ints) -> tuple[list[str], Floats]:
        parts, sizes = new_parts(self.given.texts, picks.tolist(), self.overlaps), self.sizes[picks].copy()
        for place, (pick, part) in enumerate(zip(picks, parts, strict=True)):
            text = self.given.texts[pick]
            if part != text:
                sizes[place] = max(sizes[place] - self.count(text) + self.count(part), 0.0) if part else 0.0
        return parts, sizes


def _whole(total: float) -> float:
    return int(total) if total == int(total) else total


def _check_places(places: Sequence[int], n: int) -> None:
    listed = places if isinstance(places, Sequence | np.ndarray) else [places]
    wrong = [
        place for place in listed if not (type(place) is int or isinstance(place, np.integer)) or not 0 <= place < n
    ]
    if wrong or listed is not places:
        raise InputError(f"must_include must hold positions from 0 to {n - 1}. Got {(wrong or listed)[0]!r}.")


def _say_why_missing(row: int, given: Passages, counted: Floats, limits: _Limits) -> str:
    why = "is a copy of another one: leave it out of must_include"
    if not given.texts[row].strip():
        why = "is blank: leave it out of must_include"
    elif row in limits.excluded:
        why = "is excluded: leave it out of must_include or exclude"
    elif counted[row] > limits.token_limit:
        why = f"has {counted[row]:g} tokens, and the budget is {limits.token_limit:g}: raise it, or pass truncate=True"
    return f"Passage {row} must be included, but {why}."


def _validate_model(model: Any, name: str) -> SCP:
    if not isinstance(model, SCP) or model.policy_.boosted_trees() is None:
        raise InputError(f"{name} is not a model of ContextPacker. ContextPacker.save writes such files.")
    return model


def _shortlist_rows(query: str, given: Passages, rows: Ints, forced: Sequence[int]) -> Ints:
    """Narrow the candidates to the `MOST` most promising ones, as features take time quadratic in their number."""
    if len(rows) <= MOST:
        return rows
    some = given.take(rows)
    signals = [values for name, values in some.signals().items() if name != "position"]
    kept = rows[shortlist(query, some.texts, some.titles, most=MOST, signals=signals)]
    return np.union1d(kept, np.intersect1d(rows, np.array(forced, dtype=np.int64)))
