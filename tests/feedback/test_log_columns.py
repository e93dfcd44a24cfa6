"""Logs of other systems: columns by their usual names, and what cannot be read as a log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from listwright.errors import InputError
from listwright.feedback import Log

ROWS = {
    "Request ID": ["a", "a", "a", "b", "b", "b"],
    "product_id": [7, 8, 9, 7, 8, 9],
    "rank": [0, None, 1, 1, 0, None],
    "clicked": [True, None, False, False, False, None],
    "pscore": [0.5, None, 0.5, 0.25, 0.5, None],
    "price": [3.0, 1.0, 2.0, 5.0, 4.0, 6.0],
}


def frame(**changes: Any) -> pl.DataFrame:
    return pl.DataFrame({name: values for name, values in (ROWS | changes).items() if values is not None})


def test_usual_names_need_no_options() -> None:
    first, second = Log.from_frame(frame()).updates()
    assert (first.list_id, first.picks.tolist(), first.propensities.tolist()) == ("a", [0, 2], [0.5, 0.5])
    assert (second.picks.tolist(), second.propensities.tolist()) == ([1, 0], [0.5, 0.25])
    assert first.outcomes.tolist() == [1.0, 0.0]
    assert first.problem.feature_names == ("price",)
    assert first.problem.item_ids is not None


def test_columns_can_be_named() -> None:
    odd = frame().rename({"Request ID": "q", "rank": "where", "clicked": "did", "pscore": "p", "product_id": "what"})
    with pytest.raises(InputError, match=r"Missing: list, item, outcome, position. Name it with list_id="):
        Log.from_frame(odd)
    log = Log.from_frame(odd, list_id="q", item="what", position="where", outcome="did", propensity="p")
    assert [record.picks.tolist() for record in log.updates()] == [[0, 2], [1, 0]]
    with pytest.raises(InputError, match="no column 'nowhere'"):
        Log.from_frame(odd, list_id="nowhere")


def test_two_columns_for_one_role_are_an_error_because_one_would_leak() -> None:
    with pytest.raises(InputError, match=r"could be the outcome: clicked, reward. Name the right one with outcome="):
        Log.from_frame(frame(reward=[1, 0, 0, 0, 0, 0]))
    log = Log.from_frame(frame(reward=[1, 0, 0, 0, 0, 0]), outcome="clicked", ignore=["reward"])
    assert next(log.updates()).problem.feature_names == ("price",)


def test_shown_flags_stand_for_positions_and_rule_over_them() -> None:
    shown = [True, False, True, True, True, False]
    in_order = Log.from_frame(frame(shown=shown, rank=None))
    assert [record.picks.tolist() for record in in_order.updates()] == [[0, 2], [0, 1]]
    ranked = Log.from_frame(frame(shown=shown, rank=[1, 3, 2, 2, 1, 3]))
    assert [record.picks.tolist() for record in ranked.updates()] == [[0, 2], [1, 0]]
    with pytest.raises(InputError, match=r"positions are not 1, 2, .* of list a"):
        Log.from_frame(frame(shown=shown, rank=[1, None, None, 2, 1, None]))


def test_logs_of_shown_items_alone_and_without_propensities() -> None:
    only = frame(pscore=None).filter(pl.col("rank").is_not_null())
    log = Log.from_frame(only)
    assert all(np.isnan(record.propensities).all() for record in log.updates())
    assert log.answered_lists().problems.counts.tolist() == [2, 2]


def test_items_are_the_catalogue_where_nothing_else_tells_them_apart() -> None:
    log = Log.from_frame(frame(price=None))
    assert log.answered_lists().problems.catalogue.tolist() == [0, 1, 2, 0, 1, 2]
    assert log.columns is not None
    assert log.columns.catalogue_names == ("7", "8", "9")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_files_of_any_kind(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"log{ending}"
    found = frame(clicked=[1, None, 0, 0, 0, None])
    {".csv": found.write_csv, ".parquet": found.write_parquet, ".jsonl": found.write_ndjson}[ending](path)
    log = Log.from_parquet(path)
    assert [record.outcomes.tolist() for record in log.updates()] == [[1.0, 0.0], [0.0, 0.0]]
    assert [record.list_id for record in log.updates()] == ["a", "b"]
    assert not log.cascade


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rank": [0, None, 2, 1, 0, None]}, "positions are not 1, 2, .* of list a"),
        ({"rank": [0, None, 0, 1, 0, None]}, "positions are not 1, 2, .* of list a"),
        ({"rank": [0.0, None, 1.0, 1.5, 0.0, None]}, "positions are not 1, 2, .* of list b"),
        ({"rank": ["x", None, "y", "z", "x", None]}, "'rank' must hold numbers. Got"),
        ({"clicked": [1, 1, 0, 0, 0, None]}, "See item 8 of list a"),
        ({"clicked": [1, None, 3, 0, 0, None]}, r"from 0 to 1. Got 3.0 at position 2 of list a"),
        ({"clicked": [1, None, None, 0, 0, None]}, "List a showed 2 items: give as many outcomes"),
        ({"pscore": [0.5, None, 0.0, 0.25, 0.5, None]}, "above 0 and at most 1. Got 0.0 at position 2 of list a"),
        ({"product_id": [7, 7, 9, 7, 8, 9]}, "has this item already"),
        ({"Request ID": ["a", None, "a", "b", "b", "b"]}, "the value is missing"),
        ({"price": [3.0, None, 2.0, 5.0, 4.0, 6.0]}, "'price': the value is missing"),
    ],
)
def test_what_cannot_be_a_log(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Log.from_frame(frame(**changes))


def test_cascades_end_at_the_first_click_and_have_no_second() -> None:
    log = Log.from_frame(frame(), cascade=True)
    assert next(log.updates()).outcomes.tolist() == [1.0]
    with pytest.raises(InputError, match="after the cascade stopped"):
        Log.from_frame(frame(clicked=[1, None, 1, 0, 0, None]), cascade=True)


@pytest.mark.parametrize("price", [True, False])
def test_files_with_other_names_and_orders_are_one_log(tmp_path: Path, price: bool) -> None:
    first = frame(**({} if price else {"price": None}))
    names = {"Request ID": "qid", "product_id": "doc", "rank": "slot", "clicked": "reward", "pscore": "prob"}
    second = first.rename(names).with_columns(qid=pl.col("qid") + "2", doc=pl.col("doc") + 1)
    second = second.select(second.columns[::-1]).reverse()
    paths = [tmp_path / "first.parquet", tmp_path / "second.parquet"]
    for path, table in zip(paths, (first, second), strict=True):
        table.write_parquet(path)
    answered = Log.from_parquet(paths).answered_lists()
    problems = answered.problems
    where = {name: i for i, name in enumerate(answered.list_ids)}
    assert set(where) == {"a", "b", "a2", "b2"}
    for own, other in (("a", "a2"), ("b", "b2")):
        np.testing.assert_array_equal(answered.outcomes[where[own]], answered.outcomes[where[other]])
        shown = [problems.item_ids[answered.rows[where[name]]].astype(int) for name in (own, other)]
        np.testing.assert_array_equal(shown[0] + 1, shown[1])
        for values in ("features",) if price else ():
            table = getattr(problems, values)
            np.testing.assert_array_equal(table[answered.rows[where[own]]], table[answered.rows[where[other]]])
    if not price:  # the items are all that is known: 8 is the same one in both
        known = [{str(i): int(c) for i, c in zip(problems.item_ids, problems.catalogue, strict=True)}][0]
        assert len(set(known.values())) == len(known) == 4
