"""Why a sentence was picked: what each group of features added to its score."""

from __future__ import annotations

from listwright._internal.arrays import Ints
from listwright.errors import InputError
from listwright.estimators.base import ListEstimator
from listwright.evaluation.explain import Explainer
from listwright.problems import Problems
from listwright.summarize.problems import STRUCTURE

NOVELTY = "new given the list"
GROUPS: dict[str, tuple[str, ...]] = {
    "place": ("first", "second", "early", "inverse_position", "relative_position"),
    "length": ("words", "characters", "short"),
    "central": ("centroid", "own_document", "lexrank", "degree", "echo"),
    "words of summaries": ("expected new words", "expected new words by size"),
    "frequent words": ("word_frequency", "word_spread"),
    "title": ("title_overlap",),
    "headings and cues": STRUCTURE,
    "names, numbers, quotes": ("capitals", "pronouns", "numbers", "quotes"),
}
_GROUP_OF = {column: group for group, columns in GROUPS.items() for column in columns}
_VOLUME = "volume x "

Reasons = dict[str, float]


def explained_lists(model: ListEstimator, problems: Problems, room: float) -> tuple[list[Ints], list[list[Reasons]]]:
    """Return the lists that `predict` builds, and the reasons for each pick, the strongest first."""
    lists = model.predict(problems.without_reward(), budget=room)
    assert isinstance(lists.explainer, Explainer)
    picked = list(lists)
    steps = [lists.explainer.options_considered(problems, i, picks) for i, picks in enumerate(picked)]
    if any(not step.shares.tables for each in steps for step in each):
        raise InputError("Reasons need a policy that adds up columns, such as a linear policy. Omit --explain.")
    return picked, [[_reasons(step.above_options()) for step in each] for each in steps]


def _reasons(columns: dict[str, tuple[float, float]]) -> Reasons:
    """Return by group how far it puts the sentence above the others, the largest effect first."""
    totals: Reasons = dict.fromkeys([*GROUPS, NOVELTY], 0.0)
    for name, (alone, change) in columns.items():
        own = name.removeprefix(_VOLUME)
        if name.startswith(_VOLUME) and own in columns:
            totals[_GROUP_OF.get(own, own)] += alone
            totals[NOVELTY] += change
        else:
            totals[_GROUP_OF.get(name, NOVELTY)] += alone + change
    return dict(sorted(totals.items(), key=lambda pair: -abs(pair[1])))
