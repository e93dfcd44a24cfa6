"""Context packing as a LlamaIndex node postprocessor; needs the package llama-index-core."""

from __future__ import annotations

from typing import Any

from llama_index.core.bridge.pydantic import ConfigDict, PrivateAttr, field_serializer, model_validator
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from pydantic import StrictBool

from listwright.context import ContextPacker
from listwright.context.passages import values_of_all
from listwright.errors import InputError
from listwright.integrations import keep_documents, make_packer, serialize_setting


class ListwrightPostprocessor(BaseNodePostprocessor):
    """LlamaIndex postprocessor that keeps the nodes which together cover a query within a token budget.

    Pass it in `node_postprocessors` of a query engine. Each node is compared with those already kept, so near copies
    are dropped. Scores and embeddings are used where all nodes have them; titles come from the metadata (`title`); a
    node's source is the document it was split from. The metadata of the kept nodes, which are copies, gain
    `listwright_score`, `listwright_probability`, `listwright_reason` and `retriever_score`; language models and
    embedders do not see these.

    Parameters
    ----------
    packer : str, Path or ContextPacker, optional
        A packer, or the file that `ContextPacker.save` wrote; the packaged model by default. Serialised, a packer takes
        its model along, and a file its name only.
    budget : float or None
        Tokens that the kept nodes may have in total; None for no limit.
    length, top_n, top_k : int, optional
        The most nodes to keep; the three mean the same.
    per_source : int, tuple, dict or list, optional
        The most nodes to keep from one document, or other quotas, as in `ContextPacker.pack`.
    stop : "auto", optional
        Keep no node that is hardly needed: see `ContextPacker.pack`.
    tokens, score_weight, style
        As in `ContextPacker`, unless a packer is given.
    embedder : BaseEmbedding, optional
        Embeds the query and the nodes where they have no embeddings; `apostprocess_nodes` awaits it.

    See Also
    --------
    listwright.context.ContextPacker : The model behind it, with training.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    packer: Any = None
    budget: StrictBool | float | None = 2000  # which keeps True, and `make_packer` refuses it: else it were 1
    length: StrictBool | int | None = None
    top_n: StrictBool | int | None = None
    top_k: StrictBool | int | None = None
    per_source: Any = None
    stop: str | None = None
    tokens: Any = "estimate"
    score_weight: StrictBool | float | None = None
    style: Any = "plain"
    embedder: Any = None
    _packer: ContextPacker = PrivateAttr()

    @model_validator(mode="before")
    @classmethod
    def _drop_class_name(cls, given: Any) -> Any:  # which is in all that LlamaIndex writes
        return {name: given[name] for name in given if name != "class_name"} if isinstance(given, dict) else given

    def model_post_init(self, context: Any) -> None:
        super().model_post_init(context)
        self._packer = make_packer(self, "get_query_embedding")

    @field_serializer("packer", "tokens", "embedder", "per_source")
    def _serialize(self, value: Any) -> Any:
        return serialize_setting(value)

    @classmethod
    def class_name(cls) -> str:
        return "ListwrightPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        query = _require_query(query_bundle)
        known, asked = values_of_all([entry.node.embedding for entry in nodes]), query.embedding
        if self.embedder is not None and nodes:
            known = known or self.embedder.get_text_embedding_batch(_texts(nodes))
            asked = asked or self.embedder.get_query_embedding(query.query_str)
        return self._keep(nodes, query, known, asked)

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        query = _require_query(query_bundle)
        known, asked = values_of_all([entry.node.embedding for entry in nodes]), query.embedding
        if self.embedder is not None and nodes:
            known = known or await self.embedder.aget_text_embedding_batch(_texts(nodes))
            asked = asked or await self.embedder.aget_query_embedding(query.query_str)
        return self._keep(nodes, query, known, asked)

    def _keep(self, nodes: list[NodeWithScore], query: QueryBundle, embeddings: Any, asked: Any) -> list[NodeWithScore]:
        texts = _texts(nodes)
        kept = keep_documents(
            self,
            query.query_str,
            texts,
            titles=[entry.node.metadata.get("title") for entry in nodes],
            sources=[entry.node.ref_doc_id or entry.node.node_id for entry in nodes],
            scores=[entry.score for entry in nodes],
            embeddings=embeddings,
            query_embedding=asked,
        )
        return [
            NodeWithScore(node=_with_metadata(nodes[place].node, texts[place], text, said), score=score)
            for place, text, score, said in kept
        ]


def _require_query(query: QueryBundle | None) -> QueryBundle:
    if query is None:
        raise InputError("ListwrightPostprocessor needs the query. Pass query_str or query_bundle.")
    return query


def _texts(nodes: list[NodeWithScore]) -> list[str]:
    return [entry.node.get_content(metadata_mode=MetadataMode.NONE) for entry in nodes]


def _with_metadata(node: Any, whole: str, text: str, said: dict[str, Any]) -> Any:
    copy = node.model_copy(update={"metadata": {**node.metadata, **said}})
    if text != whole:
        copy.set_content(text)
    copy.excluded_llm_metadata_keys = [*node.excluded_llm_metadata_keys, *said]
    copy.excluded_embed_metadata_keys = [*node.excluded_embed_metadata_keys, *said]
    return copy
