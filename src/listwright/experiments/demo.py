"""What `listwright demo` runs: choosing passages for made-up questions, where the gain of a passage depends on the
list.

Questions, sizes, seeds and settings are fixed here and were chosen on questions of other seeds; the tuned rivals choose
their parameter by cross-validation on the training questions. `run` measures all methods; `demo_report` turns the
result into a page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.parameters import clone
from listwright._internal.progress import progress_to, report_progress
from listwright._kernels import announcer
from listwright.baselines import DPP, MMR, Oracle, TopK
from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.scp import SCP
from listwright.evaluation.intervals import SHARES
from listwright.evaluation.values import measured
from listwright.experiments.methods import Tuned
from listwright.experiments.records import Record, record
from listwright.problems import Problems
from listwright.report import Pick, PickedList, SideBySide
from listwright.report.render import script
from listwright.simulate.questions import Passage, Question, question_problems, questions

N_TRAIN, N_TEST = 24, 200
TRAIN_SEED, TEST_SEED = 2013, 2014
SHOWN = 4  # the length that is learned for and shown: what the longest questions need
LENGTHS = (1, 2, 3, 4, 5, 6)
MORE = 10  # questions to click through
TIMED = 50  # lists that are timed one by one

SORTED, TUNED, LEARNED, BEST = "sorted by relevance", "MMR, tuned", "SCP", 'SCP, effort="best"'
DETERMINANTAL = "DPP, tuned"
RIVALS: dict[str, Any] = {
    SORTED: TopK("ridge", SHOWN),
    "boosted trees, sorted": TopK("boosting", SHOWN, random_state=0),
    TUNED: Tuned({f"{one:g}": MMR(one, relevance="ridge") for one in (0.1, 0.2, 0.3, 0.5, 0.7)}, length=SHOWN),
    DETERMINANTAL: Tuned({f"{one:g}": DPP(one, relevance="ridge") for one in (1, 2, 4, 8, 16)}, length=SHOWN),
    "ConSeqOpt": ConSeqOpt(SHOWN, weighting="uniform", random_state=0),
    LEARNED: SCP(SHOWN, effort="fast", random_state=0),
    BEST: SCP(SHOWN, effort="best", random_state=0),
    "oracle": Oracle(SHOWN),
}
METHODS = tuple(RIVALS)
APART = (BEST, DETERMINANTAL)  # take as long as all others together, with compilation


@dataclass(frozen=True)
class Demo:
    """The results of the demo."""

    n_train: int  # number of questions for training and testing
    n_test: int
    records: list[Record]  # value of each method at each length
    problems: list[SideBySide]  # lists of three methods for one question, and for ten more
    seconds: Mapping[str, float]  # training time by method
    milliseconds: float  # median time to build one list, one at a time
    certificate: str = ""  # what is guaranteed about the learned lists, in words; may be empty


class Learned(NamedTuple):
    """What came of training one method."""

    values: Floats  # (lengths, questions)
    seconds: float  # training time


def run(
    *,
    n_train: int = N_TRAIN,
    n_test: int = N_TEST,
    apart: Callable[[], Mapping[str, Learned]] | None = None,
) -> Demo:
    """Train all methods on some questions, and measure them on others.

    Parameters
    ----------
    n_train, n_test : int
        Number of questions for training and testing.
    apart : callable, optional
        Returns the results of the methods in `APART` (see `learn_apart`), so that the caller can compute them in
        another process meanwhile. Without it, these methods are left out.

    Returns
    -------
    Demo
        Values, example lists, times and the certificate.
    """
    asked = questions(n_test, random_state=TEST_SEED)
    train, test = _problems(n_train), question_problems(asked)
    models, learned = {}, {}
    for name in METHODS:
        if name not in APART:
            models[name], learned[name] = _learned(RIVALS[name], train, test)
            report_progress("methods", len(models), len(METHODS))
    model = models[LEARNED]
    certificate = model.certify(test, rivals={"sorting by relevance": models[SORTED], "MMR": models[TUNED]})
    milliseconds = _milliseconds(model, test.without_reward())
    titles = {SORTED: SORTED, TUNED: f"MMR, best lambda {1 - float(models[TUNED].name_):g}", LEARNED: "learned by SCP"}
    lists = {title: list(models[name].predict(test.without_reward())) for name, title in titles.items()}
    script()  # it takes a while, and is kept
    report_progress("methods", len(METHODS) - 1, len(METHODS))
    if apart is not None:
        learned.update(apart())
    return Demo(
        n_train,
        n_test,
        _records(learned, n_train),
        _side_by_side(asked, lists),
        {name: learned[name].seconds for name in (LEARNED, BEST) if name in learned},
        milliseconds,
        str(certificate),
    )


def learn_apart(n_train: int = N_TRAIN, n_test: int = N_TEST) -> dict[str, Learned]:
    """Train the methods in `APART` on the demo's questions and return their values and times."""
    announcer.told = True  # the main process tells of compilation, and its bar of the rest
    with progress_to(False):
        train, test = _problems(n_train), question_problems(questions(n_test, random_state=TEST_SEED))
        return {name: _learned(RIVALS[name], train, test)[1] for name in APART}


def _problems(n_train: int) -> Problems:
    """Return the training questions as problems."""
    return question_problems(questions(n_train, random_state=TRAIN_SEED))


def _learned(method: Any, train: Problems, test: Problems) -> tuple[Any, Learned]:
    """Return the fitted method, and the value of its lists at each length."""
    # Methods see test problems without rewards unless they are oracles.
    model, started = clone(method), perf_counter()
    model.fit(train)
    seconds = perf_counter() - started
    hidden = test if getattr(model, "needs_reward", False) else test.without_reward()
    gains = measured(model.predict(hidden, length=LENGTHS[-1]), test).picked_gains
    assert gains is not None
    return model, Learned(np.cumsum(gains, axis=1).T, seconds)


def _records(learned: Mapping[str, Learned], n_train: int) -> list[Record]:
    """Return one record per method and length, with intervals over questions."""
    return [
        record("demo", name, n_train=n_train, length=length, metric="value", values=cases, bounds=SHARES)
        for name in METHODS
        if name in learned
        for length, cases in zip(LENGTHS, learned[name].values, strict=True)
    ]


def _milliseconds(model: SCP, problems: Problems) -> float:
    """Return the median time of one list in milliseconds, one question at a time."""
    times = []
    for one in list(problems[:TIMED]):
        started = perf_counter()
        model.predict(one)
        times.append(perf_counter() - started)
    return 1000 * float(np.median(times))


def _side_by_side(asked: Sequence[Question], lists: Mapping[str, Sequence[Ints]]) -> list[SideBySide]:
    """Return the lists of several methods for the first questions that need as many passages as a list holds."""
    # Questions come in the order in which they were drawn, so that none are picked by hand; all after the first are
    # folded.
    chosen = [index for index, one in enumerate(asked) if len(one.steps) == SHOWN][: MORE + 1]
    return [
        SideBySide(
            asked[index].text,
            f"Needed: {', then '.join(label for label, _ in asked[index].steps)}.",
            [_picked(asked[index], method, rows[index]) for method, rows in lists.items()],
            folded=place > 0,
        )
        for place, index in enumerate(chosen)
    ]


def _picked(asked: Question, method: str, items: Ints) -> PickedList:
    """Return a list in words: which step each passage adds or repeats, and how many steps the whole list covers."""
    told: set[int] = set()
    picks = []
    for item in items.tolist():
        passage = asked.passages[item]
        picks.append(_pick(asked, passage, told))
        told |= set() if passage.step is None else {passage.step}
    return PickedList(method, picks, f"tells {len(told)} of {len(asked.steps)}")


def _pick(asked: Question, passage: Passage, told: set[int]) -> Pick:
    """Return one passage in words, given the steps that the passages before it have covered."""
    if passage.step is None:
        return Pick(passage.title, passage.text, "not needed", "nothing")
    label, name = asked.steps[passage.step]
    if passage.step in told:
        return Pick(passage.title, passage.text, f"repeats the {label}", "repeat")
    return Pick(passage.title, passage.text, f"{label}: {name}", "new")
