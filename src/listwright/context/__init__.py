"""Context packing for retrieval-augmented generation: choose passages for a language model within a token budget.

`ContextPacker` is the only entry point and `Packed` is its answer. The other modules are the steps of
`ContextPacker.pack`, in this order: read the passages (`passages`), count their tokens (`tokens`), check the limits
(`limits`), leave out copies (`copies`), compute features (`listwright.text.passages`), adjust for given scores and
embeddings (`signals`), find near copies (`copies`), walk with the learned policy (`walking`) and explain the picks
(`reasons`).
"""

from listwright.context.packed import Packed
from listwright.context.packer import ContextPacker

__all__ = ["ContextPacker", "Packed"]
