"""Passages over HTTP: packed into a budget, or ranked in the form of a reranker."""

from __future__ import annotations

import json
from typing import Any
from urllib.request import Request, urlopen

import httpx
import msgspec
import pytest

import listwright as lw
from listwright.cli import main
from listwright.errors import InputError
from listwright.serve import Limits
from listwright.serve.export import export_passages
from listwright.serve.store.journal import Old, forget

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


@pytest.mark.parametrize("name", ["packer.listwright", "pretrained"])
def test_a_service_with_a_packer_alone(tmp_path, running, name):
    lw.ContextPacker().save(tmp_path / "packer.listwright")
    one = running(store=f"sqlite:///{tmp_path}/store.db", packer=tmp_path / name, limits=Limits(seconds=120.0))
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
    for i, passage in enumerate(known):
        passage["source"] = ["site", i % 2]
    for quotas, count in (([2, 1], 2), ([2, 2], 2), ([9, {"1": 0}], 1), (1, 2), ([[1, 1], {}], 1)):
        told = shared.post("/v1/pack", json=asked | {"budget": None, "per_source": quotas}).json()
        assert len(told["passages"]) == count
    priced = [{"text": text, "uses": {"price": 1.0}} for text in PASSAGES]
    told = shared.post("/v1/pack", json={"query": QUERY, "passages": priced, "budgets": {"price": 2.0}}).json()
    assert len(told["passages"]) == 2
    wrong = {"query": QUERY, "passages": PASSAGES, "budgets": {"price": 2.0}}
    assert shared.post("/v1/pack", json=wrong).json()["error"]["field"] == "passages.0.uses.price"


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


@pytest.mark.system
def test_cohere_s_client_gets_the_ranking(shared):
    cohere = pytest.importorskip("cohere")
    with httpx.Client(verify=False) as connection:
        client = cohere.ClientV2(api_key="not looked at here", base_url=shared.url, httpx_client=connection)
        told = client.rerank(model="rerank-v3.5", query=QUERY, documents=PASSAGES, top_n=2)
        with pytest.raises(cohere.UnprocessableEntityError, match="top_n"):
            client.rerank(model="rerank-v3.5", query=QUERY, documents=PASSAGES, top_n=0)
    plain = shared.post("/v1/rerank", json={"query": QUERY, "documents": PASSAGES, "top_n": 2}).json()["results"]
    assert [(one.index, one.relevance_score) for one in told.results] == [
        (one["index"], one["relevance_score"]) for one in plain
    ]
    assert {one.index for one in told.results} == {1, 3}


@pytest.mark.parametrize(
    ("path", "change", "field"),
    [
        ("pack", {"query": 3}, "query"),
        ("pack", {"passages": []}, "passages"),
        ("pack", {"passages": [1]}, "passages.0"),
        ("pack", {"passages": ["a"] * 51}, "passages"),
        ("pack", {"passages": [{"text": "a", "tokens": -1}]}, "passages.0.tokens"),
        ("pack", {"passages": [{"text": "a", "unknown": 1}]}, "passages.0.unknown"),
        ("pack", {"budget": 0}, "budget"),
        ("pack", {"per_source": 1}, "passages"),
        ("pack", {"per_source": [1], "passages": [{"text": "a", "source": ["a", "b"]}]}, "passages"),
        ("pack", {"per_source": [1, None], "passages": [{"text": "a", "source": ["a", "b"]}]}, "passages"),
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


def test_an_empty_query_has_the_order_of_the_scores(shared):
    scored = [{"text": text, "score": score} for text, score in zip(PASSAGES, (1.0, 2.0, 4.0, 3.0, 0.0), strict=True)]
    told = shared.post("/v1/pack", json={"query": "", "passages": scored}).json()
    assert [one["index"] for one in told["passages"]] == [3, 1, 0]
    for version in ("v1", "v2"):
        told = shared.post(f"/{version}/rerank", json={"query": "", "documents": PASSAGES}).json()
        assert [one["index"] for one in told["results"]] == [0, 1, 3, 2, 4]


def test_a_packer_of_one_s_own_is_served(opened, tmp_path, model_file):
    lw.ContextPacker().save(tmp_path / "packer.listwright")
    client = opened(packer=tmp_path / "packer.listwright")
    asked = {"query": QUERY, "passages": PASSAGES, "length": 2}
    assert [one["index"] for one in client.post("/v1/pack", json=asked).json()["passages"]] == lw.ContextPacker().pack(
        QUERY, PASSAGES, length=2
    ).positions
    with pytest.raises(InputError, match="not a model of ContextPacker"):
        opened(packer=model_file, store=f"sqlite:///{tmp_path}/new.db")
    assert not (tmp_path / "new.db").exists()  # nothing was opened that would have to be closed


def test_the_packer_is_compiled_before_the_service_is_ready(opened, monkeypatch):
    asked, pack = [], lw.ContextPacker.pack

    def noted(self, query, passages, **options):
        asked.append(query)
        return pack(self, query, passages, **options)

    monkeypatch.setattr(lw.ContextPacker, "pack", noted)
    opened()
    assert set(asked) == {"Who wrote it?"}


def ship(i: int) -> dict[str, Any]:
    """A question whose answer is where no word of it is."""
    passages = [{"text": f"Ship {i} sailed with Bo.", "score": 0.3}, {"text": "A red flag.", "score": 0.1}]
    return {"query": f"Who led ship {i}?", "passages": [*passages, {"text": f"Rain {i}.", "score": 0.2}], "length": 2}


def test_feedback_on_passages_is_what_a_packer_learns_from(opened, store, tmp_path):
    client = opened(store=store)
    with pytest.raises(InputError, match="no feedback on passages yet"):
        export_passages(store, tmp_path / "passages.jsonl")
    answers = [client.post("/v1/pack", json=ship(i)).json() for i in range(3)]
    ranked = client.post("/v1/rerank", json={"query": QUERY, "documents": PASSAGES, "top_n": 2}).json()
    first = answers[0]["passages"][0]["index"]
    told = client.post("/v1/feedback", json={"list_id": answers[0]["list_id"], "clicks": [first]}).json()
    assert (told["event"], told["duplicate"]) == (1, False)
    again = client.post("/v1/feedback", json={"list_id": answers[0]["list_id"], "clicks": [first]}).json()
    assert (again["event"], again["duplicate"]) == (1, True)
    later = {"list_id": answers[0]["list_id"], "gains": [0, 1], "idempotency_key": "later"}
    assert client.post("/v1/feedback", json=later).status_code == 200
    assert client.post("/v1/feedback", json={"list_id": ranked["id"], "clicks": [3]}).status_code == 200
    wrong = client.post("/v1/feedback", json={"list_id": answers[1]["list_id"], "clicks": [9]})
    assert (wrong.status_code, wrong.json()["error"]["field"]) == (422, "clicks.0")
    assert client.get("/v1/stats").json()["lists"] == 0
    assert export_passages(store, tmp_path / "passages.jsonl") == 2
    records = [json.loads(line) for line in (tmp_path / "passages.jsonl").read_text().splitlines()]
    shown = [picked["index"] for picked in answers[0]["passages"]]
    assert (records[0]["id"], records[0]["shown"], records[0]["cited"]) == (answers[0]["list_id"], shown, shown)
    assert records[0]["passages"] == ship(0)["passages"]
    assert (records[1]["query"], records[1]["cited"]) == (QUERY, [3])
    packer = lw.ContextPacker().fit(tmp_path / "passages.jsonl", cited="cited", shown="shown")
    assert len(packer.learned_) == 2


def test_the_commands_that_learn_from_what_was_shown(opened, tmp_path, capsys):
    client = opened()
    told = client.post("/v1/pack", json=ship(0)).json()
    client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": [told["passages"][1]["index"]]})
    exported, packer = str(tmp_path / "passages.jsonl"), str(tmp_path / "packer.listwright")
    for arguments in (
        ["export", f"{tmp_path}/store.db", "--passages", "-o", exported],
        ["pack", exported, "--train", "--cited", "cited", "--shown", "shown", "-o", packer],
    ):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 0
    assert "Wrote 1 questions" in capsys.readouterr().out
    assert lw.ContextPacker.load(packer).pack("Who?", ["One."]).positions == [0]


def test_feedback_on_passages_is_found_by_a_replica_and_forgotten_with_them(opened, store, tmp_path):
    first, second = opened(store=store), opened(store=store)
    told = first.post("/v1/pack", json=ship(0)).json()
    sent = {"list_id": told["list_id"], "clicks": []}
    assert second.post("/v1/feedback", json=sent).status_code == 200
    with first.service.database.writing.begin() as connection:
        assert forget(connection, [Old(1e6, None, True), Old(-1e6, None, True)]) == [0, 1]
    assert second.post("/v1/feedback", json=sent | {"idempotency_key": "other"}).status_code == 404
    with pytest.raises(InputError, match="no feedback on passages yet"):
        export_passages(store, tmp_path / "passages.jsonl")


def test_passages_can_be_left_unstored(opened):
    client = opened(forget_passages=True)
    told = client.post("/v1/pack", json=ship(0)).json()
    assert client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": []}).status_code == 404


def test_what_scores_weigh_is_estimated_over_the_questions(opened):
    client = opened()
    weights = client.service.packing.weights
    for i in range(20):
        assert weights.estimate() is None
        client.post("/v1/pack", json=ship(i))
    weight = weights.estimate()
    last, asked = client.post("/v1/pack", json=ship(20)).json(), ship(20)
    weight = weights.estimate()
    expected = lw.ContextPacker(score_weight=weight).pack(asked["query"], asked["passages"], length=2)
    assert [picked["score"] for picked in last["passages"]] == expected.scores
    fixed = client.post("/v1/pack", json=asked | {"score_weight": 50.0}).json()
    assert [picked["index"] for picked in fixed["passages"]] == [0, 2]


def test_tokens_are_counted_as_the_service_is_told(opened):
    pytest.importorskip("tiktoken")
    numbered = {"query": QUERY, "passages": PASSAGES, "style": "numbered", "budget": 30}
    client = opened(tokens="words")
    told = client.post("/v1/pack", json=numbered).json()
    packed = lw.ContextPacker(tokens="words", style="numbered").pack(QUERY, PASSAGES, budget=30)
    assert (told["tokens"], told["text"]) == (packed.tokens, packed.text())
    with pytest.raises(InputError, match="tokens must be"):
        opened(tokens="letters")


@pytest.mark.system
def test_the_present_client_of_cohere_ranks(shared):
    cohere = pytest.importorskip("cohere")
    with httpx.Client() as connections:
        client = cohere.ClientV2(api_key="key", base_url=shared.url, httpx_client=connections)
        told = client.rerank(model="rerank-v3.5", query=QUERY, documents=PASSAGES, top_n=2)
    assert {result.index for result in told.results} == {1, 3}
    assert 1 >= told.results[0].relevance_score > told.results[1].relevance_score >= 0
    sent = {"list_id": told.id, "clicks": [told.results[0].index]}
    assert shared.post("/v1/feedback", json=sent).status_code == 200


@pytest.mark.system
def test_the_form_of_jina_s_reranker(shared):
    """As Jina's documentation and LangChain's `JinaRerank` send it."""
    body = {
        "model": "jina-reranker-v2-base-multilingual",
        "query": QUERY,
        "documents": [{"text": text} for text in PASSAGES],
        "top_n": 3,
        "return_documents": True,
    }
    told = shared.post("/v1/rerank", json=body, headers={"Authorization": "Bearer key"}).json()
    assert told["model"] == body["model"]
    assert [sorted(result) for result in told["results"]] == [["document", "index", "relevance_score"]] * 3
    assert told["results"][0]["document"]["text"] == PASSAGES[told["results"][0]["index"]]


@pytest.mark.parametrize(("path", "field"), [("/v1/rerank", "documents"), ("/v1/pack", "passages")])
def test_passages_that_would_take_too_much_are_refused_beforehand(opened, path, field):
    client = opened()
    body = {"query": "Who wrote it?", field: ["Ada wrote it. " * 200, "The sea is wide."]}
    assert client.post(path, json=body).status_code == 200
    packing = client.service.packing
    kept, packing.cost.step = packing.cost.step, 1e6  # as if it were slow
    answers = [client.post(path, json=body)]
    packing.cost.step = kept
    vars(packing.limits)["memory_bytes"] = 1_000
    answers.append(client.post(path, json=body))
    assert [(answer.status_code, answer.json()["error"]["code"]) for answer in answers] == [(413, "too_large")] * 2
    messages = [answer.json()["error"]["message"] for answer in answers]
    assert f"Send fewer or shorter {field}." in messages[0]
    assert " MB, and a request may take 0 MB." in messages[1]
