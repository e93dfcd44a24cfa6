"""What `listwright demo` shows: passages for made-up questions, where what a passage adds depends on those before it.

Questions, sizes, seeds and settings are fixed here and were chosen on questions of other seeds; the tuned rivals choose
their parameter by cross-validation on the training questions.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from listwright._internal.arrays import Floats, Ints
from listwright._internal.progress import heard_by
from listwright.baselines import DPP, MMR, Oracle, TopK
from listwright.estimators.conseqopt import ConSeqOpt
from listwright.estimators.scp import SCP
from listwright.evaluation import compare
from listwright.evaluation.intervals import SHARES
from listwright.evaluation.values import measured
from listwright.lab.experiments.methods import Tuned
from listwright.lab.experiments.parallel import Tick, quiet, repeat
from listwright.lab.experiments.records import Record, record
from listwright.lab.report import Pick, PickedList, SideBySide
from listwright.lab.simulate.questions import Passage, Question, question_problems, questions
from listwright.problems import Problems

N_TRAIN, N_TEST = 60, 200
TRAIN_SEED, TEST_SEED = 2013, 2014
LENGTHS = (1, 2, 3, 4, 5, 6)
SHOWN = 4  # passages in the lists that are shown: what the longest questions need
MORE = 10  # questions to click through
TIMED = 50  # lists that are timed one by one

SORTED, TUNED, LEARNED, BEST = "sorted by relevance", "MMR, tuned", "SCP", 'SCP, effort="best"'
RIVALS: dict[str, Any] = {
    SORTED: TopK("ridge"),
    "boosted trees, sorted": TopK("boosting"),
    TUNED: Tuned({f"{one:g}": MMR(one, relevance="ridge") for one in (0.1, 0.2, 0.3, 0.5, 0.7)}, length=SHOWN),
    "DPP, tuned": Tuned({f"{one:g}": DPP(one, relevance="ridge") for one in (1, 2, 4, 8, 16)}, length=SHOWN),
    "ConSeqOpt": ConSeqOpt(weighting="uniform"),
}
METHODS = (*RIVALS, LEARNED, BEST, "oracle")


@dataclass(frozen=True)
class Demo:
    """What was found.

    Attributes
    ----------
    n_train, n_test : int
        How many questions were learned from and tested on.
    records : list of Record
        Value of each method at each length.
    problems : list of SideBySide
        Lists of three methods for one question, and for ten more.
    seconds : dict of str to float
        How long it took to learn, by method.
    milliseconds : float
        How long one list takes, one at a time.
    certificate : str
        What is certain of the learned lists, or nothing.
    """

    n_train: int
    n_test: int
    records: list[Record]
    problems: list[SideBySide]
    seconds: Mapping[str, float]
    milliseconds: float
    certificate: str = ""


def run(*, n_train: int = N_TRAIN, n_test: int = N_TEST, effort: bool = True, tick: Tick = quiet) -> Demo:
    """Learns from some questions, and measures all methods on others. Without `effort`, the slowest is left out."""
    train, asked = questions(n_train, random_state=TRAIN_SEED), questions(n_test, random_state=TEST_SEED)
    problems = question_problems(train), question_problems(asked)
    work = [_with_best, _with_the_rest] if effort else [_with_the_rest]
    found = repeat(_call, [(one, *problems) for one in work], jobs=min(len(work), os.cpu_count() or 1), tick=tick)
    values = {name: by_length for part in found for name, by_length in part.values.items()}
    last = found[-1]
    return Demo(
        n_train,
        n_test,
        [
            record("demo", name, n_train=n_train, length=length, metric="value", values=cases, bounds=SHARES)
            for name in METHODS
            if name in values
            for length, cases in zip(LENGTHS, values[name], strict=True)
        ],
        _side_by_side(asked, last.lists),
        {name: seconds for part in found for name, seconds in part.seconds.items()},
        last.milliseconds,
        last.certificate,
    )


@dataclass(frozen=True)
class _Found:
    """What one process worked out."""

    values: dict[str, Floats]  # by method: (lengths, questions)
    seconds: dict[str, float]
    lists: Mapping[str, Sequence[Ints]]
    milliseconds: float = 0.0
    certificate: str = ""


def _call(work: Any, train: Problems, test: Problems) -> _Found:
    return work(train, test)


def _with_best(train: Problems, test: Problems) -> _Found:
    """The slowest method by itself; the bar of the main process tells enough of its progress."""
    with heard_by(lambda what: None):
        model, seconds = _fitted(SCP(LENGTHS[-1], effort="best", random_state=0), train)
    gains = measured(model.predict(test.without_reward()), test).picked_gains
    assert gains is not None
    return _Found({BEST: np.cumsum(gains, axis=1).T}, {BEST: seconds}, {})


def _with_the_rest(train: Problems, test: Problems) -> _Found:
    """All others, the lists to show, and what is certain of them."""
    rivals = compare(RIVALS | {"oracle": Oracle()}, train, test=test, lengths=LENGTHS)
    own = compare({LEARNED: SCP(effort="fast")}, train, test=test, lengths=LENGTHS, refit_lengths=True)
    values = {
        name: by_length
        for part in (rivals, own)
        for name, by_length in zip(part.methods, part.values["value"].reshape(-1, len(LENGTHS), len(test)), strict=True)
    }
    shown = {name: clone(RIVALS[name]).set_params(length=SHOWN).fit(train) for name in (SORTED, TUNED)}
    model, seconds = _fitted(SCP(SHOWN, effort="fast", random_state=0), train)
    hidden = test.without_reward()
    titles = {SORTED: SORTED, TUNED: f"MMR, best lambda {1 - float(shown[TUNED].name_):g}", LEARNED: "learned by SCP"}
    lists = {titles[name]: list(one.predict(hidden, length=SHOWN)) for name, one in (shown | {LEARNED: model}).items()}
    certificate = model.certify(test, rivals={"sorting by relevance": shown[SORTED], "MMR": shown[TUNED]})
    return _Found(values, {LEARNED: seconds}, lists, _milliseconds(model, hidden), str(certificate))


def _fitted(model: SCP, train: Problems) -> tuple[SCP, float]:
    """The model, and the seconds that it took to learn."""
    started = perf_counter()
    return model.fit(train), perf_counter() - started


def _milliseconds(model: SCP, problems: Problems) -> float:
    """Median time of one list, one question at a time."""
    times = []
    for one in list(problems[:TIMED]):
        started = perf_counter()
        model.predict(one)
        times.append(perf_counter() - started)
    return 1000 * float(np.median(times))


def _side_by_side(asked: Sequence[Question], lists: Mapping[str, Sequence[Ints]]) -> list[SideBySide]:
    """The first questions that take as many passages as a list holds, in the order in which they were drawn."""
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
    """A list in words: which step each passage adds, or repeats."""
    told: set[int] = set()
    picks = []
    for item in items.tolist():
        passage = asked.passages[item]
        picks.append(_pick(asked, passage, told))
        told |= set() if passage.step is None else {passage.step}
    return PickedList(method, picks, f"tells {len(told)} of {len(asked.steps)}")


def _pick(asked: Question, passage: Passage, told: set[int]) -> Pick:
    if passage.step is None:
        return Pick(passage.title, passage.text, "not needed", "nothing")
    label, name = asked.steps[passage.step]
    if passage.step in told:
        return Pick(passage.title, passage.text, f"repeats the {label}", "repeat")
    return Pick(passage.title, passage.text, f"{label}: {name}", "new")
