"""What `listwright demo` runs: choosing passages for made-up questions. Settings were chosen on other seeds."""

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
from listwright.evaluation.values import measure_lists
from listwright.experiments.records import (
    Record,
    Tuned,
    mean_of,
    methods_of,
    ours,
    per_cent,
    point,
    point_table,
    record,
)
from listwright.problems import Problems
from listwright.report import Figure, Note, PickedItem, PickedList, ReportPage, ReportTable, Section, SideBySide
from listwright.report.charts import PALETTE, Axis, LineStyle, curves, script
from listwright.simulate.questions import SimulatedPassage, SimulatedQuestion, question_problems, questions

N_TRAIN, N_TEST = 24, 200
TRAIN_SEED, TEST_SEED = 2013, 2014
SHOWN = 4  # the length that is learned for and shown: what the longest questions need
LENGTHS = (1, 2, 3, 4, 5, 6)
MORE = 10  # questions to click through
TIMED = 50  # lists that are timed one by one

SORTED, TUNED, LEARNED, AUTO = "sorted by relevance", "MMR, tuned", "SCP", 'SCP, effort="auto"'
DETERMINANTAL = "DPP, tuned"
RIVALS: dict[str, Any] = {
    SORTED: TopK("ridge", SHOWN),
    "boosted trees, sorted": TopK("boosting", SHOWN, random_state=0),
    TUNED: Tuned({f"{value:g}": MMR(value, relevance="ridge") for value in (0.1, 0.2, 0.3, 0.5, 0.7)}, length=SHOWN),
    DETERMINANTAL: Tuned({f"{value:g}": DPP(value, relevance="ridge") for value in (1, 2, 4, 8, 16)}, length=SHOWN),
    "ConSeqOpt": ConSeqOpt(SHOWN, weighting="uniform", random_state=0),
    LEARNED: SCP(SHOWN, effort="fast", random_state=0),
    AUTO: SCP(SHOWN, random_state=0),
    "oracle": Oracle(SHOWN),
}
METHODS = tuple(RIVALS)
APART = (AUTO, DETERMINANTAL)  # take as long as all others together, with compilation


@dataclass(frozen=True)
class Demo:
    n_train: int  # number of questions for training and testing
    n_test: int
    records: list[Record]  # value of each method at each length
    problems: list[SideBySide]  # lists of three methods for one question, and for ten more
    seconds: Mapping[str, float]  # training time by method
    milliseconds: float  # median time to build one list, one at a time
    certificate: str = ""  # what is guaranteed about the learned lists, in words; may be empty


class MethodRun(NamedTuple):
    values: Floats  # (lengths, questions)
    seconds: float  # training time


def run(
    *, n_train: int = N_TRAIN, n_test: int = N_TEST, apart: Callable[[], Mapping[str, MethodRun]] | None = None
) -> Demo:
    """Train all methods on some questions, and measure them on others."""
    asked = questions(n_test, random_state=TEST_SEED)
    train, test = _problems(n_train), question_problems(asked)
    models, learned = {}, {}
    for name in METHODS:
        if name not in APART:
            models[name], learned[name] = _fit_and_measure(RIVALS[name], train, test)
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
        {name: learned[name].seconds for name in (LEARNED, AUTO) if name in learned},
        milliseconds,
        str(certificate),
    )


def learn_apart(n_train: int = N_TRAIN, n_test: int = N_TEST) -> dict[str, MethodRun]:
    """Train the methods in `APART` on the demo's questions and return their values and times."""
    announcer.silent = True  # the main process announces compilation, and its bar shows the rest
    with progress_to(False):
        train, test = _problems(n_train), question_problems(questions(n_test, random_state=TEST_SEED))
        return {name: _fit_and_measure(RIVALS[name], train, test)[1] for name in APART}


def _problems(n_train: int) -> Problems:
    return question_problems(questions(n_train, random_state=TRAIN_SEED))


def _fit_and_measure(method: Any, train: Problems, test: Problems) -> tuple[Any, MethodRun]:
    # Methods see test problems without rewards unless they are oracles.
    model, started = clone(method), perf_counter()
    model.fit(train)
    seconds = perf_counter() - started
    hidden = test if getattr(model, "needs_reward", False) else test.without_reward()
    gains = measure_lists(model.predict(hidden, length=LENGTHS[-1]), test).picked_gains
    assert gains is not None
    return model, MethodRun(np.cumsum(gains, axis=1).T, seconds)


def _records(learned: Mapping[str, MethodRun], n_train: int) -> list[Record]:
    return [
        record("demo", name, n_train=n_train, length=length, metric="value", values=cases, bounds=SHARES)
        for name in METHODS
        if name in learned
        for length, cases in zip(LENGTHS, learned[name].values, strict=True)
    ]


def _milliseconds(model: SCP, problems: Problems) -> float:
    times = []
    for problem in list(problems[:TIMED]):
        started = perf_counter()
        model.predict(problem)
        times.append(perf_counter() - started)
    return 1000 * float(np.median(times))


def _side_by_side(asked: Sequence[SimulatedQuestion], lists: Mapping[str, Sequence[Ints]]) -> list[SideBySide]:
    """Return the lists of several methods for the first questions that need as many passages as a list holds."""
    # Questions come in the order in which they were drawn, so that none are picked by hand; all after the first are
    # folded.
    chosen = [index for index, question in enumerate(asked) if len(question.steps) == SHOWN][: MORE + 1]
    compared: list[SideBySide] = []
    for index in chosen:
        needed = f"Needed: {', then '.join(label for label, _ in asked[index].steps)}."
        shown = [_describe_list(asked[index], method, rows[index]) for method, rows in lists.items()]
        compared.append(SideBySide(asked[index].text, needed, shown, folded=bool(compared)))
    return compared


def _describe_list(asked: SimulatedQuestion, method: str, items: Ints) -> PickedList:
    """Return a list in words: which step each passage adds or repeats, and how many steps the whole list covers."""
    covered, picks = set[int](), []
    for item in items.tolist():
        passage = asked.passages[item]
        picks.append(_pick(asked, passage, covered))
        covered |= set() if passage.step is None else {passage.step}
    return PickedList(method, picks, f"holds {len(covered)} of {len(asked.steps)}")


def _pick(asked: SimulatedQuestion, passage: SimulatedPassage, covered: set[int]) -> PickedItem:
    if passage.step is None:
        return PickedItem(passage.title, passage.text, "not needed", "nothing")
    label, name = asked.steps[passage.step]
    if passage.step in covered:
        return PickedItem(passage.title, passage.text, f"repeats the {label}", "repeat")
    return PickedItem(passage.title, passage.text, f"{label}: {name}", "new")


TITLE = "listwright: lists that are relevant and not redundant"
RESULTS = "docs/results.md"
_BLUE, _ORANGE, _GREEN, _PURPLE, _RED, _GREY, *_ = PALETTE
_COLOURS = (_ORANGE, _ORANGE, _GREEN, _PURPLE, _RED, _BLUE, _BLUE, _GREY)
_DASHES = {"boosted trees, sorted": (2, 2), AUTO: (2, 2), "oracle": (5, 4)}
LOOKS = {name: LineStyle(colour, _DASHES.get(name, (1, 0))) for name, colour in zip(METHODS, _COLOURS, strict=True)}


def report(demo: Demo) -> ReportPage:
    first, *more = demo.problems
    where = Note(WHERE, "The results", RESULTS)
    measured = f"{demo.n_train} questions to learn from, and {demo.n_test} others to test on. {METHODS_TEXT}"
    sections = [
        Section("One question, three lists", ABOUT, [first]),
        Section("All questions", measured, [*_chart_and_table(demo.records), where]),
        *([Section("What is certain", demo.certificate)] if demo.certificate else []),
        Section("What it cost", cost(demo)),
        Section(f"{len(more)} more questions", "In the order in which they were drawn; click on one.", more),
    ]
    return ReportPage(TITLE, findings(demo), sections)


def findings(demo: Demo) -> str:
    """Return the main result as one paragraph: three methods at the length shown."""
    shares = {
        name: per_cent(point(demo.records, name, n_train=demo.n_train, length=SHOWN, metric="value")["mean"])
        for name in (SORTED, TUNED, LEARNED)
    }
    return (
        f"Lists of {SHOWN} passages for questions that take 3 or 4 of them: sorted by predicted relevance, they hold "
        f"{shares[SORTED]} % of what is needed; with maximal marginal relevance, tuned, {shares[TUNED]} %; learned, "
        f"{shares[LEARNED]} %. The data is made up, and was chosen because lists matter in it."
    )


def cost(demo: Demo) -> str:
    auto = f'; with effort="auto", {demo.seconds[AUTO]:.1f} s' if AUTO in demo.seconds else ""
    return (
        f"On this machine: learned from {demo.n_train} questions in {demo.seconds[LEARNED]:.1f} s{auto}. "
        f"A list takes {demo.milliseconds:.1f} ms."
    )


def value_table(records: Sequence[Record], *, caption: str = "") -> ReportTable:
    lengths = sorted({record["length"] for record in records})
    at: dict[str, Any] = {"n_train": records[0]["n_train"], "metric": "value"}
    columns = {str(length): at | {"length": length} for length in lengths}
    names, options = methods_of(records), {"caption": caption, "first": "passages in the list"}
    return point_table(records, names, columns, cell=mean_of, bold=ours(names), **options)


def widest(records: Sequence[Record]) -> float:
    bounds = [(record["low"], record["high"]) for record in records]
    return max(50 * (high - low) for low, high in bounds if high is not None and low is not None)


def _chart_and_table(records: Sequence[Record]) -> list[Any]:
    present = methods_of(records)
    chart = curves(
        records,
        x=Axis("length", "passages in the list"),
        y=Axis("mean", "share of what is needed", ".0%"),
        methods={name: look for name, look in LOOKS.items() if name in present},
    )
    return [Figure("demo", chart, CHART_CAPTION), value_table(records, caption="The same in per cent.")]


ABOUT = (
    "The question names only the first link of a chain; each passage names the next. Passages that say the same thing "
    "again, or belong to another chain, look just as relevant. So what a passage adds depends on the list so far. "
    "Three ways to list four passages: repeats are struck out. All names are invented."
)
METHODS_TEXT = (
    "All methods see the same seven features of a passage and the same training questions. Relevance is the predicted "
    "gain of a passage alone. MMR and DPP choose their parameter on the training questions. ConSeqOpt learns one "
    "policy for each position; SCP learns one policy for all. Both also see how a passage is linked to those in the "
    "list. The oracle knows what is needed."
)
WHERE = (
    "Lists matter here because passages depend on each other. Where an item is worth the same whatever else is in the "
    "list, sorting by a good prediction does as well; on most real data the gap is smaller than here."
)
IN_SHORT = (
    "The data is made up and was chosen because lists matter in it; docs/results.md says where they do not, on real "
    "data too."
)
CHART_CAPTION = (
    "Share of the needed facts that a list holds, with the 95 % interval over test questions. Point at a line for "
    "numbers; click a name to pick it out."
)
