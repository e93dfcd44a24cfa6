"""Context packing for retrieval-augmented generation: choose passages for a language model within a token budget.

`ContextPacker` is the only entry point and `Packed` is its answer. `passages` reads and counts what is given, `model`
has the policy and weighs given scores beside it, `examples` reads labelled questions, and `fitting` learns from them.
"""

from listwright.context.packed import Packed
from listwright.context.packer import ContextPacker

__all__ = ["ContextPacker", "Packed"]
