"""What cannot be used is refused with a status of 4xx and JSON that names the field; nothing leaks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwright.serve import Limits

JSON = {"Content-Type": "application/json"}
GOOD = '{"items": [{"id": "a", "features": [1, 2, 3]}, {"id": "b", "features": [3, 2, 1]}], "length": 1}'
LISTS = [
    (GOOD.replace("[1, 2, 3]", "[1, NaN, 3]"), "items.0.features.speed"),
    (GOOD.replace("[1, 2, 3]", "[1, 2, Infinity]"), "items.0.features.weight"),
    (GOOD.replace("[3, 2, 1]", "[-1e999, 2, 3]"), "items.1.features.price"),
    (GOOD.replace("[3, 2, 1]", "[1e39, 2, 3]"), "items.1.features.price"),
    (GOOD.replace("[1, 2, 3]", f"[1{'0' * 400}, 2, 3]"), "items.0.features.price"),
    (GOOD.replace("[1, 2, 3]", '{"price": NaN, "speed": 1, "weight": 1}'), "items.0.features.price"),
    (GOOD.replace('"length": 1', '"budget": Infinity'), "budget"),
    (GOOD.replace('"length": 1', '"metadata": {"a": [NaN]}'), "metadata.a.0"),
    (GOOD.replace('"b"', '"\\ud800NaN"'), "body"),  # no JSON, and nothing that an answer could hold
    (GOOD.replace("[1, 2, 3]", "[1, 2]"), "items.0.features"),
    (GOOD.replace("[3, 2, 1]", "[1, 2, 3, 4]"), "items.1.features"),
    (GOOD.replace("[1, 2, 3]", "[]"), "items.0.features"),
    (GOOD.replace("[1, 2, 3]", "{}"), "items.0.features.price"),
    (GOOD.replace("[1, 2, 3]", '{"price": 1, "speed": 1, "weight": 1, "x": 1}'), "items.0.features"),
    (GOOD.replace("[1, 2, 3]", '["1", 2, 3]'), "items.0.features.0"),
    (GOOD.replace("[1, 2, 3]", "[[1], 2, 3]"), "items.0.features.0"),
    (GOOD.replace("[1, 2, 3]", "null"), "items.0.features"),
    (GOOD.replace('"b"', '"a"'), "items.1.id"),
    (GOOD.replace('"b"', '""'), "items.1.id"),
    (GOOD.replace('"b"', "1.5"), "items.1.id"),
    (GOOD.replace('"b"', "true"), "items.1.id"),
    (GOOD.replace('"b"', f'"{"x" * 201}"'), "items.1.id"),
    (GOOD.replace('"length": 1', '"length": 0'), "length"),
    (GOOD.replace('"length": 1', '"length": 1001'), "length"),
    (GOOD.replace('"length": 1', '"length": 1e3'), "length"),
    (GOOD.replace('"length": 1', '"budget": 0'), "budget"),
    (GOOD.replace('"length": 1', '"budget": 5'), "items.0.size"),
    (GOOD.replace('"length": 1', '"context_features": [1]'), "context_features"),
    (GOOD.replace('"length": 1', f'"metadata": "{"x" * 4096}"'), "metadata"),
    (GOOD.replace('"length": 1', '"model": "a b"'), "model"),
    (GOOD.replace('"length": 1', '"unknown": 1'), "unknown"),
    (GOOD.replace('"length": 1', '"per_group": 0'), "per_group"),
    (GOOD.replace('"length": 1', f'"per_group": {2**63}'), "per_group"),  # would be another type, and be compiled for
    (GOOD.replace('"length": 1', f'"per_group": {10**30}'), "per_group"),
    (GOOD.replace('"length": 1', '"per_group": 1'), "items.0.group"),
    ('{"items": []}', "items"),
    ('{"items": {}}', "items"),
    ("{}", "items"),
    ("[]", "body"),
    ("", "body"),
    ("{", "body"),
    ('{"items": ' + "[" * 100_000, "body"),
    ('{"items": [{"id": "\ud800", "features": []}]}', "body"),
]


def posted(client: Any, path: str, text: str) -> Any:
    return client.post(path, content=text.encode("utf-8", "surrogatepass"), headers=JSON)


@pytest.mark.parametrize(("text", "field"), LISTS, ids=range(len(LISTS)))
def test_a_bad_list_request_names_the_field(client, text, field):
    answer = posted(client, "/v1/lists", text)
    assert answer.status_code == 422
    assert answer.json()["error"]["field"] == field
    assert answer.json()["error"]["message"].endswith(".")


def test_the_good_request_is_good(client):
    assert posted(client, "/v1/lists", GOOD).status_code == 200


def test_a_bad_list_of_a_batch_is_named(client):
    bad = GOOD.replace("[1, 2, 3]", "[1, NaN, 3]")
    answer = posted(client, "/v1/lists:batch", f'{{"lists": [{GOOD}, {bad}]}}')
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "lists.1.items.0.features.speed")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"clicks": None}, "body"),
        ({"gains": [1.0]}, "body"),
        ({"clicks": ["nobody"]}, "clicks.0"),
        ({"clicks": "a"}, "clicks"),
        ({"clicks": None, "gains": [1.0]}, "gains"),
        ({"clicks": None, "gains": [1.0, 0.0, 2.0]}, "gains.2"),
        ({"clicks": None, "gains": [1.0, 0.0, -0.1]}, "gains.2"),
        ({"list_id": "../../etc/passwd"}, "list_id"),
        ({"list_id": "0" * 32 + "\n"}, "list_id"),
        ({"idempotency_key": "a b"}, "idempotency_key"),
        ({"idempotency_key": "\x00"}, "idempotency_key"),
        ({"idempotency_key": "k" * 101}, "idempotency_key"),
        ({"extra": 1}, "extra"),
    ],
)
def test_bad_feedback_names_the_field(client, asked, change, field):
    told = client.post("/v1/lists", json=asked()).json()
    body = {"list_id": told["list_id"], "clicks": []} | change
    answer = client.post("/v1/feedback", json={name: value for name, value in body.items() if value is not None})
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)


@pytest.mark.parametrize("path", ["/v1/lists", "/v1/lists:batch", "/v1/feedback", "/v1/traffic"])
def test_only_json_is_read(client, path):
    method = "PUT" if path == "/v1/traffic" else "POST"
    answer = client.request(method, path, content=GOOD, headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/lists/" + "0" * 32, 404),
        ("/v1/lists/..%2f..%2fetc", 404),
        ("/v1/lists/%00", 404),
        ("/v1/lists?limit=0", 422),
        ("/v1/lists?before=x", 422),
        ("/v1/stats/series?step=1", 422),
        ("/v1/models/0", 422),
        ("/v1/models/99", 404),
        ("/page/../app.py", 404),
        ("/page/..%2fapp.py", 404),
        ("/nowhere", 404),
    ],
)
def test_bad_addresses_are_refused_as_json(client, path, status):
    answer = client.get(path)
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"code", "message", "field"}


def test_a_wrong_method_is_refused_as_json(client):
    answer = client.delete("/v1/lists")
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "wrong_method")


@pytest.mark.parametrize("content", [b"", b"no model", b"PK\x03\x04" + b"\x00" * 100])
def test_a_file_that_is_no_model_is_refused_without_a_path(client, content):
    headers = {"Content-Type": "application/octet-stream"}
    answer = client.post("/v1/models", content=content, headers=headers)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "body")
    assert "/" not in answer.json()["error"]["message"]
    assert len(client.get("/v1/models").json()["models"]) == 1


def test_a_body_that_is_too_large_is_refused(limited_client, asked):
    client = limited_client(body_bytes=1000)
    answer = client.post("/v1/lists", json=asked(50))
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")

    def pieces():
        for _ in range(100):
            yield b" " * 100

    assert client.post("/v1/lists", content=pieces(), headers=JSON).status_code == 413


def test_bodies_at_once_have_bounded_room_and_models_more(opened, asked, other_file):
    client = opened(limits=Limits(in_flight_bytes=1000))
    answer = client.post("/v1/lists:batch", json={"lists": [asked(50)] * 3})
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "busy")
    assert client.post("/v1/lists", json=asked(3)).status_code == 200
    octets = {"Content-Type": "application/octet-stream"}
    assert client.post("/v1/models", content=other_file.read_bytes(), headers=octets).status_code == 201


@pytest.mark.parametrize(
    ("limits", "path", "count", "field"),
    [
        ({"items": 3}, "/v1/lists", 4, "items"),
        ({"length": 2}, "/v1/lists", 3, "length"),
        ({"batch": 2}, "/v1/lists:batch", 3, "lists"),
    ],
)
def test_limits_hold(limited_client, asked, limits, path, count, field):
    body = {"lists": [asked()] * count} if path.endswith("batch") else asked(count)
    answer = limited_client(**limits).post(path, json=body)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)


def test_errors_inside_tell_nothing(client, asked, monkeypatch):
    monkeypatch.setattr(client.service.registry, "choose", lambda list_id: 1 / 0)
    answer = client.post("/v1/lists", json=asked())
    assert answer.status_code == 500
    assert json.loads(answer.text) == {
        "error": {
            "code": "internal",
            "message": "Internal error. The log of the service has the details.",
            "field": None,
        }
    }
    assert client.get("/healthz").status_code == 200


def test_answers_do_not_name_the_software(client):
    answer = client.get("/healthz")
    assert "x-powered-by" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
