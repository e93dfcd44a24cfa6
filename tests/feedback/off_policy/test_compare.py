"""Policies side by side: the right verdicts, paired intervals, and what it would take to tell."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.feedback import EvidenceWarning, compare, evaluate, safe_rollout
from tests.feedback.off_policy.logs import BEST, EVEN, best, even_log, first_two, worst


def test_verdicts() -> None:
    found = compare(even_log(2500), {"old": "logged", "best": best, "worst": worst, "any": first_two})
    assert {name: one.verdict for name, one in found.differences.items()} == {
        "best": "roll out",
        "worst": "do not roll out",
        "any": "cannot tell",
    }
    assert found.differences["best"].low < BEST - EVEN < found.differences["best"].high
    assert "Roll out best: against old it brings +0." in found.advice
    assert "Do not roll out worst" in found.advice
    assert "more lists would" in found.advice or "alike to within" in found.advice


def test_the_baseline_is_the_logged_policy_or_the_first_or_the_one_named() -> None:
    log = even_log(1200)
    assert compare(log, {"new": best, "old": "logged"}).baseline == "old"
    assert compare(log, {"one": best, "two": worst}).baseline == "one"
    found = compare(log, {"one": best, "two": worst}, baseline="two")
    assert (found.baseline, list(found.differences)) == ("two", ["one"])
    assert found.differences["one"].verdict == "roll out"


def test_a_policy_does_not_differ_from_itself_and_differences_are_paired() -> None:
    log = even_log(1200)
    same = compare(log, {"one": best, "two": best}).differences["two"]
    assert same.value == 0.0
    assert -0.1 < same.low < 0 < same.high < 0.1  # lists that were not logged may differ
    apart = compare(log, {"old": "logged", "new": best})
    alone = apart.estimates["new"]
    assert apart.differences["new"].high - apart.differences["new"].low < 1.5 * (alone.high - alone.low)


def test_values_are_those_of_evaluate() -> None:
    log = even_log(1200)
    found = compare(log, {"old": "logged", "new": best})
    assert found.estimates["new"] == evaluate(log, best).value
    assert found.estimates["old"].value == pytest.approx(EVEN, abs=0.05)


def test_without_evidence_the_advice_is_exploration() -> None:
    log = lw.feedback.Log()
    problems = lw.Problems.from_arrays(np.random.default_rng(0).random((400, 4, 2)))
    log.append(first_two(problems), propensities=np.ones((400, 2)), list_ids=[str(i) for i in range(400)])
    log.feedback([str(i) for i in range(400)], np.random.default_rng(1).random((400, 2)) < 0.4)
    found = compare(log, {"old": "logged", "new": worst})
    assert found.differences["new"].verdict == "cannot tell"
    assert "exploration of at least" in found.advice
    assert np.isnan(found.differences["new"].low)
    json.dumps(found.to_dict(), allow_nan=False)


def test_table_picture_and_text() -> None:
    found = compare(even_log(1200), {"old": "logged", "new": best})
    assert found.table()["policy"].tolist() == ["old", "new"]
    assert str(found).endswith(found.advice)
    drawn = found.plot().to_dict()
    assert len(drawn["vconcat"]) == 2
    assert found.to_dict()["policies"][1]["verdict"] == "roll out"


@pytest.mark.parametrize(
    ("policies", "options", "message"),
    [
        ({"new": best}, {}, "at least two policies"),
        ([best, worst], {}, "at least two policies"),
        ({"new": best, "old": "logged"}, {"baseline": "older"}, "baseline must be one of new, old"),
        ({"new": best, "old": "logs"}, {}, "predict"),
        ({"new": best, "old": "logged"}, {"propensity": "examination"}, "not examination"),
        ({"new": best, "old": "logged"}, {"propensity": "guess"}, "propensity must be one of"),
    ],
)
def test_what_cannot_be_compared(policies: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(even_log(50), policies, **options)


def test_a_safe_rollout_stops_where_the_lower_bound_meets_today() -> None:
    log = even_log(600, seed=3)
    good, bad = safe_rollout(log, best), safe_rollout(log, worst)
    assert good.share > 0.4
    assert bad.share == 0.0
    assert "No share" in str(bad)
    row = good.curve.where(share=good.share).records()[0]
    assert row["low"] > 0
    assert row["effective_size"] >= 30
    assert f"Up to {100 * good.share:.0f} %" in str(good)
    # at a small share the difference is the slope: one slot at a time
    assert good.curve["ahead"][0] > 0 > bad.curve["ahead"][0]


def test_a_tolerance_allows_more() -> None:
    log = even_log(400)
    assert safe_rollout(log, first_two).share < safe_rollout(log, first_two, tolerance=0.2).share
    with pytest.raises(InputError, match="tolerance must be 0 or more"):
        safe_rollout(log, best, tolerance=-1.0)


@pytest.mark.filterwarnings("ignore::listwright.feedback.EvidenceWarning")
@pytest.mark.parametrize("unseen", [0.5, 1.0])
def test_what_the_log_never_shows_is_no_safe_share(unseen: float) -> None:
    """A log without any exploration: items that it never shows could be worth nothing."""
    for seed in range(10):
        rng, n = np.random.default_rng(seed), 1500
        problems, log = lw.Problems.from_arrays(rng.random((n, 6, 2))), lw.feedback.Log()
        ids, rows = [str(i) for i in range(n)], problems.offsets[:-1, None] + [0, 1]
        log.append(lw.Lists(problems, rows), propensities=np.ones((n, 2)), list_ids=ids)
        log.feedback(ids, (rng.random((n, 2)) < 0.3).astype(float))
        other = rng.random((n, 1)) < unseen

        def policy(some: lw.Problems, other: Any = other) -> lw.Lists:
            return lw.Lists(some, some.offsets[:-1, None] + np.where(other, [2, 3], [0, 1]))

        for tolerance in (0.0, 0.05):
            assert safe_rollout(log, policy, tolerance=tolerance).share == 0.0


def test_logs_that_are_too_small_say_so() -> None:
    for n in (1, 2):
        log = even_log(n)
        with pytest.warns(EvidenceWarning):
            found = evaluate(log, best)
        assert found.against_log.verdict == "cannot tell"
        assert "000,000,000" not in found.against_log.advice
    with pytest.raises(InputError, match="too few to learn from some and judge on others"):
        lw.OnlineSCP(2).fit_log(even_log(1), objective="off_policy")
    with pytest.raises(InputError, match="at least two lists"):
        evaluate(even_log(1), best, propensity="examination")
