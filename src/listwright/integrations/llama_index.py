"""A node postprocessor for LlamaIndex."""

from __future__ import annotations

from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from listwright.context import ContextPacker
from listwright.errors import InputError


class ListwrightPostprocessor(BaseNodePostprocessor):
    """Keeps the nodes that together hold what an answer needs, within a budget of tokens.

    Scores and embeddings are taken from the nodes, and the query's embedding from the query, where all have them;
    titles from the metadata (`title` or `file_name`); the source of a node is the document that it is from.

    Parameters
    ----------
    packer : ContextPacker
        What chooses; the shipped model by default.
    budget : float or None
        Tokens that the nodes may have together.
    top_n, per_source : int, optional
        Nodes that may be kept, in all and from one document.
    """

    packer: Any = Field(default_factory=ContextPacker, exclude=True)
    budget: float | None = 2000
    top_n: int | None = None
    per_source: int | None = None

    @classmethod
    def class_name(cls) -> str:
        """The name that LlamaIndex knows the class by."""
        return "ListwrightPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
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
    return values if values and all(value is not None for value in values) else None
