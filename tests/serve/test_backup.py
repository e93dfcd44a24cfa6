"""A store is backed up while it is served, and a backup is a store again: on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from listwright.cli import main
from listwright.errors import InputError
from listwright.serve.export import back_up, restore


def test_a_backup_is_a_store_again(opened, store, asked, tmp_path):
    client = opened(store=store)
    told = client.post("/v1/lists", json=asked(metadata={"user": 1})).json()
    client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": []})
    with pytest.raises(SystemExit) as ended:
        main(["backup", store, "-o", str(tmp_path / "backup.db")])
    assert not ended.value.code
    client.post("/v1/lists", json=asked())  # not in the backup
    again = opened(model=None, store=f"sqlite:///{tmp_path}/backup.db")
    found = again.get(f"/v1/lists/{told['list_id']}").json()
    assert (found["items"], found["metadata"], found["feedback"]["event"]) == (told["items"], {"user": 1}, 1)
    assert again.get("/v1/stats").json()["lists"] == 1


@pytest.mark.system
def test_a_backup_goes_to_an_empty_store_only(opened, asked, tmp_path, empty_postgres):
    client = opened()
    list_id = client.post("/v1/lists", json=asked()).json()["list_id"]
    back_up(f"sqlite:///{tmp_path}/store.db", tmp_path / "backup.db")
    assert restore(tmp_path / "backup.db", empty_postgres)["lw_lists"] == 1
    assert opened(model=None, store=empty_postgres).get(f"/v1/lists/{list_id}").status_code == 200
    with pytest.raises(InputError, match="has models already"):
        restore(tmp_path / "backup.db", empty_postgres)
    with pytest.raises(InputError, match="already exists"):
        back_up(f"sqlite:///{tmp_path}/store.db", tmp_path / "backup.db")
