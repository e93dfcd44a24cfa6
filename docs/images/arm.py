"""The robot arm on the page Gallery: `PYTHONPATH=. python docs/images/arm.py` writes arm.png here.

Three test environments of the simulated arm, in which the first, the second and the third try of a list works, from
two sides. Grey: the ways of the hand for the thirty starting trajectories. Numbered: those tried, after the planner has
bent them around obstacles; red ones still collide, the green one is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import numpy as np

import listwright as lw
from benchmarks.paper.chomp import Trajectories, body, load
from listwright._internal.arrays import Floats, Floats32
from listwright.evaluation.values import measure_lists
from listwright.report.charts import as_png, as_svg, specification
from listwright.simulate import trajectory

HERE = Path(__file__).parent
TRIES = (0, 1, 2)  # lists whose first, second, third try works
TIP = slice(-2, None)  # the two last body spheres: the finger tips
CORNERS = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
KINDS = {"free": "#1f9e77", "collides": "#d4465c", "not tried": "#8b929c", "obstacle": "#b9a27c"}
WIDTH = 240  # pixels


class View(NamedTuple):
    """A direction to look from."""

    title: str  # shown above the picture
    right: int  # the coordinates (0 is x, 1 is y, 2 is z) that are drawn to the right and upwards
    up: int
    low: tuple[float, float]  # corners of the part of the room that is seen, in metres
    high: tuple[float, float]


FRONT = View("seen from the shoulder", 1, 2, (-0.85, -0.75), (0.85, 1.05))
TOP = View("seen from above", 1, 0, (-0.85, 0.05), (0.85, 1.1))


def environment_chart(data: Trajectories, index: int, picked: Sequence[int]) -> Any:
    """Draw one environment from two sides: the way of the hand for every seed, and for the tried ones."""
    tried = tried_seeds(data, index, picked)
    return alt.vconcat(*(_view(data, index, tried, view) for view in (FRONT, TOP)), spacing=8)


def tried_seeds(data: Trajectories, index: int, picked: Sequence[int]) -> list[int]:
    """Return the picked seeds up to the first that succeeds, or all of them."""
    tried: list[int] = []
    for seed in picked:
        tried.append(int(seed))
        if data.success[index, seed]:
            break
    return tried


def _view(data: Trajectories, index: int, tried: Sequence[int], view: View) -> Any:
    """Draw one environment from one side: obstacles, seeds, optimised paths with their numbers, and both ends."""
    height = round(WIDTH * (view.high[1] - view.low[1]) / (view.high[0] - view.low[0]))
    optimised = {seed: _way(data.optimise(index, seed), view) for seed in tried}
    outcome = ["free" if works else "collides" for works in data.success[index]]
    seeds = [(_way(seed, view), "not tried") for seed in data.seeds]
    results = [(way, outcome[seed]) for seed, way in optimised.items()]
    layers = [
        _lines(
            [(outline(obstacle, view), "obstacle") for obstacle in data.environment(index)],
            view,
            filled=True,
            opacity=0.45,
        ),
        _lines(seeds, view, strokeWidth=0.6, opacity=0.45),
        _lines(results, view, strokeWidth=2.2),
        *_numbers([(_spot(way, order), outcome[seed]) for order, (seed, way) in enumerate(optimised.items())], view),
        _ends(data, view),
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=height, title=view.title)


def _way(path: Floats | Floats32, view: View) -> Floats:
    """Return where the finger tips go along a path, shape (waypoints, 2), in the coordinates of the view."""
    tips = body(path)[:, TIP, :3].mean(axis=1)
    return tips[:, [view.right, view.up]]


def _spot(way: Floats, order: int) -> Floats:
    """Return the point of a path at which its number stands; neighbouring tries get different points."""
    return way[len(way) // 2 + 2 * (order % 3 - 1)]


def _lines(lines: Sequence[tuple[Floats, str]], view: View, **mark: Any) -> Any:
    rows = [
        {"x": round(float(x), 3), "y": round(float(y), 3), "line": line, "step": step, "kind": kind}
        for line, (points, kind) in enumerate(lines)
        for step, (x, y) in enumerate(points)
    ]
    drawn = alt.Chart(alt.Data(values=rows)).mark_line(clip=True, **mark)
    return drawn.encode(**_at(view), color=_colour(), detail="line:N", order="step:Q")


def _numbers(spots: Sequence[tuple[Floats, str]], view: View) -> list[Any]:
    """Draw a dot with the number of the try on each optimised path."""
    rows = [
        {"x": float(x), "y": float(y), "try": str(order + 1), "kind": kind}
        for order, ((x, y), kind) in enumerate(spots)
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(**_at(view))
    dots = base.mark_point(size=170, filled=True, opacity=1).encode(color=_colour())
    return [dots, base.mark_text(color="#ffffff", fontSize=10, fontWeight="bold").encode(text="try:N")]


def _colour() -> Any:
    return alt.Color("kind:N", legend=None, scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())))


def outline(obstacle: Floats32, view: View) -> Floats:
    """Return the border of an obstacle as the view shows it, shape (points, 2)."""
    centre, half, (cosine, sine), radius = obstacle[:3], obstacle[3:6], obstacle[6:8], obstacle[8]
    if radius > 0:
        angle = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
        return centre[[view.right, view.up]] + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    floor = CORNERS * half[:2] @ np.array([[cosine, sine], [-sine, cosine]])
    if view.up == 2:
        reach = np.array([np.abs(floor[:, view.right]).max(), half[2]])
        return np.asarray(centre[[view.right, 2]] + CORNERS * reach, dtype=np.float64)
    return np.asarray(centre[[view.right, view.up]] + floor[:, [view.right, view.up]], dtype=np.float64)


def _ends(data: Trajectories, view: View) -> Any:
    """Draw labels where the hand starts and where it is to go; both are the same for every seed."""
    way = _way(data.seeds[0], view)
    rows = [{"x": float(x), "y": float(y), "end": end} for end, (x, y) in (("start", way[0]), ("goal", way[-1]))]
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_text(fontSize=11, dy=-9, style="annotation")
        .encode(**_at(view), text="end:N")
    )


def _at(view: View) -> dict[str, Any]:
    """Return the position channels: both coordinates in metres, without axes."""
    sides = zip((alt.X, alt.Y), ("x", "y"), view.low, view.high, strict=True)
    return {
        name: channel(f"{name}:Q", axis=None, scale=alt.Scale(domain=[low, high], nice=False, zero=False))
        for channel, name, low, high in sides
    }


def arm() -> Any:
    """Three environments side by side."""
    train, test = trajectory.problems()
    lists = lw.SCP(8, effort="fast", random_state=0).fit(train).predict(test)
    gains = measure_lists(lists, test).picked_gains
    assert gains is not None
    works = np.where(gains.any(axis=1), gains.argmax(axis=1), -1)
    data = load()
    charts = []
    for place in TRIES:
        index = int(np.flatnonzero(works == place)[0])
        chart = environment_chart(data, len(train) + index, lists[index].tolist())
        charts.append(chart.properties(title=f"try {place + 1} works"))
    return alt.hconcat(*charts)


if __name__ == "__main__":
    (HERE / "arm.png").write_bytes(as_png(as_svg(specification(arm())), scale=0.9))
