"""Context packing as a LlamaIndex node postprocessor; needs the package llama-index-core."""

from __future__ import annotations

from typing import Any

from llama_index.core.bridge.pydantic import ConfigDict, PrivateAttr, field_serializer
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from listwright.context import ContextPacker
from listwright.errors import InputError
from listwright.integrations import make_packer, pick_metadata, resolve_length, values_of_all


class ListwrightPostprocessor(BaseNodePostprocessor):
    """LlamaIndex postprocessor that keeps the nodes which together cover a query within a token budget.

    Pass it in `node_postprocessors` of a query engine. Each node is compared with those already kept, so near copies
    are dropped. Scores and embeddings are used where all nodes have them; titles come from the metadata (`title`); a
    node's source is the document it was split from. The metadata of the kept nodes, which are copies, gain
    `listwright_score`, `listwright_probability`, `listwright_reason` and `retriever_score`; language models and
    embedders do not see these.

    Parameters
    ----------
    packer : str or ContextPacker, optional
        A packer, or the file that `ContextPacker.save` wrote; the packaged model by default. Only a file, or none, can
        be serialised.
    budget : float or None
        Tokens that the kept nodes may have in total; None for no limit.
    length, top_n, top_k : int, optional
        The most nodes to keep; the three mean the same.
    per_source : int, optional
        The most nodes to keep from one document.
    stop : "auto", optional
        Keep no node that is hardly needed: see `ContextPacker.pack`.
    tokens, score_weight, style
        As in `ContextPacker`, unless a packer is given.

    See Also
    --------
    listwright.context.ContextPacker : The model behind it, with training.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    packer: Any = None
    budget: float | None = 2000
    length: int | None = None
    top_n: int | None = None
    top_k: int | None = None
    per_source: int | None = None
    stop: str | None = None
    tokens: Any = "estimate"
    score_weight: float | None = None
    style: Any = "plain"
    _packer: ContextPacker = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Check the limits and make the packer."""
        super().model_post_init(context)
        self._length()
        self._packer = make_packer(self.packer, self.tokens, self.score_weight, self.style)

    def _length(self) -> int | None:
        return resolve_length(self.budget, self.per_source, self.length, self.top_n, self.top_k)

    @field_serializer("packer", "tokens")
    def _serialize(self, value: Any) -> Any:
        """Return names of files and of counters as they are; objects cannot be serialised."""
        if value is None or isinstance(value, str):
            return value
        raise InputError(f"A {type(value).__name__} cannot be serialised. Name the packer's file, or tokens by a word.")

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex registers the class."""
        return "ListwrightPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        """Select nodes for a query, best first, with the packer's scores; raise `InputError` without a query."""
        if query_bundle is None:
            raise InputError("ListwrightPostprocessor needs the query. Pass query_str or query_bundle.")
        scores = values_of_all([entry.score for entry in nodes])
        packed = self._packer.pack(
            query_bundle.query_str,
            [entry.node.get_content(metadata_mode=MetadataMode.NONE) for entry in nodes],
            budget=self.budget,
            length=self._length(),
            titles=[entry.node.metadata.get("title") for entry in nodes],
            sources=[entry.node.ref_doc_id or entry.node.node_id for entry in nodes],
            scores=scores,
            embeddings=values_of_all([entry.node.embedding for entry in nodes]),
            query_embedding=query_bundle.embedding,
            per_source=self.per_source,
            stop=self.stop,
        )
        kept = zip(packed.positions, packed.scores, pick_metadata(packed, scores), strict=True)
        return [NodeWithScore(node=_with_metadata(nodes[place].node, said), score=score) for place, score, said in kept]


def _with_metadata(node: Any, said: dict[str, Any]) -> Any:
    copy = node.model_copy(update={"metadata": {**node.metadata, **said}})
    copy.excluded_llm_metadata_keys = [*node.excluded_llm_metadata_keys, *said]
    copy.excluded_embed_metadata_keys = [*node.excluded_embed_metadata_keys, *said]
    return copy
