"""Passages packed into the context of a language model, within a budget of tokens."""

from listwright.context.packed import Packed
from listwright.context.packer import ContextPacker

__all__ = ["ContextPacker", "Packed"]
