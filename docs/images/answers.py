"""Pictures for the pages of questions: `python docs/images/answers.py` writes four beside this file.

`python docs/images/answers.py efforts` draws one of them: sorting, diversity, data or efforts.

Each picture answers one question with a figure, on made-up problems whose true answers are known: questions that need
several passages (`listwright.simulate.questions`), readers who want one of several kinds of article, and the robot arm
of the paper (`listwright.simulate.trajectory`).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

import listwright as lw
from listwright.report.charts import PALETTE, chart_config
from listwright.simulate import trajectory
from listwright.simulate.questions import question_problems, questions

HERE = Path(__file__).parent
LENGTH, DIVERSITIES = 4, tuple(np.linspace(0.0, 0.9, 10).round(1).tolist())
SIZES = (10, 20, 40, 80, 160, 310)
KINDS = (1, 2, 3, 4, 6)
REPEATS = 5
Records = list[dict[str, Any]]


def passages() -> tuple[lw.Problems, lw.Problems]:
    """Questions to learn from, and others to measure on."""
    problems = question_problems(questions(520, random_state=0))
    return problems[:320], problems[320:]


def readers(kinds: int, seed: int) -> tuple[lw.Problems, lw.Problems]:
    """300 readers to learn from and 300 others: each wants one kind of article, and nobody knows which."""
    rng = np.random.default_rng(seed)
    kind, quality = rng.integers(kinds, size=(600, 24)), rng.random((600, 24))
    clicked = (kind == rng.integers(kinds, size=(600, 1))) & (quality > 0.8)
    features = np.concatenate([np.eye(kinds)[kind], quality[..., None]], axis=2)
    problems = lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(clicked))
    return problems[:300], problems[300:]


def sorting() -> Records:
    """What seeing the list brings, by how many kinds of articles there are: nothing where all are of one kind."""
    records = []
    for kinds in KINDS:
        for seed in range(REPEATS):
            past, new = readers(kinds, seed)
            policies = {
                "learned list": lw.SCP(3, effort="fast", random_state=0),
                "sorted by predicted clicks": lw.baselines.TopK("ridge", 3),
            }
            records += [
                {"method": name, "kinds": kinds, "value": policy.fit(past).score(new)}
                for name, policy in policies.items()
            ]
    return records


def diversity() -> Records:
    """MMR with every diversity beside one learned policy: where likeness is all that counts, and where it is not."""
    records: Records = []
    for data, length, (past, new) in (
        ("articles of three kinds", 3, readers(3, 0)),
        ("passages that lead on", LENGTH, passages()),
    ):
        scp = lw.SCP(length, effort="fast", random_state=0).fit(past).score(new)
        for amount in DIVERSITIES:
            value = lw.baselines.MMR(amount, "ridge", length).fit(past).score(new)
            records += [
                {"data": data, "method": "MMR on predictions", "diversity": amount, "value": value},
                {"data": data, "method": "learned list", "diversity": amount, "value": scp},
            ]
    return records


def data() -> Records:
    """The paper's robot arm: trajectories that succeed, by how many environments were learned from."""
    past, new = trajectory.problems()
    records = []
    for size in SIZES:
        for seed in range(REPEATS):
            some = past[np.sort(np.random.default_rng(seed).permutation(len(past))[:size])]
            policies = {
                "learned list": lw.SCP(3, effort="fast", random_state=0),
                "sorted by predicted success": lw.baselines.TopK("ridge", 3),
                "the best fixed list": lw.baselines.StaticList(3),
            }
            records += [
                {"method": name, "environments": size, "value": policy.fit(some).score(new)}
                for name, policy in policies.items()
            ]
    return records


def efforts() -> Records:
    """Processor time of fit by effort, and what the lists are worth."""
    records = []
    for data, length, (past, new) in (
        ("articles of three kinds", 3, readers(3, 0)),
        ("passages that lead on", LENGTH, passages()),
        ("trajectories of a robot arm", 3, trajectory.problems()),
    ):
        lw.SCP(length, effort="fast", random_state=0).fit(past[:40])  # so that nothing is compiled within the time
        for effort in ("fast", "auto"):
            start = time.process_time()
            model = lw.SCP(length, effort=effort, random_state=0).fit(past)
            seconds = time.process_time() - start
            records.append({"data": data, "effort": effort, "seconds": seconds, "value": model.score(new)})
    return records


def lines(records: Records, x: alt.X, title: str) -> alt.Chart:
    """Mean value by x, one line per method."""
    encoded = alt.Chart(alt.Data(values=records)).encode(
        x=x,
        y=alt.Y("mean(value):Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(format="%", tickCount=5)),
        color=alt.Color("method:N", title=None, sort=["learned list"], legend=alt.Legend(orient="bottom")),
    )
    return encoded.mark_line(point=True).properties(width=420, height=220)


def _ordered(field: str, title: str) -> alt.X:
    """An axis of a few sizes, with level labels."""
    return alt.X(field, title=title, axis=alt.Axis(labelAngle=0))


def panels(records: Records) -> alt.Chart:
    """One panel per data set, each with its own scale."""
    x = alt.X("diversity:Q", title="diversity of MMR")
    parts = [
        lines([record for record in records if record["data"] == data], x, "value of lists").properties(
            title=data, width=230
        )
        for data in dict.fromkeys(record["data"] for record in records)
    ]
    return alt.hconcat(*parts)


def bars(records: Records) -> alt.Chart:
    """Value by effort and data, with the processor time of fit written at the bars."""
    label = [record | {"label": f"{100 * record['value']:.1f} % after {record['seconds']:.2g} s"} for record in records]
    base = alt.Chart(alt.Data(values=label)).encode(
        x=alt.X(
            "value:Q",
            title="value of lists",
            axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
            scale=alt.Scale(domain=[0, 1.3]),
        ),
        y=alt.Y("effort:N", title=None, sort=["fast", "auto"]),
    )
    both = base.mark_bar(size=18, color=PALETTE[0]) + base.mark_text(align="left", dx=4).encode(text="label:N")
    return both.properties(width=420, height=80).facet(
        row=alt.Row("data:N", title=None, header=alt.Header(labelOrient="top"))
    )


def save(name: str, chart: alt.Chart) -> None:
    """The picture, in the style of reports."""
    chart.configure(**chart_config()).save(str(HERE / name), scale_factor=1.5)


PICTURES: dict[str, tuple[Callable[[], Records], Callable[[Records], alt.Chart]]] = {
    "sorting": (sorting, lambda records: lines(records, _ordered("kinds:O", "kinds of articles"), "readers who click")),
    "diversity": (diversity, panels),
    "data": (
        data,
        lambda records: lines(records, _ordered("environments:O", "training environments"), "lists of 3 that succeed"),
    ),
    "efforts": (efforts, bars),
}


if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        measure, draw = PICTURES[name]
        records = measure()
        print(name, *records, sep="\n", flush=True)
        save(f"{name}.png", draw(records))
