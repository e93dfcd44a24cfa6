"""The text of the API, and that pages come from the service alone."""

from __future__ import annotations

import re

import pytest

OUTSIDE = re.compile(r"""(?:src|href)\s*=\s*["']?\s*(?:https?:)?//""")
INLINE = re.compile(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", re.IGNORECASE)


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_load_nothing_from_elsewhere_and_nothing_inline(client, path):
    answer = client.get(path)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert not OUTSIDE.search(answer.text)
    assert not INLINE.search(answer.text)
    for name in re.findall(r'(?:src|href)="(page/[^"]+)"', answer.text):
        assert client.get(f"/{name}").status_code == 200


def test_charts_are_there(client):
    assert "vegaEmbed" in client.get("/page/charts.js").text


def test_the_openapi_text_knows_bodies_and_keys(client):
    told = client.get("/openapi.json").json()
    body = told["paths"]["/v1/lists"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body == {"$ref": "#/components/schemas/ListRequest"}
    assert set(told["components"]["schemas"]["Item"]["required"]) == {"id", "features"}
    assert "security" in told["paths"]["/v1/stats"]["get"]
    assert "security" not in told["paths"]["/healthz"]["get"]
