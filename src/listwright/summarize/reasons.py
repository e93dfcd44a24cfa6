"""Why a sentence was taken: what each group of features added to its score."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright.errors import InputError
from listwright.estimators.base import ListEstimator
from listwright.policies import Linear
from listwright.problems import Problems
from listwright.summarize import structure
from listwright.walk.plain import Step, walk

NOVELTY = "new beside the list"
GROUPS: dict[str, tuple[str, ...]] = {
    "place": ("first", "second", "early", "inverse_position", "relative_position"),
    "length": ("words", "characters", "short"),
    "central": ("centroid", "own_document", "lexrank", "degree", "echo"),
    "words of summaries": ("expected new words", "expected new words by size"),
    "frequent words": ("word_frequency", "word_spread"),
    "title": ("title_overlap",),
    "headings and cues": structure.NAMES,
    "names, numbers, quotes": ("capitals", "pronouns", "numbers", "quotes"),
}
_GROUP_OF = {column: group for group, columns in GROUPS.items() for column in columns}
_VOLUME = "volume x "

Reasons = dict[str, float]


def explained_lists(model: ListEstimator, problems: Problems, room: float) -> tuple[list[Ints], list[list[Reasons]]]:
    """The lists that `predict` builds, and the reasons of each pick, strongest first.

    A reason is what a group of features added to the score, compared with the mean of all sentences that could have
    been taken at that point, in standard deviations of their scores. The product of volume and quality counts as
    quality as far as it would be there beside an empty list, and what the list takes off it as novelty.
    """
    features, policy = model.training_.features, model.policy_
    if not isinstance(policy, Linear) or policy.item_weights is not None:
        raise InputError("Reasons need a linear policy, and this model has another. Leave --explain out.")
    items: list[list[int]] = [[] for _ in range(len(problems))]
    reasons: list[list[Reasons]] = [[] for _ in range(len(problems))]
    rooms = np.full(len(problems), float(room))
    steps = walk(problems.without_reward(), features, policy, length=None, rng=np.random.default_rng(0), room=rooms)
    names = features.names()
    for step in steps:
        for problem, pick, options in _picked(step):
            items[problem].append(int(pick - problems.offsets[problem]))
            reasons[problem].append(_reasons(step.rows.table[options], step.rows.table[pick], policy.weights, names))
    return [np.array(one, dtype=np.int64) for one in items], reasons


def _picked(step: Step) -> Iterator[tuple[int, int, Ints]]:
    for problem in np.flatnonzero(step.picks >= 0):
        start, end = step.rows.offsets[problem : problem + 2]
        yield int(problem), int(step.picks[problem]), start + np.flatnonzero(step.options[start:end])


def _reasons(options: Floats32, pick: Floats32, weights: Floats, names: list[str]) -> Reasons:
    spread = float((options @ weights).std()) or 1.0
    above = (pick - options.mean(axis=0)) * weights / spread
    totals: Reasons = dict.fromkeys([*GROUPS, NOVELTY], 0.0)
    for column, name in enumerate(names):
        own = name.removeprefix(_VOLUME)
        if name.startswith(_VOLUME) and own in names:
            quality = names.index(own)
            unspanned = (pick[quality] - options[:, quality].mean()) * weights[column] / spread
            totals[_GROUP_OF.get(own, own)] += float(unspanned)
            totals[NOVELTY] += float(above[column] - unspanned)
        else:
            totals[_GROUP_OF.get(name, NOVELTY)] += float(above[column])
    return dict(sorted(totals.items(), key=lambda pair: -abs(pair[1])))
