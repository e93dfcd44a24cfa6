"""Every route for every role: with no key, a wrong key, and each role's key."""

from __future__ import annotations

import json
import stat
from hashlib import sha256

import pytest

from listwright.errors import InputError
from listwright.serve import Settings, new_key
from listwright.serve.auth import ROLES, Keys
from listwright.serve.routes import ROUTES as TABLE

OPEN = ("none", "wrong", "other scheme", *ROLES)
ROUTES = {
    ("POST", "/v1/lists"): ("lists",),
    ("POST", "/v1/lists:batch"): ("lists",),
    ("POST", "/v1/pack"): ("lists",),
    ("POST", "/v1/rerank"): ("lists",),
    ("POST", "/v2/rerank"): ("lists",),
    ("GET", "/v1/lists/{list_id}"): ("lists", "read"),
    ("POST", "/v1/feedback"): ("feedback",),
    ("GET", "/v1/lists"): ("read",),
    ("GET", "/v1/stats"): ("read",),
    ("GET", "/v1/stats/series"): ("read",),
    ("GET", "/v1/stats/positions"): ("read",),
    ("GET", "/v1/learning"): ("read",),
    ("POST", "/v1/learning"): (),
    ("GET", "/v1/compare"): ("read",),
    ("GET", "/v1/models"): ("read",),
    ("POST", "/v1/models"): (),
    ("GET", "/v1/models/{version}"): ("read",),
    ("DELETE", "/v1/models/{version}"): (),
    ("PUT", "/v1/traffic"): (),
    ("POST", "/v1/traffic:rollback"): (),
    ("GET", "/metrics"): ("metrics",),
    ("GET", "/healthz"): OPEN,
    ("GET", "/readyz"): OPEN,
    ("GET", "/"): OPEN,
    ("GET", "/docs"): OPEN,
    ("GET", "/page/theme.json"): OPEN,
    ("GET", "/page/{name}"): OPEN,
    ("GET", "/openapi.json"): OPEN,
}


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    return path, {role: new_key(role, path) for role in ROLES}


@pytest.fixture(scope="module")
def guarded(keys, model_file, tmp_path_factory, running):
    store = f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db"
    one = running(model=model_file, store=store, keys=keys[0])
    yield one
    one.stop()


def test_the_table_has_every_route():
    assert {(route.method, route.path) for route in TABLE} == set(ROUTES)


@pytest.mark.parametrize("presented", ["none", "wrong", "other scheme", *ROLES])
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_route_is_open_to_its_role_and_to_admins_only(guarded, keys, method, path, presented):
    value = {"none": None, "wrong": "Bearer lw_wrong", "other scheme": f"Basic {keys[1]['admin']}"}
    header = value[presented] if presented in value else f"Bearer {keys[1][presented]}"
    headers = {} if header is None else {"Authorization": header}
    address = path.format(list_id="0" * 32, version=1, name="app.js")
    status = guarded.request(method, address, headers=headers).status_code
    if presented in (*ROUTES[method, path], "admin"):
        assert status not in (401, 403)
    else:
        assert status == (403 if presented in ROLES else 401)


def test_unknown_addresses_need_a_key_too(guarded):
    assert guarded.get("/v1/nowhere").status_code == 401
    assert guarded.head("/metrics").status_code == 401
    assert guarded.post("/healthz").status_code == 401


def test_keys_are_stored_hashed_and_for_the_owner_only(keys):
    path, made = keys
    text = path.read_text()
    assert not any(key in text for key in made.values())
    assert {entry["sha256"] for entry in json.loads(text)["keys"]} == {
        sha256(key.encode()).hexdigest() for key in made.values()
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "content", ["", "[]", '{"keys": 1}', '{"keys": []}', '{"keys": [{"role": "x"}]}', '{"keys": [1]}']
)
def test_a_bad_keys_file_is_refused(tmp_path, content):
    path = tmp_path / "keys.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"keys\.json"):
        Keys.read(path)


def test_another_role_is_refused(tmp_path):
    with pytest.raises(InputError, match="A role is one of lists, feedback, admin"):
        new_key("root", tmp_path / "keys.json")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.org"])
def test_other_addresses_need_keys(model_file, host):
    with pytest.raises(InputError, match="needs --keys"):
        Settings(model_file, host=host).check()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_this_machine_needs_none(model_file, host):
    Settings(model_file, host=host).check()


def test_without_keys_other_hosts_are_refused(client):
    assert client.get("/v1/stats", headers={"Host": "evil.example"}).status_code == 400
    assert client.get("/v1/stats", headers={"Host": "evil.example:127"}).json()["error"]["field"] == "host"
    for host in ("localhost:1234", "LOCALHOST", "127.0.0.1", "[::1]:1234", "[::1]"):
        assert client.get("/v1/stats", headers={"Host": host}).status_code == 200
