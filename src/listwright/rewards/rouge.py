"""ROUGE-n recall as a reward: the share of the references' n-grams that the list contains."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from listwright._internal.arrays import Floats, Ints, Ragged, per_problem, starts_of
from listwright._internal.tokens import stem_token, word_number
from listwright._kernels.topics import CAP, best_reference_gains
from listwright.errors import InputError
from listwright.rewards.coverage import TopicReward, TopicState

if TYPE_CHECKING:
    from listwright.problems import Problems

Tokens = Sequence[str]


class Rouge(TopicReward):
    """ROUGE-n recall of a list of texts: the share of a reference's n-grams that the list contains, counts clipped.

    Use it to train extractive summaries against reference summaries; `text.summarize` does so from documents.
    With several references it is the average of their recalls, as in the paper, which is monotone submodular.
    `best=True` takes the highest recall instead, which is how some ROUGE scripts report it, but which is not
    submodular. N-grams do not span two items.

    Parameters
    ----------
    candidates : sequence of sequences of str
        The tokens of each row. `listwright.text.tokens` makes tokens from text.
    references : sequence of sequences of str, or a sequence of lists of these
        For each problem the tokens of its reference, or a list of such token lists.
    n : int, default 1
        Length of the n-grams.
    stem : bool, default False
        Compare Porter stems. Needs the extra `text`.
    best : bool, default False
        Take the best reference instead of the average.

    Raises
    ------
    InputError
        When the reward is attached to problems, if text was passed instead of tokens, if a problem has no reference, or
        if the number of candidates or references is wrong.

    See Also
    --------
    ConcaveCoverage : Clipped sums over topics that are not words.
    listwright.text.rouge : ROUGE scores of finished summaries.

    Notes
    -----
    The objective of the paper's document summarisation experiment (Section 6.3).

    Examples
    --------
    >>> import listwright as lw
    >>> reward = Rouge([["the", "cat"], ["a", "dog", "sat"]], [["the", "cat", "sat", "down"]])
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 2, 1)), reward=reward)
    >>> reward.gains(reward.start(problems))
    array([0.5 , 0.25])
    """

    kind = CAP
    normalize = False  # recall already lies in [0, 1]
    bounded = True

    def __init__(
        self,
        candidates: Sequence[Tokens],
        references: Sequence[Tokens] | Sequence[Sequence[Tokens]],
        n: int = 1,
        stem: bool = False,
        *,
        best: bool = False,
    ) -> None:
        self._source = (candidates, references)
        self.n = n
        self.stem = stem
        self.best = best

    @property
    def submodular(self) -> bool:  # type: ignore[override]
        """Whether recall is averaged over the references; the maximum of several is not submodular."""
        return not self.best

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        if self.n < 1:
            raise InputError(f"n must be at least 1. Got {self.n}.")
        candidates, references = list(self._source[0]), [_several(texts, i) for i, texts in enumerate(self._source[1])]
        if len(candidates) != offsets[-1]:
            raise InputError(f"candidates must have one token list per row ({offsets[-1]}). Got {len(candidates)}.")
        if len(references) != len(offsets) - 1:
            raise InputError(f"references must have one entry per problem ({len(offsets) - 1}). Got {len(references)}.")
        if any(isinstance(tokens, str) for tokens in candidates):
            raise InputError("candidates must be lists of tokens. Got text: split it with listwright.text.tokens.")
        return _tables(candidates, references, offsets, self.n, self.stem, average=not self.best)

    def gains_of(self, state: TopicState, rows: Ints) -> Floats:
        if not self.best:
            return super().gains_of(state, rows)
        reference_of, starts, values = self._by_reference(state)
        return best_reference_gains(
            rows, *state.layout, state.weights, state.caps, state.levels, reference_of, starts, values
        )

    def value(self, state: TopicState) -> Floats:
        """Return the recall of each list: the average over references, or the best."""
        if not self.best:
            return super().value(state)
        _, starts, values = self._by_reference(state)
        return np.maximum.reduceat(values, starts[:-1])

    def start(self, problems: Problems) -> TopicState:
        bound = self.bind(problems.offsets)
        state = super().start(problems)
        extra = (bound.tables["reference"].values, starts_of(bound.tables["n_references"].values))
        return state._replace(extra=extra)

    def _by_reference(self, state: TopicState) -> tuple[Ints, Ints, Floats]:
        reference_of, starts = state.extra
        slots = reference_of + np.repeat(starts[:-1], np.diff(state.layout.topic_starts))
        matches = state.weights * np.minimum(state.levels, state.caps)
        values = np.bincount(slots, matches, minlength=int(starts[-1])).astype(np.float64)
        return reference_of, starts, values


def _several(references: Tokens | Sequence[Tokens], problem: int) -> list[Tokens]:
    if isinstance(references, str) or any(isinstance(text, str) and " " in text for text in references):
        raise InputError(
            f"References of problem number {problem} must be tokens. Got text: see listwright.text.tokens."
        )
    several = [references] if references and isinstance(references[0], str) else list(references)
    if not any(len(tokens) for tokens in several):
        raise InputError(f"Problem number {problem} has no reference with any token.")
    return several  # type: ignore[return-value]


def _tables(
    candidates: list[Tokens], references: list[list[Tokens]], offsets: Ints, n: int, stem: bool, *, average: bool
) -> dict[str, Ragged]:
    """Return the topic tables. A topic is an n-gram of one reference, and its cap is how often the reference has it."""
    n_references = np.array([len(several) for several in references])
    flat = list(chain.from_iterable(references))
    (ref_of, ref_gram), (row_of, row_gram), names = _grams(flat, candidates, n, stem)
    n_grams = len(names)
    problem_of_ref = np.repeat(np.arange(len(references)), n_references)
    totals = np.maximum(np.bincount(ref_of, minlength=len(flat)), 1)

    topic_keys, caps = np.unique(ref_of * n_grams + ref_gram, return_counts=True)
    topic_ref = topic_keys // n_grams
    topic_problem = problem_of_ref[topic_ref]
    topic_starts = starts_of(np.bincount(topic_problem, minlength=len(references)))
    share = 1.0 / (totals * n_references[problem_of_ref]) if average else 1.0 / totals

    touched, topics, amounts = _matches(
        row_of, row_gram, topic_problem * n_grams + topic_keys % n_grams, offsets, n_grams
    )
    nnz_starts = starts_of(touched)[offsets]
    owner_of_entry = np.repeat(np.arange(len(references)), np.diff(nnz_starts))
    first_ref = starts_of(n_references)[:-1]
    return {
        "touched": Ragged(touched, offsets),
        "topics": Ragged(topics - topic_starts[owner_of_entry], nnz_starts),
        "amounts": Ragged(amounts, nnz_starts),
        "weights": Ragged(share[topic_ref], topic_starts),
        "caps": Ragged(caps.astype(np.float64), topic_starts),
        "totals": per_problem(np.ones(len(references))),
        "words": Ragged(names[topic_keys % n_grams], topic_starts),
        "reference": Ragged(topic_ref - first_ref[topic_problem], topic_starts),
        "n_references": per_problem(n_references),
    }


def _grams(
    references: list[Tokens], candidates: list[Tokens], n: int, stem: bool
) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints], Ints]:
    seen: dict[str, int] = {}
    words = chain.from_iterable(references)
    ref_ids = [seen.setdefault(word, len(seen)) for word in (map(stem_token, words) if stem else words)]
    words = chain.from_iterable(candidates)
    row_ids = [seen.get(word, -1) for word in (map(stem_token, words) if stem else words)]
    n_references, lengths = len(references), np.array([len(tokens) for tokens in chain(references, candidates)])
    ids = np.array(ref_ids + row_ids, dtype=np.int64)
    text_of = np.repeat(np.arange(len(lengths)), lengths)

    keys, inside = ids, np.ones(len(ids), dtype=bool)
    for step in range(1, n):
        inside = inside[:-1] & (text_of[:-step] == text_of[step:])
        _, keys = np.unique(keys[:-1] * (len(seen) + 1) + ids[step:], return_inverse=True)
        inside &= ids[step:] >= 0
    inside &= ids[: len(inside)] >= 0
    keys, text_of, first = keys[inside], text_of[: len(inside)][inside], ids[: len(inside)][inside]
    from_ref = text_of < n_references
    names = np.zeros(int(keys.max(initial=0)) + 1, dtype=np.int64)
    names[keys] = np.array([word_number(word) for word in seen], dtype=np.int64)[first]
    return (text_of[from_ref], keys[from_ref]), (text_of[~from_ref] - n_references, keys[~from_ref]), names


def _matches(row_of: Ints, row_gram: Ints, topic_keys: Ints, offsets: Ints, n_grams: int) -> tuple[Ints, Ints, Floats]:
    order = np.argsort(topic_keys, kind="stable")
    entries, counts = np.unique(row_of * n_grams + row_gram, return_counts=True)
    rows = entries // n_grams
    owner_of_row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    wanted = owner_of_row[rows] * n_grams + entries % n_grams
    first = np.searchsorted(topic_keys[order], wanted, side="left")
    n_matches = np.searchsorted(topic_keys[order], wanted, side="right") - first
    ranges = np.repeat(first - starts_of(n_matches)[:-1], n_matches) + np.arange(n_matches.sum())
    touched = np.bincount(np.repeat(rows, n_matches), minlength=int(offsets[-1]))
    return touched, order[ranges], np.repeat(counts, n_matches).astype(np.float64)
