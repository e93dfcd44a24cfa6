"""Context packing as a LlamaIndex node postprocessor; needs the package llama-index-core."""

from __future__ import annotations

from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from listwright.context import ContextPacker
from listwright.errors import InputError


class ListwrightPostprocessor(BaseNodePostprocessor):
    """LlamaIndex postprocessor that keeps the nodes which together cover a query within a token budget.

    Pass it in `node_postprocessors` of a query engine. Each node is weighed against those already kept, so near copies
    are dropped. Scores and embeddings are used where all nodes have them; titles come from the metadata (`title` or
    `file_name`); a node's source is the document it was split from.

    Parameters
    ----------
    packer : ContextPacker
        The model that selects; the packaged one by default.
    budget : float or None
        Tokens that the kept nodes may have in total; None for no limit.
    top_n : int, optional
        The most nodes to keep.
    per_source : int, optional
        The most nodes to keep from one document.

    See Also
    --------
    listwright.context.ContextPacker : The model behind it, with training.
    """

    packer: Any = Field(default_factory=ContextPacker, exclude=True)
    budget: float | None = 2000
    top_n: int | None = None
    per_source: int | None = None

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
        packed = self.packer.pack(
            query_bundle.query_str,
            [one.node.get_content(metadata_mode=MetadataMode.NONE) for one in nodes],
            budget=self.budget,
            length=self.top_n,
            titles=[one.node.metadata.get("title") or one.node.metadata.get("file_name") for one in nodes],
            sources=[one.node.ref_doc_id or one.node.node_id for one in nodes],
            scores=_all([one.score for one in nodes]),
            embeddings=_all([one.node.embedding for one in nodes]),
            query_embedding=query_bundle.embedding,
            per_source=self.per_source,
        )
        kept = zip(packed.positions, packed.scores, strict=True)
        return [NodeWithScore(node=nodes[position].node, score=score) for position, score in kept]


def _all(values: list[Any]) -> list[Any] | None:
    """Return the values if there are some and none is missing, else None."""
    return values if values and all(value is not None for value in values) else None
