"""Passages over HTTP: packed into a budget, or ranked in the form of a reranker."""

from __future__ import annotations

from urllib.request import Request, urlopen

import msgspec
import pytest

import listwright as lw
from listwright.errors import InputError
from listwright.serve import Limits

QUERY = "Where was the director of Alien born?"
PASSAGES = [
    "Rain fell on the town.",
    "Ridley Scott was born in South Shields in 1937.",
    "",
    "Alien is a film of 1979, directed by Ridley Scott.",
    "Rain  fell on the town.",
]


@pytest.fixture(scope="module")
def shared(model_file, tmp_path_factory, running):
    lw.ContextPacker().pack(QUERY, PASSAGES).reasons  # noqa: B018 - compiled before anybody waits for an answer
    store = f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db"
    one = running(model=model_file, store=store, limits=Limits(items=50, seconds=120.0))
    yield one
    one.stop()


def test_a_context_is_what_the_packer_builds(shared):
    told = shared.post("/v1/pack", json={"query": QUERY, "passages": PASSAGES, "budget": 41}).json()
    packed = lw.ContextPacker().pack(QUERY, PASSAGES, budget=41)
    assert [one["index"] for one in told["passages"]] == packed.positions
    assert sorted(packed.positions) == [1, 3]
    assert [one["reason"] for one in told["passages"]] == packed.reasons
    assert (told["tokens"], told["text"]) == (packed.tokens, packed.text())


def test_a_service_with_a_packer_alone(tmp_path, running):
    lw.ContextPacker().save(tmp_path / "packer.listwright")
    one = running(
        store=f"sqlite:///{tmp_path}/store.db", packer=tmp_path / "packer.listwright", limits=Limits(seconds=120.0)
    )
    asked = {"query": QUERY, "passages": PASSAGES, "stop": "auto", "style": "numbered", "must_include": [0]}
    told = one.post("/v1/pack", json=asked).json()
    assert told["passages"][0]["index"] == 0
    assert told["text"].startswith("[1] ")
    assert all(0 <= picked["probability"] <= 1 for picked in told["passages"])
    one.stop()


def test_what_is_known_of_passages_is_used(shared):
    known = [{"text": text, "source": f"s{i % 2}", "tokens": 5} for i, text in enumerate(PASSAGES)]
    asked = {"query": QUERY, "passages": known, "budget": 10, "per_source": 1, "order": "document"}
    told = shared.post("/v1/pack", json=asked).json()
    sources = [known[one["index"]]["source"] for one in told["passages"]]
    assert told["tokens"] == 10
    assert sorted(sources) == ["s0", "s1"]
    picked = sorted(one["index"] for one in told["passages"])
    assert told["text"] == "\n\n".join(PASSAGES[i] for i in picked)


def test_a_reranker_s_client_gets_every_document_with_falling_scores(shared):
    documents = [PASSAGES[0], *({"text": text, "id": i} for i, text in enumerate(PASSAGES[1:]))]
    asked = {"model": "rerank-v3.5", "query": QUERY, "documents": documents, "max_tokens_per_doc": 4096}
    told = shared.post("/v1/rerank", json=asked).json()
    scores = [one["relevance_score"] for one in told["results"]]
    assert {one["index"] for one in told["results"][:2]} == {1, 3}
    assert sorted(one["index"] for one in told["results"]) == [0, 1, 2, 3, 4]
    assert scores == sorted(set(scores), reverse=True)
    assert 0 <= scores[-1] <= scores[0] <= 1
    assert told["model"] == "rerank-v3.5"
    assert "document" not in told["results"][0]
    assert shared.post("/v2/rerank", json=asked).json()["results"] == told["results"]


def test_a_reranker_s_client_can_ask_for_the_best_with_their_texts(shared):
    """As the official clients send it: over plain HTTP, with a key that is not looked at here."""
    body = {"query": QUERY, "documents": PASSAGES, "top_n": 2, "return_documents": True, "model": "m"}
    headers = {"Content-Type": "application/json", "Authorization": "Bearer key", "X-Client-Name": "c"}
    request = Request(f"{shared.url}/v1/rerank", msgspec.json.encode(body), headers)
    with urlopen(request) as answer:
        results = msgspec.json.decode(answer.read())["results"]
    assert [one["document"]["text"] for one in results] == [PASSAGES[one["index"]] for one in results]
    assert len(results) == 2


@pytest.mark.parametrize(
    ("path", "change", "field"),
    [
        ("pack", {"query": ""}, "query"),
        ("pack", {"query": 3}, "query"),
        ("pack", {"passages": []}, "passages"),
        ("pack", {"passages": [1]}, "passages.0"),
        ("pack", {"passages": ["a"] * 51}, "passages"),
        ("pack", {"passages": [{"text": "a", "tokens": -1}]}, "passages.0.tokens"),
        ("pack", {"passages": [{"text": "a", "unknown": 1}]}, "passages.0.unknown"),
        ("pack", {"budget": 0}, "budget"),
        ("pack", {"per_source": 1}, "passages"),
        ("pack", {"order": "best"}, "order"),
        ("pack", {"query_embedding": [1.0], "passages": [{"text": "a", "embedding": [1.0, 2.0]}]}, "passages"),
        ("rerank", {"documents": []}, "documents"),
        ("rerank", {"documents": [{"image": "x"}]}, "documents.0.text"),
        ("rerank", {"documents": ["a"] * 51}, "documents"),
        ("rerank", {"top_n": 0}, "top_n"),
    ],
)
def test_what_cannot_be_used_is_named(shared, path, change, field):
    whole = {"query": QUERY, "passages" if path == "pack" else "documents": PASSAGES} | change
    answer = shared.post(f"/v1/{path}", json=whole)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)


def test_documents_without_any_text_are_ranked_as_they_come(shared):
    told = shared.post("/v1/rerank", json={"query": QUERY, "documents": ["", " "]}).json()
    assert [one["index"] for one in told["results"]] == [0, 1]


def test_a_packer_of_one_s_own_is_served(opened, tmp_path, model_file):
    lw.ContextPacker().save(tmp_path / "packer.listwright")
    client = opened(packer=tmp_path / "packer.listwright")
    asked = {"query": QUERY, "passages": PASSAGES, "length": 2}
    assert [one["index"] for one in client.post("/v1/pack", json=asked).json()["passages"]] == lw.ContextPacker().pack(
        QUERY, PASSAGES, length=2
    ).positions
    with pytest.raises(InputError, match="not a model of ContextPacker"):
        opened(packer=model_file)


def test_the_packer_is_compiled_before_the_service_is_ready(opened, monkeypatch):
    asked, pack = [], lw.ContextPacker.pack

    def noted(self, query, passages, **options):
        asked.append(query)
        return pack(self, query, passages, **options)

    monkeypatch.setattr(lw.ContextPacker, "pack", noted)
    opened()
    assert len(asked) == 1
