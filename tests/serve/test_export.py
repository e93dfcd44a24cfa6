"""What a service stored, as a log: whole, from both databases, and good to learn from."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest
from sqlalchemy import select

import listwright as lw
from listwright._internal.progress import progress_to
from listwright.errors import InputError
from listwright.serve.export import AT_ONCE, export
from listwright.serve.store.records import ServedList
from listwright.serve.store.schema import lists


def talk(client, asked, count):
    """Lists, of which every other one is answered."""
    shown = {}
    for seed in range(count):
        told = client.post("/v1/lists", json=asked(8, seed=seed)).json()
        clicks = [item["id"] for item in told["items"][: seed % 3]]
        shown[told["list_id"]] = told, clicks
        if seed % 2 == 0:
            client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": clicks})
    return shown


def test_a_store_becomes_a_log(opened, store, asked, tmp_path, monkeypatch):
    monkeypatch.setattr("listwright.serve.export.AT_ONCE", 5)  # several batches
    client = opened(store=store, learn=True)
    shown = talk(client, asked, 12)
    ticks = []
    with progress_to(lambda what, done, total: ticks.append((done, total))):
        assert export(store, tmp_path / "log.parquet") == 12
    assert ticks[-1] == (12, 12)
    assert len(ticks) == 3
    log = lw.feedback.Log.from_parquet(tmp_path / "log.parquet")
    assert (len(log), len(list(log.updates()))) == (12, 6)
    for record in log.updates():
        told, clicks = shown[record.list_id]
        assert record.problem.item_ids[record.picks].tolist() == [str(item["id"]) for item in told["items"]]
        np.testing.assert_allclose(record.propensities, [item["propensity"] for item in told["items"]])
        assert record.outcomes.tolist() == [float(item["id"] in clicks) for item in told["items"]]
    about = pq.read_table(tmp_path / "log.parquet")
    assert {"version", "created", "state"} <= set(about.column_names)
    assert lw.OnlineSCP(3, random_state=0, allow_short=True).fit_log(log).version == 6


def test_features_keep_their_names(opened, store, asked, tmp_path, model_file):
    client = opened(store=store, learn=True)
    talk(client, asked, 2)
    export(store, tmp_path / "log.parquet")
    known = lw.load(model_file).signature_
    features = lw.feedback.Log.from_parquet(tmp_path / "log.parquet").answered_lists().problems
    assert features.feature_names == known.feature_names
    assert features.n_features == known.n_features


def test_groups_and_their_limits_are_kept(opened, store, asked, tmp_path):
    """In the record, so that what was learned is the same as if it had never been stored; and in the log."""
    client = opened(store=store, learn=True)
    request = asked(6, per_group=1)
    for i, item in enumerate(request["items"]):
        item["group"] = "ab"[i % 2]
    told = [client.post("/v1/lists", json=one).json() for one in (request, asked(6))]
    assert [len(one["items"]) for one in told] == [2, 3]
    for one in told:
        client.post("/v1/feedback", json={"list_id": one["list_id"], "clicks": []})
    with client.service.database.reading.connect() as connection:
        rows = {one.id: ServedList.read(one) for one in connection.execute(select(lists))}
    problem = rows[told[0]["list_id"]].problem
    assert (problem.groups.tolist(), problem.quotas.most[:, 0].tolist()) == (list("ababab"), [1] * 6)
    assert rows[told[1]["list_id"]].problem.groups is None
    export(store, tmp_path / "log.parquet")
    about = pq.read_table(tmp_path / "log.parquet")
    assert about["group"].to_pylist()[:6] == list("ababab")
    read = lw.feedback.Log.from_parquet(tmp_path / "log.parquet").answered_lists().problems
    assert read.groups.tolist() == [*"ababab", *[""] * 6]
    assert read.quotas.most[:6, 0].tolist() == [1] * 6
    assert min(read.quotas.most[6:, 0].tolist()) >= 6


def test_lists_of_a_service_that_does_not_learn_were_certain(opened, asked, tmp_path):
    store = f"sqlite:///{tmp_path}/plain.db"
    client = opened(store=store)
    talk(client, asked, 4)
    assert export(str(tmp_path / "plain.db"), tmp_path / "log.parquet", cascade=True) == 4
    log = lw.feedback.Log.from_parquet(tmp_path / "log.parquet")
    assert log.cascade
    assert all(record.outcomes[:-1].sum() == 0 for record in log.updates())  # nothing behind the first click
    assert all((record.propensities == 1.0).all() for record in log.updates())


def test_a_database_that_does_not_answer_cannot_be_exported(tmp_path):
    pytest.importorskip("psycopg")
    with pytest.raises(InputError, match="cannot be read"):
        export("postgresql://nobody@127.0.0.1:1/nothing", tmp_path / "log.parquet")


def test_what_cannot_be_exported(opened, asked, tmp_path):
    out = tmp_path / "log.parquet"
    (tmp_path / "text.db").write_text("no database at all, but some text")
    for store, message in [
        (str(tmp_path / "none.db"), "no store"),
        (f"sqlite:///{tmp_path}/none.db", "no store"),
        ("http://localhost:8000", "A store is sqlite"),
        (str(tmp_path / "text.db"), "cannot be read: file is not a database"),
    ]:
        with pytest.raises(InputError, match=message):
            export(store, out)
    store = f"sqlite:///{tmp_path}/new.db"
    client = opened(store=store, learn=True)
    with pytest.raises(InputError, match="no lists yet"):
        export(store, out)
    talk(client, asked, 1)
    with pytest.raises(InputError, match="no such lists yet"):
        export(store, out, version=7)
    with pytest.raises(InputError, match="Cannot write"):
        export(store, tmp_path / "missing" / "log.parquet")
    assert not list(tmp_path.glob("*.part"))
    assert not out.exists()
    assert AT_ONCE > 1
