"""One online cost-sensitive pass over 300 states x 30 candidates x 50 features."""

from __future__ import annotations

from typing import Any

import numpy as np
from vowpalwabbit import Workspace

from benchmarks.speed.timing import Record, compare, must
from listwright.features import Rows
from listwright.learners import GradientDescent
from listwright.learners.examples import Examples

STATES, ROWS, D = 300, 30, 50
SLACK = 0.002  # of the mean cost of all candidates: the two differ in their steps, and both are left at their defaults


def data() -> tuple[Any, Any]:
    """Features, and costs that are linear in them but for noise."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(STATES, ROWS, D)).astype(np.float32)
    gains = table @ rng.normal(size=D) / np.sqrt(D) + 0.1 * rng.normal(size=(STATES, ROWS))
    return table, gains.max(axis=1, keepdims=True) - gains


def lines(table: Any, costs: Any) -> list[str]:
    """One multi-line text a state."""
    values = lambda row: " ".join(f"{j}:{x:.5f}" for j, x in enumerate(row))  # noqa: E731
    line = lambda i, s: f"{i + 1}:{costs[s, i]:.5f} | {values(table[s, i])}"  # noqa: E731
    return ["\n".join(line(i, s) for i in range(ROWS)) for s in range(STATES)]


def examples(table: Any, costs: Any) -> Examples:
    """The same as ours takes it, with a column of ones: VW adds a constant by itself."""
    n = STATES * ROWS
    table = np.concatenate([table.reshape(n, D), np.ones((n, 1), np.float32)], axis=1)
    rows = Rows(table, np.repeat(np.arange(STATES), ROWS), np.arange(STATES + 1) * ROWS)
    every = np.ones(n, dtype=bool)
    return Examples(rows, -costs.reshape(n), 1.0, 0, every, np.full(STATES, -1), np.ones(STATES, dtype=bool))


def mean_cost(scores: Any, costs: Any) -> float:
    """Cost of the best-scored candidate."""
    return float(np.take_along_axis(costs, scores.argmax(axis=1)[:, None], axis=1).mean())


def records() -> list[Record]:
    """Squared loss and pairs; parsed examples, and text."""
    table, costs = data()
    given, text = examples(table, costs), lines(table, costs)
    found = []
    for work, loss, option, both in (
        ("squared", "squared", "csoaa_ldf", True),
        ("pairwise", "hinge_rank", "wap_ldf", False),
    ):
        vw = Workspace(f"--{option} m --quiet")
        parsed = [vw.parse(one.split("\n")) for one in text]
        ours = lambda loss=loss: GradientDescent(loss).learn_each(given)  # noqa: E731
        for one in parsed:
            vw.learn(one)
        theirs_cost = np.mean([costs[s, vw.predict(one) - 1] for s, one in enumerate(parsed)])
        mine = mean_cost(table @ ours().weights[:D], costs)
        note = f"mean cost after a pass: ours {mine:.4f}, VW {theirs_cost:.4f}, of any candidate {costs.mean():.2f}"
        must(mine <= theirs_cost + SLACK * costs.mean(), note)
        kinds = [("parsed", 8 if both else 40, lambda vw=vw, parsed=parsed: [vw.learn(one) for one in parsed])]
        if both:
            kinds.append(("text", 40, lambda vw=vw: [vw.learn(one) for one in text]))
        title = f"one online cost-sensitive pass, 300 x 30 x 50, {work}"
        found += [
            compare(title, f"VW {option}, {kind}", ours=ours, theirs=theirs, at_least=least, note=note)
            for kind, least, theirs in kinds
        ]
        vw.finish()
    return found
