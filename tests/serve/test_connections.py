"""Connections that never ask, headers that never end, and what a stranger's page may not do."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack, suppress

import pytest

from listwright.serve import Limits

PATIENCE = 1_800.0  # seconds: a busy machine may take long


def connect(service):
    return socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE)


def ask(service, path="/healthz"):
    with connect(service) as one:
        one.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return everything(one)


def everything(one):
    data = b""
    while part := one.recv(65536):
        data += part
    return data


@pytest.fixture
def limited(opened):
    """`limited(connections=4)` starts a service with these limits."""
    return lambda **limits: opened(limits=Limits(**limits))


def test_headers_that_are_too_large_are_refused(limited):
    service = limited(header_bytes=2_000)
    assert ask(service).startswith(b"HTTP/1.1 200")
    with connect(service) as one:
        one.sendall(b"GET / HTTP/1.1\r\n" + b"X-A: " + b"a" * 5_000)  # and no end in sight
        answer = everything(one)
    assert answer.startswith(b"HTTP/1.1 431")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["field"] == "headers"
    assert ask(service).startswith(b"HTTP/1.1 200")


def test_headers_are_too_large_though_they_come_at_once_and_many_requests_at_once_are_not(limited):
    service = limited(header_bytes=2_000)
    with connect(service) as one:
        one.sendall(b"POST / HTTP/1.1\r\nX-A: " + b"a" * 5_000 + b"\r\nContent-Length: 2\r\n\r\n{}")
        assert everything(one).startswith(b"HTTP/1.1 431")
    with connect(service) as one:
        wanted = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        one.sendall(99 * wanted + wanted.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert everything(one).count(b"HTTP/1.1 200") == 100


def test_headers_that_never_come_end_the_connection(limited):
    service = limited(header_seconds=0.2)
    with connect(service) as silent, connect(service) as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
        assert everything(silent) == b""
        assert everything(slow) == b""
    object.__setattr__(service.service.limits, "header_seconds", PATIENCE)  # the client may be slow, too
    assert ask(service).startswith(b"HTTP/1.1 200")


def test_half_sent_headers_cannot_lock_others_out(limited):
    service = limited(connections=4)
    with ExitStack() as stack:
        idle = [stack.enter_context(connect(service)) for _ in range(20)]
        for one in idle[-3:]:
            one.sendall(b"GET / HTTP/1.1\r\n")
        assert ask(service).startswith(b"HTTP/1.1 200")
        assert everything(idle[0]) == b""  # the one that had waited longest


HALF = b"POST /v1/lists HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"


@pytest.mark.parametrize("limits", [{"in_flight": 2}, {"in_flight_bytes": 1_000}, {"connections": 4}])
def test_half_sent_bodies_cannot_lock_others_out(limited, limits):
    service = limited(**limits)
    with ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(connect(service)).sendall(HALF)
        ask(service)  # when this is answered, the others have been read
        assert ask(service, "/v1/stats").startswith(b"HTTP/1.1 200")


def test_bodies_that_never_come_are_given_up_and_uploads_have_more_time(limited, other_file):
    service, file = limited(seconds=0.2), other_file.read_bytes()
    head = f"POST /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len(file)}\r\n"
    with connect(service) as one, connect(service) as upload:
        upload.sendall(f"{head}Content-Type: application/octet-stream\r\n\r\n".encode() + file[:100])
        one.sendall(HALF)
        answer = everything(one)
        assert answer.startswith(b"HTTP/1.1 503")
        assert b'"code":"timeout"' in answer
        upload.sendall(file[100:])
        assert everything(upload).startswith(b"HTTP/1.1 201")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain", "Origin": "http://{host}"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://{host}", "Content-Type": "application/json"}, 409),
        ({}, 409),
    ],
)
def test_without_keys_pages_of_other_sites_can_change_nothing(client, headers, status):
    host = client.url.removeprefix("http://")
    sent = {name: value.format(host=host) for name, value in headers.items()}
    assert client.post("/v1/traffic:rollback", headers=sent).status_code == status


def test_head_has_the_headers_of_get_and_no_body(client):
    answer, asked = client.request("HEAD", "/healthz"), client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == asked.headers["content-length"]


def test_a_request_keeps_its_id_and_strange_ids_are_replaced(client):
    assert client.get("/healthz", headers={"X-Request-Id": "abc-1"}).headers["x-request-id"] == "abc-1"
    replaced = client.get("/healthz", headers={"X-Request-Id": "a b;" * 50}).headers["x-request-id"]
    assert len(replaced) == 16


@pytest.mark.parametrize("trailer", [b"X-A: b\r\n", b"X-A: " + b"a" * 1_000], ids=["many", "one without an end"])
def test_trailers_that_never_end_are_cut_off(limited, trailer):
    service = limited(header_bytes=2_000)
    head = b"POST /v1/feedback HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with connect(service) as endless:
        endless.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
        with suppress(OSError):
            for _ in range(1_000_000):  # until the other side has closed
                endless.sendall(trailer)
            pytest.fail("it took all of them")
    assert ask(service).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("extension", [b"", b";" + b"a" * 1_000], ids=["little", "much"])
def test_what_stands_around_the_chunks_of_a_body_is_limited(limited, extension):
    service, answer = limited(header_bytes=2_000), b""
    head = b"POST /v1/feedback HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    with connect(service) as one, suppress(OSError):
        one.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(1_000):
            one.sendall(b"1" + extension + b"\r\n[\r\n")
        one.sendall(b"0\r\n\r\n")
        answer = everything(one)
    assert answer[:12] == (b"" if extension else b"HTTP/1.1 422")
    assert ask(service).startswith(b"HTTP/1.1 200")


def test_trailers_are_not_headers(limited):
    service = limited()
    head = "POST /v1/feedback HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
    with connect(service) as one:
        one.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\nX-Request-Id: mine\r\n\r\n".encode())
        answer = everything(one)
    assert answer.startswith(b"HTTP/1.1 422")
    assert b"mine" not in answer


def test_answers_that_nobody_reads_are_given_up_and_pages_take_no_places_from_others(limited, monkeypatch):
    service = limited(in_flight=8, write_seconds=0.5)
    monkeypatch.setattr("listwright.serve.app.charts", lambda: bytes(8 << 20))  # larger than what the system buffers
    wanted = b"GET /page/charts.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(connect(service)).sendall(wanted)
        assert ask(service, "/v1/stats").startswith(b"HTTP/1.1 200")
        while not ask(service, "/page/app.js").startswith(b"HTTP/1.1 200"):  # until the others are cut off
            pass


@pytest.mark.parametrize("path", ["/healthz", "/v1/nothing", "/v1/traffic", "/v1/lists"])
@pytest.mark.parametrize("extension", [b"", b";a=b"])
def test_bodies_that_go_on_after_the_answer_are_cut_off(limited, path, extension):
    service = limited(header_bytes=2_000)
    head = (
        f"{'GET' if path == '/healthz' else 'POST'} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
    )
    with connect(service) as endless:
        endless.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        assert endless.recv(65536).startswith(b"HTTP/1.1 ")
        with suppress(OSError):
            for _ in range(1_000_000):  # until the other side has closed
                endless.sendall(100 * (b"1" + extension + b"\r\nx\r\n"))
            pytest.fail("it took all of them")
    assert ask(service).startswith(b"HTTP/1.1 200")
