"""Context packing for retrieval-augmented generation: choose passages for a language model within a token budget."""

from listwright.context.packed import Packed
from listwright.context.packer import ContextPacker

__all__ = ["ContextPacker", "Packed"]
