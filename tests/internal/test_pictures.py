"""Charts as they are drawn: what their axes and labels say."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.baselines import StaticList, TopK
from listwright.errors import InputError
from listwright.guarantees import HeldOutCertificate, certify

pytest.importorskip("altair")


def drawn(chart: Any) -> str:
    return pytest.importorskip("vl_convert").vegalite_to_svg(chart.to_dict())


def texts(chart: Any) -> list[str]:
    """All texts of a chart."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawn(chart))


def numbers(chart: Any) -> list[float]:
    written = [text.replace("\N{MINUS SIGN}", "-").replace(",", "") for text in texts(chart)]
    return [float(text) for text in written if re.fullmatch(r"-?[\d.]+", text)]


def problems(n: int = 60, seed: int = 0, scale: float = 1.0) -> lw.Problems:
    x = np.random.default_rng(seed).random((n, 6, 2))
    return lw.Problems.from_arrays(x, sizes=np.full((n, 6), 2.0), reward=lw.rewards.Total(scale * x[..., 0]))


@pytest.mark.parametrize("n_passes", [1, 2, 10])
def test_rounds_are_whole_numbers(n_passes: int) -> None:
    model = lw.SCP(2, effort="fast", n_passes=n_passes, batch_size=60, random_state=0).fit(problems())
    horizontal = re.search(r"X-axis titled 'round'(.*?)Y-axis", drawn(model.plot("history")), re.DOTALL)
    assert horizontal is not None
    ticks = re.findall(r">([\d.]+)</text>", horizontal[1])
    assert ticks
    assert len(set(map(int, ticks))) == len(ticks)  # no round 1.5, and none twice


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_rounding_in_sums_is_no_difference(scale: float) -> None:
    model = lw.SCP(6, effort="fast", random_state=0)
    with pytest.warns(lw.errors.DataWarning, match="nothing to choose"):
        model.fit(problems(scale=scale))
    assert numbers(model.plot()) == [0.0]
    assert "-0.000" not in str(model.measured_) + model.measured_._repr_html_()
    assert numbers(model.plot("importance", problems(seed=1, scale=scale))) == [0.0]


@pytest.mark.parametrize("seed", range(4))
def test_how_far_lists_are_ahead_is_drawn_from_zero(seed: int) -> None:
    chart = lw.SCP(2, effort="fast", random_state=0).fit(problems(40, seed, scale=100.0)).plot()
    assert 0.0 in numbers(chart)
    assert any("sorting" in text for text in texts(chart))


def test_each_position_has_bars_of_its_own() -> None:
    model = lw.ConSeqOpt(3, random_state=0).fit(problems())
    bars = model.plot("weights").to_dict()["data"]["values"]
    names = [bar["feature"] for bar in bars]
    assert len(set(names)) == len(names)
    assert {"feature 0, position 1", "feature 0, position 3"} <= set(names)


def test_all_bounds_of_a_certificate_are_drawn() -> None:
    certificate = HeldOutCertificate(
        0.5, 0.8, {"top_k": -0.1, "mmr": 0.2}, n=90, delta=0.05, mean=0.6, share_of_best=0.7
    )
    rows = certificate.plot().to_dict()["data"]["values"]
    assert [row["low"] for row in rows] == [0.5, 0.8, 0.7, -0.1, 0.2]
    assert [row["mean"] for row in rows] == [0.6, None, None, None, None]  # a bound is no value seen
    assert "ahead of sorting by predicted value" in texts(certificate.plot())


def test_the_bound_of_a_run_is_drawn_where_there_is_one() -> None:
    run: dict[str, Any] = {"rounds": 20_000, "loss": 1000.0, "value": 14_000.0, "length": 3}
    for passes, low in ((1, 0.691), (2, None)):
        (row,) = certify(**run, passes=passes).plot().to_dict()["data"]["values"]
        assert row["mean"] == pytest.approx(0.7)
        assert row["low"] == (None if low is None else pytest.approx(low, abs=1e-3))
    model = lw.SCP(2, effort="fast", random_state=0).fit(problems())
    assert "value of lists" in texts(model.online_certificate().plot())


def test_a_list_that_is_empty_or_not_there_says_so() -> None:
    model = lw.SCP(budget=4, effort="fast", random_state=0).fit(problems())
    lists = model.predict(problems(seed=1), budget=1)
    with pytest.raises(InputError, match=r"List 3 \(problem 3\) is empty"):
        lists.plot(3)
    lists = model.predict(problems(seed=1))
    with pytest.raises(IndexError, match=r"There are 60 lists\. Got index 99"):
        lists.plot(99)
    assert json.dumps(lists.plot(-1).to_dict()).count("problem 59") == 1


def test_long_names_of_methods_are_not_cut() -> None:
    name = "sorted by what a ridge predicts of the gain"
    compared = lw.compare({name: TopK(), "static": StaticList()}, problems(), lengths=[1, 3], folds=2)
    assert name in texts(compared.plot())
