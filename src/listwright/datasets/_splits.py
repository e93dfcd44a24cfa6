"""What the loaders return: problems, with the split or the links that go with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from listwright._arrays import Ints
from listwright._ragged import pieces
from listwright.problems import Problems

Links: TypeAlias = "Mapping[str, sparse.csr_array[Any, tuple[int, int]]]"


class TrainTest(NamedTuple):
    """Problems by the source's own split: `train, test = read_...(path)`."""

    train: Problems
    test: Problems


@dataclass(frozen=True, eq=False)
class Linked:
    """Problems and, by name, how strongly their candidates are linked.

    A link table is a CSR matrix, rows x rows, with entries between candidates of one problem only and an empty
    diagonal. A selection, `linked[5:]` or `linked[mask]`, takes problems and tables along.
    """

    problems: Problems
    links: Links

    def __len__(self) -> int:
        return len(self.problems)

    def __getitem__(self, key: slice | ArrayLike) -> Self:
        index = key if isinstance(key, slice) else np.asarray(key)
        which = np.atleast_1d(np.arange(len(self))[index])
        rows = pieces(self.problems.offsets, which)
        links = {name: table[rows][:, rows] for name, table in self.links.items()}
        return replace(self, problems=self.problems[which], links=links, **self._also(which))

    def _also(self, which: Ints) -> dict[str, Any]:
        """What a subclass keeps for each problem."""
        own = [field.name for field in fields(self) if field.name not in ("problems", "links")]
        return {name: getattr(self, name)[which] for name in own}
