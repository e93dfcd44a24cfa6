"""Made-up questions: the same seed the same text, a chain to the answer, and passages that lead along it."""

from __future__ import annotations

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.simulate.questions import FEATURES, question_problems, questions


@pytest.fixture(scope="module")
def asked():
    return questions(40, random_state=5)


def test_a_question_does_not_depend_on_how_many_there_are(asked):
    assert questions(3, random_state=5) == asked[:3]
    assert questions(3, random_state=6) != asked[:3]


def test_passages_lead_from_the_question_to_the_answer(asked):
    """Each step has a passage whose text holds the name that the next one is about."""
    for one in asked:
        assert 3 <= len(one.steps) <= 4
        subjects = [next(p.title for p in one.passages if p.step == step) for step in range(len(one.steps))]
        assert subjects[0] in one.text
        assert not any(name in one.text for name in subjects[1:])
        for passage in one.passages:
            if passage.step is not None:
                assert passage.title == subjects[passage.step]
                assert one.steps[passage.step][1] in passage.text
        assert subjects[1:] == [name for _, name in one.steps[:-1]]


def test_facts_are_told_again_in_other_words(asked):
    again = [p for one in asked for p in one.passages if p.step is not None]
    keys = [(one.id, p.step) for one in asked for p in one.passages if p.step is not None]
    assert len(keys) > 1.4 * len(set(keys))
    assert len({p.text for p in again}) == len(again)


def test_problems_hold_what_can_be_known_without_labels(asked):
    problems = question_problems(asked)
    assert problems.feature_names == FEATURES
    assert problems.counts.tolist() == [len(one.passages) for one in asked]
    oracle = lw.greedy(problems, 4)
    assert oracle.values is not None
    np.testing.assert_allclose(oracle.values, 1.0)
    named = problems.features[:, FEATURES.index("named in the question")]
    steps = [p.step for one in asked for p in one.passages]
    assert all(named[row] == 1 for row, step in enumerate(steps) if step == 0)
    assert set(problems.links) == {"is named in", "names", "same subject"}


def test_lists_matter(asked):
    """What a passage adds depends on the list: a learned list is far ahead of a sorted one."""
    train, test = question_problems(asked), question_problems(questions(60, random_state=7))
    learned = lw.SCP(4, effort="fast", random_state=0).fit(train).score(test)
    assert learned > lw.baselines.TopK(length=4).fit(train).score(test) + 0.25


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_questions": 0}, "n_questions must be at least 1. Got 0"),
        ({"steps": (4, 3)}, r"steps must be \(lowest, highest\) within 1 to 5"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        questions(**({"n_questions": 1} | settings))
