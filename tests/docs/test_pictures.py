"""The drawing of the robot arm, which is on the page Gallery, and the screen of the demo on the front page."""

from __future__ import annotations

import html
import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from listwright.experiments import demo
from listwright.report.charts import specification

pytest.importorskip("altair")
IMAGES = Path(__file__).parents[2] / "docs" / "images"


@pytest.fixture
def arm(benchmarks):
    return runpy.run_path(str(IMAGES / "arm.py"), run_name="arm")


def test_outlines_are_what_the_views_show(arm):
    turned = np.array([0.5, 0.1, 0.2, 0.1, 0.3, 0.05, 0.0, 1.0, 0.0], np.float32)  # a box, turned by a right angle
    assert np.allclose(np.abs(arm["outline"](turned, arm["TOP"]) - [0.1, 0.5]).max(axis=0), [0.1, 0.3])
    assert np.allclose(np.abs(arm["outline"](turned, arm["FRONT"]) - [0.1, 0.2]).max(axis=0), [0.1, 0.05])
    ball = np.array([0.5, 0.1, 0.2, 0, 0, 0, 1.0, 0.0, 0.25], np.float32)
    assert np.allclose(np.linalg.norm(arm["outline"](ball, arm["FRONT"]) - [0.1, 0.2], axis=1), 0.25)


def test_picture_numbers_the_tries_up_to_the_first_that_works(arm):
    data = arm["load"]()
    bad, good = np.flatnonzero(~data.success[0])[:2], np.flatnonzero(data.success[0])[:2]
    assert arm["tried_seeds"](data, 0, [*bad, *good]) == [*bad, good[0]]
    text = json.dumps(specification(arm["environment_chart"](data, 0, [*bad, *good])))
    assert all(f'"try": "{number}"' in text for number in (1, 2, 3))
    assert '"try": "4"' not in text
    assert all(f'"kind": "{kind}"' in text for kind in ("free", "collides", "obstacle", "not tried"))


def screen() -> str:
    text = html.unescape((IMAGES / "demo.svg").read_text(encoding="utf8")).replace("\xa0", " ")
    return " ".join(" ".join(re.findall(r">([^<]+)</text>", text)).split())


def test_the_screen_of_the_demo_has_its_methods_and_words():
    words = screen()
    assert [name for name in demo.LOOKS if name not in words and name != "oracle"] == []
    assert demo.IN_SHORT in words, "out of date: python docs/images/demo.py"


@pytest.mark.parametrize("name", ["README.md", "docs/index.md"])
def test_the_front_page_has_the_lists_and_figures_of_the_demo(name):
    page, words = (IMAGES.parents[1] / name).read_text(encoding="utf8"), screen()
    at_four = {
        method: float(re.search(rf"{method}(?: [\d.]+){{3}} ([\d.]+)", words)[1])
        for method in (demo.SORTED, demo.TUNED, demo.LEARNED)
    }
    shown = re.search(r"four passages hold (\d+) % .*? sorted, (\d+) % with tuned MMR, and\s+(\d+) % as learned", page)
    assert [int(figure) for figure in shown.groups()] == [round(share) for share in at_four.values()]
    rows = re.findall(r"^\| (\d [^|]+) \| (\d [^|]+) \| (\d [^|]+) \|$", page, re.MULTILINE)
    assert len(rows) == 4
    places = [re.sub(r"<s>|:.*", "", cell) for row in rows for cell in row]  # "1 Monnorana Works"
    assert re.findall(r"(?<= )[1-4] [A-Z]\w+ [A-Z]\w+", words[: words.index("holds")]) == places
