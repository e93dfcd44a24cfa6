"""Faults of logs, counted by kind; bad lists left out; chances of any policy; objectives of learning from a log."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import listwright as lw
from listwright.errors import DataWarning, InputError
from listwright.feedback import EvidenceWarning, Log, evaluate
from listwright.feedback.log_frames import read_faults
from tests.feedback.off_policy.logs import best, even_log

STRENGTH = np.array([0.4, 0.3, 0.2, 0.1])  # of the items, to a policy that draws in proportion to it
ROLES = dict.fromkeys(("list", "item", "position", "shown", "outcome", "propensity", "version"))


def frame(n: int = 200) -> pl.DataFrame:
    """Two of four items, drawn evenly."""
    rng = np.random.default_rng(0)
    order = np.argsort(rng.random((n, 4)), axis=1)
    rank = np.argsort(order, axis=1) + 1
    shown, clicked = rank <= 2, rng.random((n, 4)) < 0.3
    first = np.take_along_axis(np.tile(STRENGTH, (n, 1)), order[:, :1], 1)
    return pl.DataFrame(
        {
            "request_id": np.repeat([f"r{i}" for i in range(n)], 4),
            "item_id": np.tile(list("abcd"), n),
            "rank": np.where(shown, rank, np.nan).ravel(),
            "clicked": np.where(shown, clicked, np.nan).ravel(),
            "propensity": np.where(shown, 1 / (5 - rank), np.nan).ravel(),
            "new_chance": np.where(shown, STRENGTH / np.where(rank == 1, 1.0, 1.0 - first), np.nan).ravel(),
            "price": rng.random(4 * n),
        }
    ).fill_nan(None)


def spoil(found: pl.DataFrame, row: int, **cells: object) -> pl.DataFrame:
    at = pl.int_range(pl.len()) == row
    return found.with_columns(*(pl.when(at).then(pl.lit(v)).otherwise(pl.col(c)).alias(c) for c, v in cells.items()))


def shown_row(found: pl.DataFrame, request: str, rank: int) -> int:
    hit = (pl.col("request_id") == request) & (pl.col("rank") == rank)
    return found.with_row_index().filter(hit)["index"][0]


def test_all_faults_are_counted_and_bad_lists_left_out() -> None:
    good = frame()
    assert read_faults(good.drop("new_chance"), ROLES) == []
    bad = spoil(good, shown_row(good, "r1", 2), rank=7.0)
    bad = spoil(bad, shown_row(bad, "r2", 1), propensity=0.0)
    bad = spoil(bad, shown_row(bad, "r3", 1), clicked=3.0)
    bad = spoil(bad, 4 * 4, item_id="b")
    bad = bad.with_columns(
        user_id=pl.int_range(pl.len()), dwell_ms=pl.col("clicked").fill_null(0.0) * 100 + pl.col("price")
    )
    found = {fault.kind: fault for fault in read_faults(bad.drop("new_chance"), ROLES)}
    assert {kind: fault.count for kind, fault in found.items()} == {
        "positions": 1, "duplicates": 1, "outcomes": 1, "propensities": 1, "ids": 1, "leaks": 1,
    }  # fmt: skip
    assert found["positions"].examples == ("r1",)
    assert (found["ids"].examples, found["leaks"].examples) == (("user_id",), ("dwell_ms",))
    with pytest.raises(InputError):
        Log.from_frame(bad, features=["price"])
    log = Log.from_frame(bad, features=["price"], drop_bad=True)
    assert (len(log), log.dropped) == (196, 4)
    with pytest.warns(DataWarning, match="user_id|dwell_ms"):
        Log.from_frame(bad, drop_bad=True, ignore=["new_chance"])


SPOILED = {
    "positions": {"rank": 7.0},
    "propensities": {"propensity": -0.5},
    "outcomes": {"clicked": None},
    "no item": {"item_id": None},
    "features": {"price": float("nan")},
    "no list": {"request_id": None},
}


@pytest.mark.parametrize("seed", range(5))
def test_drawn_faults_are_all_counted_and_the_other_lists_kept(seed: int) -> None:
    rng, bad, good = np.random.default_rng(seed), frame(), frame()
    hit = rng.choice(200, size=24, replace=False)
    kinds = rng.choice(list(SPOILED), size=24)
    for request, kind in zip(hit, kinds, strict=True):
        bad = spoil(bad, shown_row(good, f"r{request}", 2), **SPOILED[kind])
    bad = bad.sample(fraction=1.0, shuffle=True, seed=seed).drop("new_chance")
    found = {fault.kind: fault.count for fault in read_faults(bad, ROLES)}
    assert found == {kind: int((kinds == kind).sum()) for kind in SPOILED if (kinds == kind).any()}
    log = Log.from_frame(bad, drop_bad=True)
    assert log.dropped == 24
    dropped = {f"r{request}" for request, kind in zip(hit, kinds, strict=True) if kind != "no list"}
    assert set(log.answered_lists().list_ids) == {f"r{i}" for i in range(200)} - dropped


@pytest.mark.parametrize(
    "name", ["user_id", "UserID", "userId", "userid", "uid", "customer no", "device-key", "session_hash", "adId"]
)
def test_columns_that_name_somebody_are_noticed(name: str) -> None:
    kinds = {
        fault.kind
        for fault in read_faults(frame().drop("new_chance").with_columns(pl.int_range(pl.len()).alias(name)), ROLES)
    }
    assert kinds == {"ids"}


def test_ids_with_gaps_are_ids_though_frames_hold_them_as_floats() -> None:
    gaps = frame().drop("new_chance").with_columns(visitor=pl.when(pl.col("price") > 0.2).then(pl.int_range(pl.len())))
    (fault,) = [fault for fault in read_faults(gaps.to_pandas(), ROLES) if fault.kind == "ids"]
    assert fault.examples == ("visitor",)
    shares = frame().drop("new_chance").with_columns(visitor_share=pl.col("price"))
    assert not read_faults(shares, ROLES)


@pytest.mark.parametrize("versions", [["2024-a", None], [3.0, None]])
def test_versions_may_be_names_or_missing(versions: list[object]) -> None:
    some = frame().with_columns(
        policy_version=pl.when(pl.col("request_id") < "r3").then(pl.lit(versions[0])).otherwise(pl.lit(versions[1]))
    )
    log = Log.from_frame(some, features=["price"])
    assert len(log) == 200
    told = dict(zip(log.to_frame("polars")["list"], log.to_frame("polars")["version"], strict=True))
    assert told["r1"] == told["r2"] != told["r3"] == told["r4"] == 0


@pytest.mark.parametrize("name", ["grid", "paid", "usability", "liquid", "keyboard", "bid"])
def test_columns_that_only_sound_like_it_are_not(name: str) -> None:
    assert not read_faults(frame().drop("new_chance").with_columns((pl.int_range(pl.len()) % 7).alias(name)), ROLES)


def test_missing_candidates_and_weights_above_one_on_average() -> None:
    impressions = frame().filter(pl.col("rank").is_not_null()).drop("new_chance")
    kinds = {fault.kind: fault for fault in read_faults(impressions, ROLES)}
    assert set(kinds) == {"candidates", "weights"}
    assert kinds["weights"].examples == ("mean 2",)


def test_chances_of_any_stochastic_policy() -> None:
    log = Log.from_frame(frame(), features=["price"])
    told = evaluate(log, chances="new_chance")
    logged = log.answered_lists()
    items = logged.rows - logged.problems.offsets[:-1, None]
    chances = np.stack([STRENGTH[items[:, 0]], STRENGTH[items[:, 1]] / (1 - STRENGTH[items[:, 0]])], axis=1)
    ratios = chances / np.array([1 / 4, 1 / 3])
    expected = (np.cumprod(ratios, axis=1) * logged.outcomes).sum(axis=1).mean()
    assert told.per_position_ips.value == pytest.approx(expected)
    assert str(told.direct) == "no evidence"
    assert told.switch.value == pytest.approx(told.per_position_sn.value, abs=0.03)
    same = evaluate(log, chances=chances)
    assert same.to_dict() == told.to_dict()
    with pytest.raises(InputError, match="no column 'newer'"):
        evaluate(log, chances="newer")
    with pytest.raises(InputError, match="either a policy or chances"):
        evaluate(log)


def test_chances_of_a_policy_that_never_draws_are_whole_numbers() -> None:
    even = frame(600)  # it shows a and b, or the first of them that is open
    best = pl.when(pl.col("rank") == 1).then(pl.col("item_id") == "a").otherwise(pl.col("item_id") <= "b")
    log = Log.from_frame(even.with_columns(best.cast(pl.Int64).alias("sure")), features=["price"])
    with pytest.warns(EvidenceWarning):
        told = evaluate(log, chances="sure")
    logged = log.answered_lists()
    items = logged.rows - logged.problems.offsets[:-1, None]
    match = np.stack([items[:, 0] == 0, items[:, 1] <= 1], axis=1)
    weights = np.cumprod(match / np.array([1 / 4, 1 / 3]), axis=1)
    assert told.per_position_ips.value == pytest.approx((weights * logged.outcomes).sum(axis=1).mean())


def test_a_policy_learned_by_its_lower_bound() -> None:
    log = even_log(600)
    model = lw.OnlineSCP(2, random_state=0).fit_log(log, objective="off_policy")
    problems = log.answered_lists().problems
    agree = (np.sort(model.predict(problems).rows) == np.sort(best(problems).rows)).all(axis=1).mean()
    assert agree > 0.8
    with pytest.raises(InputError, match="objective must be one of gain, off_policy"):
        lw.OnlineSCP(2).fit_log(log, objective="clicks")


def test_what_was_certain_or_blocked_is_no_fault() -> None:
    even = frame()
    pinned = even.with_columns(propensity=pl.when(pl.col("rank") == 1).then(1.0).otherwise(pl.col("propensity")))
    assert not [fault for fault in read_faults(pinned, ROLES) if fault.kind == "weights"]
    more = even.select("request_id").unique(maintain_order=True)
    blocked = pl.concat(
        [even.with_columns(pinned=pl.lit(0)), *(more.with_columns(item_id=pl.lit(x), pinned=-1) for x in "xyz")],
        how="diagonal_relaxed",
    )
    assert not [fault for fault in read_faults(blocked, ROLES) if fault.kind == "weights"]
    flagged = even.with_columns(shown=pl.col("rank").is_not_null(), rank=pl.col("rank").fill_null(0))
    assert not [fault for fault in read_faults(flagged, ROLES) if fault.kind == "positions"]


def test_ids_are_noticed_in_logs_that_were_written_too() -> None:
    written = frame().rename({"price": "feature: user_id"}).drop("new_chance")
    written = written.with_columns(pl.int_range(pl.len()).alias("feature: user_id"))
    assert {fault.kind for fault in read_faults(written, ROLES)} == {"ids"}
    with pytest.warns(DataWarning, match="used as features: user_id"):
        Log.from_frame(written)


def test_candidates_without_a_chance_are_no_fault() -> None:
    """Either of two fixed lists is shown, as in the trial of a candidate."""
    rng, rows = np.random.default_rng(0), []
    for i in range(300):
        shown, chance = ([0, 1], 0.9) if rng.random() < 0.9 else ([3, 2], 0.1)
        for j in range(6):
            place = shown.index(j) + 1 if j in shown else None
            chances = {1: chance, 2: 1.0}
            clicked = None if place is None else float(rng.random() < 0.3)
            rows.append((f"r{i}", f"i{j}", place, clicked, chances.get(place), rng.random()))
    names = ["list_id", "item", "position", "clicked", "propensity", "size"]
    told = read_faults(pl.DataFrame(rows, schema=names, orient="row"), {})
    assert [fault.kind for fault in told] == []
