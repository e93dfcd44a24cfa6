"""Catalogues keep the ids of the log: in frames of any order, with new items, in files, and for other columns."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import ExtraTreesRegressor

import listwright as lw
from listwright.errors import InputError
from listwright.feedback import Log, evaluate

ITEMS = np.array([f"p{i}" for i in range(8)])
WORTH = np.linspace(0.05, 0.9, 8)


def frame(n: int, seed: int = 0, items: np.ndarray = ITEMS) -> pl.DataFrame:
    """Lists of three of six products, drawn evenly; the last products are clicked most."""
    rng, rows = np.random.default_rng(seed), []
    worth = np.resize(WORTH, len(items))
    for i in range(n):
        offered = rng.choice(len(items), 6, replace=False)
        for j, item in enumerate(offered):
            shown = j < 3
            clicked = int(rng.random() < worth[item]) if shown else None
            rows.append((f"r{i}", str(items[item]), j + 1 if shown else None, clicked, 1 / (6 - j) if shown else None))
    return pl.DataFrame(rows, schema=["request_id", "item_id", "rank", "clicked", "propensity"], orient="row")


def fitted(n: int = 300) -> lw.OnlineSCP:
    return lw.OnlineSCP(3, random_state=0).fit_log(Log.from_frame(frame(n), catalogue="item_id"))


def quality(lists: lw.Lists) -> float:
    worth = dict(zip(ITEMS.tolist(), WORTH.tolist(), strict=True))
    assert lists.problems.item_ids is not None
    return float(np.mean([worth[name] for name in lists.problems.item_ids[lists.rows.ravel()]]))


def test_ids_mean_the_same_in_every_order_of_rows(tmp_path) -> None:
    model, new = fitted(), frame(40, seed=1)
    options = {"problem": "request_id", "item": "item_id", "features": [], "catalogue": "item_id"}
    straight, turned = (model.predict(lw.Problems.from_frame(f, **options)) for f in (new, new[::-1]))
    assert quality(straight) == pytest.approx(quality(turned))
    assert quality(straight) > 0.6
    model.save(tmp_path / "model")
    assert quality(lw.load(tmp_path / "model").predict(new[::-1])) == pytest.approx(quality(straight))


@pytest.mark.filterwarnings("ignore::listwright.feedback.EvidenceWarning")
def test_new_items_were_never_shown_and_are_explored() -> None:
    model = fitted()
    new = frame(200, seed=2, items=np.array([*ITEMS, "new1", "new2"]))
    shown = model.recommend(new)
    names = shown.problems.item_ids[shown.rows.ravel()].tolist()
    assert names.count("new1") > 20
    likes = np.isin(shown.problems.item_ids, ["new2"])[shown.rows].astype(float)
    model.feedback(shown.list_ids, likes)
    assert set(model.signature_.catalogue_names[8:]) == {"new1", "new2"}
    top = model.predict(new)
    first = top.problems.item_ids[top.rows[:, 0]].tolist()
    offered = sum("new2" in group["item_id"].to_list() for _, group in new.group_by("request_id"))
    assert first.count("new2") > 0.8 * offered
    evaluate(Log.from_frame(new, catalogue="item_id"), fitted().predict)  # which has never met them


def of_trees() -> lw.SCP:
    rows = frame(80).with_columns(pl.lit(0.5).alias("price"), pl.col("clicked").fill_null(0))
    options = {"problem": "request_id", "item": "item_id", "features": ["price"], "catalogue": "item_id"}
    return lw.SCP(3, learner=ExtraTreesRegressor(20, random_state=0), random_state=0).fit(
        rows, reward="any:clicked", **options
    )


def test_a_model_of_a_frame_knows_the_items_of_problems_by_name() -> None:
    model, rows = of_trees(), frame(20, seed=3).with_columns(pl.lit(0.5).alias("price"))
    options = {"problem": "request_id", "item": "item_id", "features": ["price"], "catalogue": "item_id"}
    for turned in (rows, rows[::-1]):
        read = model.predict(turned)
        given = model.predict(lw.Problems.from_frame(turned, **options))
        np.testing.assert_array_equal(given.rows, read.rows)
    new = rows.with_columns(pl.col("item_id").str.replace("p1", "brand new"))
    for unknown in (new, lw.Problems.from_frame(new, **options)):
        with pytest.raises(InputError, match="brand new is not in the catalogue of 8 items"):
            model.predict(unknown)


@pytest.mark.filterwarnings("ignore::listwright.feedback.EvidenceWarning")
@pytest.mark.parametrize("kind", ["boosting", "extra trees", "corrected"])
def test_every_kind_of_model_takes_new_items_and_explores_them(kind: str, tmp_path) -> None:
    log = Log.from_frame(frame(300), catalogue="item_id")
    trees = {"boosting": "boosting", "extra trees": ExtraTreesRegressor(20, random_state=0)}
    if kind == "corrected":
        model = lw.OnlineSCP.from_model(of_trees(), random_state=0)
        model.fit_log(Log.from_frame(frame(300).with_columns(pl.lit(0.5).alias("price")), catalogue="item_id"))
    else:
        model = lw.OnlineSCP(3, learner=trees[kind], random_state=0).fit_log(log)
    new = frame(200, seed=2, items=np.array([*ITEMS, "new1", "new2"])).with_columns(pl.lit(0.5).alias("price"))
    assert len(model.predict(new)) == 200
    names = (shown := model.recommend(new)).problems.item_ids[shown.rows.ravel()].tolist()
    assert min(names.count("new1"), names.count("new2")) > names.count("p0")
    evaluate(Log.from_frame(new if kind == "corrected" else new.drop("price"), catalogue="item_id"), model.predict)
    likes = np.isin(shown.problems.item_ids, ["new2"])[shown.rows].astype(float)
    for _ in range(3):
        model.feedback(shown.list_ids, likes)
        shown = model.recommend(new)
        likes = np.isin(shown.problems.item_ids, ["new2"])[shown.rows].astype(float)
    assert set(model.signature_.catalogue_names[8:]) == {"new1", "new2"}
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(lw.load(tmp_path / "model").predict(new).rows, model.predict(new).rows)


def test_a_log_keeps_its_names_in_a_file_and_beside_another(tmp_path) -> None:
    log = Log.from_frame(frame(30), catalogue="item_id")
    log.to_parquet(tmp_path / "log.parquet")
    back = Log.from_parquet(tmp_path / "log.parquet").answered_lists().problems
    assert set(back.catalogue_names) == set(ITEMS)
    assert [back.catalogue_names[code] for code in back.catalogue] == back.item_ids.tolist()
    named = (pl.lit("r_") + pl.col("request_id")).alias("list")
    other = frame(30, seed=5).with_columns(named).drop("request_id")
    other.rename({"item_id": "product_id"}).write_csv(tmp_path / "other.csv")
    frame(30).write_csv(tmp_path / "one.csv")
    both = Log.from_parquet([tmp_path / "one.csv", tmp_path / "other.csv"])
    problems = both.answered_lists().problems
    assert len(both) == 60
    assert [problems.catalogue_names[code] for code in problems.catalogue] == problems.item_ids.tolist()


def test_a_log_with_other_columns_is_refused_by_name() -> None:
    rng = np.random.default_rng(0)
    more = {name: pl.Series(name, rng.random(240)) for name in "ab"}
    wide, narrow = (Log.from_frame(frame(40).with_columns(*map(more.get, names))) for names in ("ab", "a"))
    model = lw.OnlineSCP(3, random_state=0).fit_log(wide)
    with pytest.raises(InputError, match="missing: b"):
        evaluate(narrow, model.predict)


def test_a_log_grows_by_lists_with_more_items_and_rules() -> None:
    log, seen = Log(), []
    for number, names in enumerate((["a", "b"], ["c", "b", "d", "a", "e"], ["b", "a"])):
        frame = pl.DataFrame({"problem": ["x"] * len(names), "item": names})
        problems = lw.Problems.from_frame(frame, problem="problem", item="item", catalogue="item")
        if number == 1:
            problems = problems._with(groups=np.array(["g"] * 5, dtype=object)).with_constraints(per_group=2)
        log.append(lw.Lists(problems, np.array([[0, 1]])), list_ids=[str(number)], propensities=[[0.5, 0.5]])
        log.feedback(str(number), [1, 0])
        seen += names
    problems = log.answered_lists().problems
    assert [problems.catalogue_names[code] for code in problems.catalogue] == seen
    model = lw.OnlineSCP(2, random_state=0).fit_log(log)
    lists = model.predict(problems)
    assert (lists.rows >= 0).all()
