"""`ContextPacker`: passages for the context of a language model, within a budget of tokens.

It ties together the modules of this package; see `listwright.context` for the order of the steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from listwright._internal.arrays import Ints
from listwright._internal.parameters import Parameters
from listwright.context.examples import example_problems, held_out_certificate, read_examples, refuse_learned
from listwright.context.limits import check_room, groups_of, limits_of
from listwright.context.model import passage_model, scores_alone, shipped_model, walk_passages
from listwright.context.packed import Packed, decreasing_scores, reasons_of
from listwright.context.passages import Passages, candidates, read_passages, sizes_of, twins_of
from listwright.context.signals import bonus_of, signals_of
from listwright.errors import InputError
from listwright.estimators.scp import SCP
from listwright.guarantees import HeldOutCertificate
from listwright.loading import load
from listwright.text.passages import passage_features, shortlist

MOST = 256  # passages that are looked at closely; of more, the most promising ones


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
    tokens : "words", callable or tokenizer
        How passages are counted: words between blanks, a function of a text, or a tokenizer with `encode`.

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
    ...     budget=20,
    ... )
    >>> sorted(packed.positions), packed.tokens
    ([1, 2], 19)
    """

    def __init__(self, model: SCP | str | Path | None = None, *, tokens: Any = "words") -> None:
        self.model = model
        self.tokens = tokens

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
        per_source: int | None = None,
    ) -> Packed:
        """Return the passages to put into the context, best first.

        Empty passages are never picked, nor are near copies of a picked passage: passages with nearly the same words,
        or with the same meaning by their embeddings, that contain no new number. Passages that no longer fit the
        budget are skipped. Of more than 256 passages, the 256 most promising ones are looked at closely: by the
        words of the question, by names in the best ones, by scores and by embeddings.

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
            The title and the source of each passage.
        scores : sequence of numbers, optional
            The score of each passage from a retriever or reranker; higher is better.
        embeddings, query_embedding : arrays, optional
            Vectors of the passages and of the question. Scores and cosines of embeddings count for what they add to
            shared words, as far as they agree with the texts. Embeddings also identify near copies.
        sizes : sequence of numbers, optional
            The number of tokens of each passage, if known.
        per_source : int, optional
            Largest number of passages from one source.

        Returns
        -------
        Packed
            The chosen passages with scores and reasons; empty where all passages are blank.

        Raises
        ------
        InputError
            If passages have no text, arrays do not have one entry per passage, a limit is not positive, or no passage
            fits the budget.
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
        counted = sizes_of(given.texts, sizes, self.tokens)
        limits, rows = limits_of(budget, length, per_source, given), candidates(given.texts)
        if not len(rows):
            return Packed([], [], 0, [], list)
        check_room(counted[rows], limits.room)
        rows = _shortlist_rows(query, given, rows)
        given, counted = given.take(rows), counted[rows]
        found, model = passage_features(query, given.texts, given.titles), self._model()
        picks, worths = walk_passages(
            model,
            found,
            counted,
            room=limits.room,
            length=limits.length,
            groups=groups_of(given, per_source),
            per_group=limits.per_source,
            bonus=bonus_of(given, found, scores_alone(model, found)) if given.tells else np.zeros(len(given)),
            twins=twins_of(given, found),
        )
        chosen = picks.tolist()
        total = float(counted[picks].sum())
        return Packed(
            positions=rows[picks].tolist(),
            texts=[given.texts[pick] for pick in chosen],
            tokens=int(total) if total == int(total) else total,
            scores=decreasing_scores(worths.tolist()),
            explain=lambda: reasons_of(found, chosen),
        )

    def fit(
        self,
        data: Any,
        *,
        query: str = "query",
        passages: str = "passages",
        label: str | None = None,
        answer: str | None = None,
        cited: str | None = None,
        titles: str | None = None,
    ) -> Self:
        """Learn from questions which passages answers need.

        The trees of the current model are kept, and new trees correct them, so that a few questions change little.

        Parameters
        ----------
        data : frame or list of dict
            A frame of pandas, polars or pyarrow with one row per passage, or one record per question.
        query, passages : str
            The columns, or keys, of the question and of its passage or passages.
        label : str, optional
            Column that says whether a passage supports the answer; in records, the key of a list with one entry per
            passage, or a key of each passage.
        answer : str, optional
            Column or key of the answer, or of several answers: passages that contain one of them count.
        cited : str, optional
            Key of the passages that a model cited, as a list of positions or titles; in frames, a column of flags.
        titles : str, optional
            Column or key of the titles, if passages are plain texts.

        Returns
        -------
        ContextPacker
            Itself. A second call learns on top of the first.

        Raises
        ------
        InputError
            If not exactly one of `label`, `answer` and `cited` is given, or no question has a passage to learn from.
        """
        told = read_examples(
            data, query=query, passages=passages, label=label, answer=answer, cited=cited, titles=titles
        )
        start = self._model().policy_.estimator.parts
        self.model_ = passage_model(example_problems(told), start)
        self.learned_ = getattr(self, "learned_", frozenset()) | {example.key() for example in told}
        return self

    def score(self, data: Any, *, budget: float | None = 2000, length: int | None = None, **columns: Any) -> float:
        """Pack labelled questions and return the mean share of what their answers need that the contexts hold.

        Parameters
        ----------
        data : frame or list of dict
            Questions, as in `fit`.
        budget, length : optional
            The limits of `pack`.
        **columns
            The names of columns or keys, as in `fit`.

        Returns
        -------
        float
            From 0 to 1. It is an estimate only; `certify` gives a bound.
        """
        shares = []
        for example in read_examples(data, **columns):
            packed = self.pack(example.query, example.texts, titles=example.titles, budget=budget, length=length)
            shares.append(example.share(packed.positions))
        return float(np.mean(shares))

    def certify(
        self, data: Any, delta: float = 0.05, *, budget: float | None = 2000, length: int | None = None, **columns: Any
    ) -> HeldOutCertificate:
        """Compute lower bounds on the quality of contexts, from questions that the packer has not learned from.

        Parameters
        ----------
        data : frame or list of dict
            Questions, as in `fit`; `columns` are those of `fit` too. Those that this packer was fitted on are refused;
            a packer from a file does not remember them.
        delta : float
            Each bound fails with a probability of at most `delta`.
        budget, length : optional
            The limits of `pack`.

        Returns
        -------
        HeldOutCertificate
            Lower confidence bounds on the mean share of what answers need that contexts hold, on that as a share of
            what greedy gets when it knows which passages help, and on how far it is ahead of BM25.

        Examples
        --------
        >>> books = [(f"Book{i}", f"Author{i}") for i in range(40)]
        >>> records = [
        ...     {"query": f"Who wrote {b}?", "passages": [f"{b} is by {a}.", f"{b[::-1]} fell."], "cited": [0]}
        ...     for b, a in books
        ... ]
        >>> round(ContextPacker().certify(records, cited="cited", length=1).value, 2)
        0.91
        """
        examples = read_examples(data, **columns)
        refuse_learned(examples, getattr(self, "learned_", frozenset()))
        return held_out_certificate(self, examples, delta, budget=budget, length=length)

    def save(self, path: str | Path) -> None:
        """Write the model to a file that `load` reads. How tokens are counted is not stored: pass it to `load`
        again.
        """
        self._model().save(path, slim=True)

    @classmethod
    def load(cls, path: str | Path, *, tokens: Any = "words") -> Self:
        """Return a packer with the model of a file that `save` wrote.

        Parameters
        ----------
        path : path
            The file.
        tokens : "words", callable or tokenizer
            How passages are counted, as in the constructor.

        Raises
        ------
        InputError
            If the file does not contain a packer.
        """
        packer = cls(tokens=tokens)
        packer.model_ = _validate_model(load(path), str(path))
        return packer

    def _model(self) -> SCP:
        """Return the model that was fitted or loaded, else the one given, else the shipped one."""
        if not hasattr(self, "model_"):
            if self.model is None:
                return shipped_model()
            found = self.model if isinstance(self.model, SCP) else load(self.model)
            self.model_ = _validate_model(found, "model")
        return self.model_


def _validate_model(model: Any, name: str) -> SCP:
    """Return the model if the compiled walk can use it, and raise `InputError` otherwise."""
    if not isinstance(model, SCP) or model.policy_.boosted_trees() is None:
        raise InputError(f"{name} is not a model of ContextPacker. ContextPacker.save writes such files.")
    return model


def _shortlist_rows(query: str, given: Passages, rows: Ints) -> Ints:
    """Narrows the candidates to the `MOST` most promising ones, as features take time quadratic in their number."""
    if len(rows) <= MOST:
        return rows
    some = given.take(rows)
    return rows[shortlist(query, some.texts, some.titles, most=MOST, signals=signals_of(some))]
