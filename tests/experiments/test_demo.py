"""The demo: what its lists say, what its numbers are, and that it says what it is."""

from __future__ import annotations

import numpy as np
import pytest

from listwright.experiments import demo
from listwright.experiments.demo import cost, findings, report, value_table
from listwright.experiments.records import point
from listwright.report import Note, SideBySide, page_of
from listwright.simulate.questions import SimulatedPassage, SimulatedQuestion


@pytest.fixture(scope="module")
def found():
    return demo.run(n_train=20, n_test=40)


def test_picks_are_told_as_new_repeated_or_not_needed():
    passages = (
        SimulatedPassage("Film", "Ada made it.", 0),
        SimulatedPassage("Film", "By Ada.", 0),
        SimulatedPassage("Town", "Old.", None),
    )
    asked = SimulatedQuestion(
        "q",
        "Who?",
        (*passages, SimulatedPassage("Ada", "Born in Oslo.", 1)),
        (("director", "Ada"), ("birthplace", "Oslo")),
    )
    told = demo._describe_list(asked, "some way", np.array([0, 1, 2, 3]))
    assert [(pick.adds, pick.kind) for pick in told.picks] == [
        ("director: Ada", "new"),
        ("repeats the director", "repeat"),
        ("not needed", "nothing"),
        ("birthplace: Oslo", "new"),
    ]
    assert told.worth == "holds 2 of 2"


def test_lists_shown_are_worth_what_they_say(found):
    assert len(found.problems) == 11
    for part in found.problems:
        for one in part.lists:
            assert one.worth.startswith(f"holds {sum(pick.kind == 'new' for pick in one.picks)} of 4")


def test_questions_shown_are_the_first_that_take_a_whole_list(found):
    """Not the ones on which some method does well."""
    asked = [one.text for one in demo.questions(40, random_state=demo.TEST_SEED) if len(one.steps) == demo.SHOWN]
    assert [part.problem for part in found.problems] == asked[:11]


def test_learned_lists_are_far_ahead(found):
    values = {
        name: point(found.records, name, n_train=20, length=4, metric="value") for name in (demo.SORTED, demo.LEARNED)
    }
    assert values[demo.LEARNED]["low"] > values[demo.SORTED]["high"]
    assert "at least" in found.certificate
    assert "more than MMR" in found.certificate


def test_what_was_learned_elsewhere_is_one_more_row():
    """The same questions in both processes: the oracle's values are those of the others."""
    other = demo.MethodRun(np.full((len(demo.LENGTHS), 40), 0.5), 7.0)
    found = demo.run(n_train=20, n_test=40, apart=lambda: dict.fromkeys(demo.APART, other))
    assert [row[0] for row in value_table(found.records).rows] == list(demo.METHODS)
    assert 'with effort="auto", 7.0 s' in cost(found)


def test_report_says_what_it_is(found):
    made = report(found)
    assert "The data is made up" in findings(found)
    assert [section.title for section in made.sections] == [
        "One question, three lists",
        "All questions",
        "What is certain",
        "What it cost",
        "10 more questions",
    ]
    (note,) = (part for part in made.sections[1].parts if isinstance(part, Note))
    assert note.href == "docs/results.md"
    assert "learned from 20 questions in" in cost(found)
    assert value_table(found.records).rows[-1][0] == "oracle"
    assert sum(isinstance(part, SideBySide) for section in made.sections for part in section.parts) == 11


def test_page_strikes_repeats_out(found):
    page = page_of(report(found))
    repeats = sum(pick.kind == "repeat" for part in found.problems for one in part.lists for pick in one.picks)
    assert page.count("<s>") == repeats > 0
    assert page.count("<details") == 10
