"""The adapters, against the real packages."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest

from listwright.context import ContextPacker
from listwright.context.model import shipped_model
from listwright.errors import InputError

pytestmark = pytest.mark.system

QUESTION = "Where was the director of Alien born?"
TEXTS = [
    "Rain fell on the town.",
    "Ridley Scott was born in South Shields in 1937.",
    "Alien is a film of 1979, directed by Ridley Scott.",
    "Aliens is a film of 1986, directed by James Cameron.",
]

PACKER = ContextPacker(shipped_model(), tokens="words")


def falls(scores: list[float]) -> bool:
    return all(first > second for first, second in pairwise(scores))


@pytest.mark.filterwarnings("ignore")
def test_what_windows_share_is_kept_once() -> None:
    for name in ("langchain_core", "llama_index.core", "haystack"):
        pytest.importorskip(name)
    import haystack
    from langchain_core.documents import Document
    from llama_index.core.schema import NodeWithScore, TextNode

    from listwright.integrations.haystack import ListwrightRanker
    from listwright.integrations.langchain import ListwrightCompressor
    from listwright.integrations.llama_index import ListwrightPostprocessor

    words = [f"word{i}" for i in range(300)]
    texts = [" ".join(words[start : start + 100]) for start in range(0, 250, 50)]
    documents = [Document(page_content=text) for text in texts]
    compressed = ListwrightCompressor(tokens="words").compress_documents(documents, "What about word7?")
    nodes = [NodeWithScore(node=TextNode(text=text), score=1.0) for text in texts]
    processed = ListwrightPostprocessor(tokens="words").postprocess_nodes(nodes, query_str="What about word7?")
    plain = [haystack.Document(content=text) for text in texts]
    ranked = ListwrightRanker(tokens="words").run("What about word7?", plain)["documents"]
    for kept in (
        [document.page_content for document in compressed],
        [entry.node.get_content() for entry in processed],
        [document.content for document in ranked],
    ):
        assert sorted(" ".join(kept).split()) == sorted(words)
    assert [entry.node.get_content() for entry in nodes] == texts


@pytest.mark.filterwarnings("ignore")
def test_langchain() -> None:
    core = pytest.importorskip("langchain_core")
    assert core
    from langchain_core.documents import Document
    from langchain_core.embeddings import DeterministicFakeEmbedding

    from listwright.integrations.langchain import ListwrightCompressor

    documents = [Document(page_content=text, metadata={"source": "a" if i else "b"}) for i, text in enumerate(TEXTS)]
    kept = ListwrightCompressor(budget=41).compress_documents(documents, QUESTION)
    assert {document.page_content for document in kept} == set(TEXTS[1:3])
    assert falls([document.metadata["listwright_score"] for document in kept])
    assert all(document.metadata["listwright_reason"] for document in kept)
    assert "listwright_score" not in documents[1].metadata
    for name in ("length", "top_k", "top_n"):
        assert len(ListwrightCompressor(**{name: 1}).compress_documents(documents, QUESTION)) == 1
    assert ListwrightCompressor.model_validate_json(ListwrightCompressor(top_n=2).model_dump_json()).top_n == 2
    stored = ListwrightCompressor(packer=PACKER, top_n=2).model_dump_json()
    assert len(ListwrightCompressor.model_validate_json(stored).compress_documents(documents, QUESTION)) == 2
    wrong_ones: list[dict[str, Any]] = [{"top": 3}, {"budget": -5}, {"top_k": 1, "top_n": 2}, {"stop": "now"}]
    for wrong in [*wrong_ones, {"packer": "missing.listwright"}, {"tokens": "bytes"}, {"style": "bold"}]:
        with pytest.raises(ValueError, match="|".join(wrong)):
            ListwrightCompressor(**wrong)
    for name in ("length", "top_k", "top_n", "budget", "score_weight"):
        with pytest.raises(ValueError, match="Got True"):
            ListwrightCompressor(**{name: True})
    one_each = ListwrightCompressor(per_source=1).compress_documents(documents, QUESTION)
    assert {document.metadata["source"] for document in one_each} == {"a", "b"}
    nested = [document.model_copy(deep=True) for document in documents]
    for document in nested:
        document.metadata["source"] = ["site", document.metadata["source"]]
    for most in (1, 2):
        limited = ListwrightCompressor.model_validate_json(ListwrightCompressor(per_source=[most, 1]).model_dump_json())
        assert len(limited.compress_documents(nested, QUESTION)) == most
    ranged = ListwrightCompressor.model_validate_json(ListwrightCompressor(per_source=(1, 1)).model_dump_json())
    assert len(ranged.compress_documents(documents, QUESTION)) == 2
    unscored = [Document(page_content=text, metadata={"score": float("nan"), "title": None}) for text in TEXTS]
    assert "retriever_score" not in ListwrightCompressor().compress_documents(unscored, QUESTION)[0].metadata
    embedded = ListwrightCompressor(embedder=DeterministicFakeEmbedding(size=8))
    assert len(embedded.compress_documents(documents, QUESTION)) == 4
    assert embedded.compress_documents([], QUESTION) == []
    assert len(asyncio.run(embedded.acompress_documents(documents, QUESTION))) == 4
    with pytest.raises(ValueError, match="after reading"):
        embedded.model_dump_json()


@pytest.mark.filterwarnings("ignore")
def test_llama_index() -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core.embeddings import MockEmbedding
    from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode

    from listwright.integrations.llama_index import ListwrightPostprocessor

    nodes = [
        NodeWithScore(node=TextNode(text=text, embedding=[1.0, i]), score=0.5 - i / 10) for i, text in enumerate(TEXTS)
    ]
    kept = ListwrightPostprocessor(budget=41).postprocess_nodes(nodes, query_str=QUESTION)
    assert {one.node.get_content() for one in kept} == set(TEXTS[1:3])
    assert falls([one.score for one in kept])
    bundle = QueryBundle(QUESTION, embedding=[1.0, 2.0])
    assert len(ListwrightPostprocessor(top_n=3).postprocess_nodes(nodes, bundle)) == 3
    assert ListwrightPostprocessor().postprocess_nodes([], bundle) == []
    assert kept[0].node.metadata["retriever_score"] in (0.3, 0.4)
    assert kept[0].node.metadata["listwright_reason"]
    assert "listwright_reason" not in kept[0].node.get_content(metadata_mode=MetadataMode.LLM)
    again = ListwrightPostprocessor.from_dict(ListwrightPostprocessor(packer=PACKER, top_k=2).to_dict())
    assert len(again.postprocess_nodes(nodes, query_str=QUESTION)) == again.top_k == 2
    stored = ListwrightPostprocessor(packer=PACKER, top_n=3)
    for read in (
        ListwrightPostprocessor.model_validate_json(stored.model_dump_json()),
        ListwrightPostprocessor.model_validate(stored.model_dump()),
        ListwrightPostprocessor(**stored.model_dump()),
        ListwrightPostprocessor.model_validate(stored),
    ):
        assert read.model_dump() == stored.model_dump()
        assert len(read.postprocess_nodes(nodes, query_str=QUESTION)) == 3
    bare = [NodeWithScore(node=TextNode(text=text)) for text in TEXTS]
    embedding = ListwrightPostprocessor(embedder=MockEmbedding(3), top_n=2)
    assert len(embedding.postprocess_nodes(bare, query_str=QUESTION)) == 2
    assert len(asyncio.run(embedding.apostprocess_nodes(bare, query_str=QUESTION))) == 2
    with pytest.raises(ValueError, match="budget"):
        ListwrightPostprocessor(budget=-5)
    with pytest.raises(ValueError, match="top"):
        ListwrightPostprocessor(top=3)
    with pytest.raises(ValueError, match="Got True"):
        ListwrightPostprocessor(top_n=True)
    with pytest.raises(ValueError, match="embedder must have a method get_query_embedding"):
        ListwrightPostprocessor(embedder=5)
    with pytest.raises(InputError, match="needs the query"):
        ListwrightPostprocessor().postprocess_nodes(nodes)


@pytest.mark.filterwarnings("ignore")
def test_haystack() -> None:
    pytest.importorskip("haystack")
    from haystack import Document, Pipeline, component

    from listwright.integrations.haystack import ListwrightRanker

    @component
    class Embedder:
        @component.output_types(embedding=list[float])
        def run(self, text: str) -> dict[str, Any]:
            return {"embedding": [0.0, 1.0]}

        @component.output_types(embedding=list[float])
        async def run_async(self, text: str) -> dict[str, Any]:
            return {"embedding": [0.0, 1.0]}

    @component
    class WithoutAsync:
        @component.output_types(embedding=list[float])
        def run(self, text: str) -> dict[str, Any]:
            return {"embedding": [0.0, 1.0]}

    documents = [Document(content=text, score=0.5, meta={"source": "s"}) for text in TEXTS]
    kept = ListwrightRanker(budget=41).run(QUESTION, documents)["documents"]
    assert {document.content for document in kept} == set(TEXTS[1:3])
    assert falls([document.score for document in kept])
    assert documents[1].score == 0.5
    assert kept[0].meta["retriever_score"] == 0.5
    assert kept[0].meta["listwright_reason"]
    assert len(ListwrightRanker(top_k=3).run(QUESTION, documents, top_k=1)["documents"]) == 1
    pipeline = Pipeline()
    pipeline.add_component("pack", ListwrightRanker(PACKER, budget=60, per_source=1, tokens="words"))
    again = Pipeline.from_dict(pipeline.to_dict(), allowed_modules=["listwright.integrations.haystack"])
    found = again.run({"pack": {"query": QUESTION, "documents": documents}})["pack"]["documents"]
    assert len(found) == 1
    embedded = [Document(content="word " * (i + 1), embedding=[1.0, float(i)]) for i in range(3)]
    ranker = ListwrightRanker(embedder=Embedder(), top_n=1)
    plain = ListwrightRanker(embedder=WithoutAsync(), top_n=1)
    waiting = [one.run_async("", embedded) for one in (ranker, plain)]
    for answer in (ranker.run("", embedded), *map(asyncio.run, waiting)):
        assert answer["documents"][0].embedding == [1.0, 2.0]


def test_the_base_package_pulls_none_of_them() -> None:
    names: list[Any] = ["langchain_core", "llama_index", "haystack"]
    program = f"import sys, listwright as lw; lw.ContextPacker; print([n for n in {names!r} if n in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
